"""NumPy under capture gives what plain NumPy gives: values bit for bit, dtypes, shapes, strides, types, warnings, aliasing."""
from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import frameloom

pytestmark = pytest.mark.torch


def picture(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Everything that can be told about a result: NaN is one class, an object met again is named by where it was first."""
    seen = {} if seen is None else seen
    if isinstance(value, (np.ndarray, torch.Tensor, list, dict)):
        if id(value) in seen:
            return ("again", seen[id(value)])
        seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        base = value.base if isinstance(value.base, np.ndarray) else type(value.base)
        flags = (value.flags.owndata, value.flags.writeable, value.flags.c_contiguous, value.flags.f_contiguous)
        return (type(value), value.dtype, value.shape, value.strides, flags, bits(value), picture(base, seen))
    if isinstance(value, np.generic):
        return (type(value), bits(np.asarray(value)))
    if isinstance(value, torch.Tensor):
        return (type(value), value.dtype, tuple(value.shape), value.stride(), value.requires_grad, bits(value.detach().numpy()))
    if isinstance(value, (list, tuple)):
        return (type(value), [picture(item, seen) for item in value])
    if isinstance(value, dict):
        return (dict, [(key, picture(item, seen)) for key, item in value.items()])
    return (type(value), repr(value))


def bits(array: np.ndarray) -> bytes:
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).tobytes()


def outcome(function: Callable, arguments: tuple) -> tuple:
    """The picture of a result or an exception, of what became of the arguments, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*arguments)
        except Exception as error:  # noqa: BLE001  what it raises is the outcome
            found = (type(error), str(error))
    said = [(warning.category, str(warning.message)) for warning in caught if "frameloom" not in str(warning.category)]
    return picture((found, list(arguments))), said


def check(function: Callable, make: Callable[[], tuple], whole: bool = True, backend: str = "eager") -> None:
    """Compiled is what plain is, in two calls of one entry; `whole` asks for one graph."""
    compiled = frameloom.compile(function, backend=backend, fullgraph=whole)
    for _ in range(2):
        assert outcome(compiled, make()) == outcome(function, make())


@pytest.fixture(autouse=True)
def fresh_start():
    frameloom.reset()
    yield
    frameloom.reset()


def one() -> tuple:
    return (torch.arange(3.0) + 1,)


# -- scalars ----------------------------------------------------------------------------------------------------------

SCALARS: list[Callable] = [
    lambda x: x * np.sqrt(16),
    lambda x: (x * np.sqrt(x.shape[0]), np.sqrt(2.5)),
    lambda x: np.prod((2, 3, 4)) + x,
    lambda x: (np.float32(3) * x, x * np.int64(3), np.float64(2) < x, np.float64(2) - x),
    lambda x: x.to(torch.int64) + np.float64(2),
    lambda x: x + np.log(5) * 2,
    lambda x: x + float(np.log(5) * 2) + math.sqrt(np.float64(3)),
    lambda x: (x, 1 + np.int64(3), 2.0 * np.float64(3), np.float64(3) < 4, np.float32(0.1) + 1, -np.int8(3), abs(np.int8(-12))),
    lambda x: (x, isinstance(np.float64(1), float), int(np.int32(5)), bool(np.float64(0)), np.int64(7) // 2),
    lambda x: x if np.sqrt(4) > 1 else -x,
    lambda x: ({np.float64(3): 1}[3.0], x),
    lambda x: x + np.finfo(np.float32).min,
    lambda x: (x, np.dtype("float32") == np.float32, np.dtype("float32").name, np.dtype(np.int8).itemsize),
    lambda x: (x, torch.full((2,), np.float64(2)), torch.tensor(np.float64(2)), torch.tensor(np.int8(2))),
    lambda x: (torch.pow(x, np.float64(2)), x.clamp(np.float64(1.2), 2)),
]

BROKEN_SCALARS: list[Callable] = [
    lambda x: (x[: np.int64(2)], x[np.int64(1)]),
    lambda x: (abs(np.int8(-128)), x),
    lambda x: (np.float64(1) / 0, x),
    lambda x: (np.exp(1000), x),
    lambda x: (np.int8(100) + np.int8(100), x),
    lambda x: (np.sqrt(-1), x),
    lambda x: (torch.tensor([np.float64(2)]), x),
    lambda x: x * np.bool_(True),
    lambda x: (np.add("a", "b"), x),
    lambda x: (np.uint8(1) + 300, x),
    lambda x: (repr(np.float64(2)), str(np.float32(1)), x),
]


@pytest.mark.parametrize("program", SCALARS)
def test_scalars_are_constants(program: Callable) -> None:
    check(program, one)


@pytest.mark.parametrize("program", BROKEN_SCALARS)
def test_what_warns_or_is_no_number_is_left_to_numpy(program: Callable) -> None:
    check(program, one, whole=False)


@pytest.mark.parametrize("make", [np.float64, np.float32, np.int64, np.int8])
def test_scalar_argument_is_guarded_by_value(make: Callable) -> None:
    compiled = frameloom.compile(lambda x, s: (x * s, s * 2, s if s > 2 else 1), backend="eager", fullgraph=True)
    (x,) = one()
    for value in (3, 3, 3, 0, 0):
        scalar = make(value)
        assert picture(compiled(x, scalar)) == picture((x * scalar, scalar * 2, scalar if scalar > 2 else 1))
    assert frameloom.stats().graphs == 2
    negative = np.float64(-0.0)
    assert picture(compiled(x, negative)) == picture((x * negative, negative * 2, 1))


# -- arrays -----------------------------------------------------------------------------------------------------------

F8, F4, I8, I4, U1, B = (np.dtype(name) for name in ("f8", "f4", "i8", "i4", "u1", "?"))


def numbers(dtype: Any, *shape: int) -> np.ndarray:
    """Numbers that are all different as far as the dtype goes, negative ones and the extremes among them."""
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    found = ((np.arange(count) * 37 + 5) % 101 - 50).astype(dtype)
    if dtype.kind in "iu" and count > 2:
        found[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
    if dtype.kind == "f":
        found = found / 7
        found[count // 2 :] += np.float32(0.1)
    return np.array(found.astype(dtype).reshape(shape))


def layouts_of(array: np.ndarray) -> list[np.ndarray]:
    """The same array, its elements lying in other ways."""
    padded = np.zeros(tuple(2 * size + 1 for size in array.shape), array.dtype)
    every_other = padded[tuple(slice(1, None, 2) for _ in array.shape)]
    every_other[...] = array
    return [array.copy(), np.asfortranarray(array), every_other]


def in_place(a: np.ndarray) -> Any:
    a += 1
    a[..., :1] = 3
    return a


def through_a_view(a: np.ndarray) -> Any:
    b = a.T
    b[:1] = 5
    c = a[1:]
    c *= 2
    return a, b, c, b.sum() if a.dtype == np.int64 else None


def fresh_and_views(a: np.ndarray) -> Any:
    b = a * 2
    c = b[::2]
    c[...] = 1
    d = b.reshape(-1)
    d[0] = 9
    return b, c, d, b


def backwards(a: np.ndarray) -> Any:
    b = a.copy()
    c = b[::-1]
    before = c + 0
    b[0] = 42
    return c, before, c.copy(), c + 1


def overlapping(a: np.ndarray) -> Any:
    a[1:] = a[:-1]
    a[:-1] += a[1:]
    return a


def half_seen(a: np.ndarray) -> Any:
    b = a + 1
    return [row * 2 for row in b], len(b), b.shape, b.strides, b.ndim, b.size, b.dtype, b.nbytes, b.itemsize


ARRAYS: list[Callable[[np.ndarray], Any]] = [
    lambda a: a + a,
    lambda a: (a - 1, 1 - a, a * 2, a / 4, 3 / (a * a + 1)),
    lambda a: (a + np.float64(0.5), np.int8(2) * a, np.float32(0.5) - a),
    lambda a: (a < 3, a <= a.mean() if a.size < 0 else a <= 2, a == a, a != 0, 2 > a, 2 >= a, np.float64(1) < a),
    lambda a: (+a, np.square(a), np.logical_not(a), np.logical_and(a, a > 1), np.add(a, 1)),
    lambda a: (a.copy(), a.copy("F"), np.copy(a), a.flatten(), a.ravel(), copy.copy(a), copy.deepcopy(a)),
    lambda a: (a.T, a.transpose(), a[None], a[..., None], a[:], a[()], a[...], a.view(), np.transpose(a)),
    lambda a: (a.reshape(-1), a.reshape(-1, 1), np.reshape(a, (-1,)), a[:0], a[1:], a[-1:], a[::2], a[::-1]),
    lambda a: (a[None].squeeze(), np.squeeze(a[..., None]), a.reshape(1, -1).swapaxes(0, 1)),
    lambda a: (np.zeros_like(a), np.ones_like(a), np.full_like(a, 3), np.array(a), np.asarray(a), np.asarray(a) is a),
    lambda a: (a.astype(bool), a.astype(np.float64), a.astype(a.dtype)),
    lambda a: (np.where(a > 0, a, 0), np.where(a > 0, 1, a), np.where(a > 1, a, a + 1)),
    lambda a: (np.concatenate([a, a]), np.stack([a, a + 1]), np.concatenate((a, a), -1)),
    lambda a: (np.sort(a), np.sort(a, 0), a),
    lambda a: np.add(a, a, out=a),
    in_place, through_a_view, fresh_and_views, backwards, overlapping, half_seen,
    lambda a: a.sort(),
    lambda a: (a.fill(3), a)[1],
    lambda a: {"a": a, "again": a, "view": a[1:], "new": a + 1},
    lambda a: (np.maximum(a, 1), np.minimum(1, a), np.sqrt(a * a + 1), np.abs(a), -a),
    lambda a: (np.isnan(a), np.isfinite(a), np.signbit(a), np.floor(a), np.rint(a), np.trunc(a), np.ceil(a)),
    lambda a: (a & 3, a | 1, a ^ a, ~a),
    lambda a: (a.sum(), a.mean(0), np.exp(a), a @ a.T, a[a > 0], a.max(), a**2, a // 3, a % 3, np.linalg.norm(a)),
]


@pytest.mark.parametrize("dtype", [F8, F4, I8, I4, U1, B], ids=str)
@pytest.mark.parametrize("program", ARRAYS)
def test_arrays(program: Callable, dtype: np.dtype) -> None:
    for index in range(3):
        check(program, lambda: (layouts_of(numbers(dtype, 3, 4))[index],), whole=False)


CAPTURED_OF_ARRAYS = [0, 1, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 20]


@pytest.mark.parametrize("index", CAPTURED_OF_ARRAYS)
def test_arrays_do_not_break(index: int) -> None:
    check(ARRAYS[index], lambda: (numbers(I8, 3, 4),))
    assert not frameloom.stats().breaks


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 0, 3), (1, 4), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", [F8, I4, B], ids=str)
def test_shapes(dtype: np.dtype, shape: tuple) -> None:
    for program in ARRAYS:
        check(program, lambda: (numbers(dtype, *shape),), whole=False)


def specials(dtype: Any) -> np.ndarray:
    """Every pair of two lists of numbers meets where this array meets itself turned."""
    info = np.finfo(dtype)
    few = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, info.max, info.min, info.tiny, info.smallest_subnormal, info.eps, 0.1, 3.7]
    return np.array(few, dtype)


def of_two(ufunc: np.ufunc) -> Callable:
    return lambda a, b: ufunc(a, b)


def of_one(ufunc: np.ufunc) -> Callable:
    return lambda a: ufunc(a)


def all_ufuncs() -> list[np.ufunc]:
    return sorted({f for f in vars(np).values() if type(f) is np.ufunc and f.nout == 1 and f.signature is None}, key=lambda f: f.__name__)


@pytest.mark.parametrize("dtype", [F8, F4], ids=str)
def test_universal_functions_of_floats(dtype: np.dtype) -> None:
    """On every pair of numbers that are odd in some way, and on many plain ones, where a rounding would show; warnings included."""
    random = np.random.default_rng(0)
    plain = (random.standard_normal((2, 1003)) * 10.0 ** random.integers(-3, 4, (2, 1003))).astype(dtype)
    odd = specials(dtype)
    for ufunc in all_ufuncs():
        if ufunc.nin == 1:
            check(of_one(ufunc), lambda: (odd.copy(),), whole=False)
            check(of_one(ufunc), lambda: (plain.copy(),), whole=False)
        elif ufunc.nin == 2:
            check(of_two(ufunc), lambda: (odd[:, None].copy(), odd.copy()), whole=False)
            check(of_two(ufunc), lambda: (plain[0].copy(), plain[1, ::-1].copy()), whole=False)


@pytest.mark.parametrize("pair", [(I8, I8), (I4, I8), (U1, I4), (B, I8), (U1, U1), (B, B), (I8, F4), (F4, F8)], ids=str)
def test_universal_functions_of_two_dtypes(pair: tuple) -> None:
    for ufunc in all_ufuncs():
        if ufunc.nin == 2:
            check(of_two(ufunc), lambda: (numbers(pair[0], 4, 5), numbers(pair[1], 5)), whole=False)


NUMBERS = (3, -1, 2.5, True, 300, 1e300, float("nan"), np.int8(5), np.float32(0.1), np.float64(0.1))


@pytest.mark.parametrize("dtype", [F8, F4, I4, U1, B], ids=str)
def test_numbers_meet_arrays(dtype: np.dtype) -> None:
    for number in NUMBERS:
        check(lambda a: (a + number, number * a), lambda: (numbers(dtype, 5),), whole=False)
        check(lambda a: (a < number, number == a), lambda: (numbers(dtype, 5),), whole=False)

        def written(a):
            a[1:3] = number
            a[0] = number
            a += number
            return a

        check(written, lambda: (numbers(dtype, 5),), whole=False)


# -- warnings ---------------------------------------------------------------------------------------------------------


def divides(a: np.ndarray, b: np.ndarray) -> Any:
    return a / b, a - b


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_warnings_are_those_of_numpy(backend: str) -> None:
    compiled = frameloom.compile(divides, backend=backend, fullgraph=True)
    for a, b in (([1.0, 2], [4.0, 5]), ([1.0, 0], [0.0, 0]), ([np.inf, 1], [np.inf, 0]), ([np.nan, 1], [2.0, np.nan]), ([1e308], [1e-308])):
        given = lambda: (np.array(a), np.array(b))  # noqa: E731
        assert outcome(compiled, given()) == outcome(divides, given())
    assert frameloom.stats().graphs == 2  # for arrays of two elements and of one


def test_errors_of_floating_point_as_the_program_wants_them() -> None:
    compiled = frameloom.compile(divides, backend="eager")
    given = lambda: (np.array([1.0]), np.array([0.0]))  # noqa: E731
    for mode in ("warn", "raise", "ignore", "warn"):
        with np.errstate(all=mode):
            assert outcome(compiled, given()) == outcome(divides, given())


def written_and_warned(a: np.ndarray, x: torch.Tensor) -> Any:
    x.add_(1)
    a[0] = 7
    b = a / a
    return b, torch.rand(1).shape


def test_warnings_after_writes() -> None:
    make = lambda: (np.array([1.0, 0.0]), torch.ones(2))  # noqa: E731
    check(written_and_warned, make, whole=False)


# -- aliasing ---------------------------------------------------------------------------------------------------------


def writes_first(a: np.ndarray, b: np.ndarray) -> Any:
    a[0] = 5
    return b * 2, a is b


def test_arguments_over_one_memory() -> None:
    compiled = frameloom.compile(writes_first, backend="eager")

    def shared(offset: int) -> tuple:
        whole = np.arange(8)
        return whole[:4], whole[offset : offset + 4]

    for offset in (4, 0, 2, 4, 1):
        assert outcome(compiled, shared(offset)) == outcome(writes_first, shared(offset))
    one = np.arange(4)
    two = np.arange(4)
    assert outcome(compiled, (one, one)) == outcome(writes_first, (two, two))


def array_over_tensor(x: torch.Tensor, a: np.ndarray) -> Any:
    a[0] = 5
    return x * 2


def test_tensor_over_an_array() -> None:
    compiled = frameloom.compile(array_over_tensor, backend="eager")
    for share in (False, True, False):
        results = []
        for function in (compiled, array_over_tensor):
            a = np.arange(4.0)
            results.append(outcome(function, (torch.from_numpy(a if share else a.copy()), a)))
        assert results[0] == results[1]


def from_array(a: np.ndarray) -> Any:
    t = torch.from_numpy(a)
    t += 1
    a[0] = 100
    return t, a, t * 2, a * 2


def from_fresh(a: np.ndarray) -> Any:
    b = a * 2
    t = torch.from_numpy(b)
    t[0] = -1
    b[1] = 9
    return t, b, torch.as_tensor(b), torch.tensor(b)


def to_array(a: np.ndarray) -> Any:
    t = torch.tensor(a) * 2
    b = t.numpy()
    b[0] = 50
    t[1] = 60
    return t, b, b[1:], b * 2


INTEROP = [from_array, from_fresh, to_array, lambda a: torch.from_numpy(a) * 2, lambda a: (torch.from_numpy(a * 2), a),
           lambda a: (torch.tensor(a), torch.as_tensor(a), torch.asarray(a)), lambda a: torch.from_numpy(a)[1:].numpy()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", INTEROP)
def test_arrays_and_tensors(program: Callable, backend: str) -> None:
    check(program, lambda: (numbers(F8, 4),), whole=False, backend=backend)
    compiled = frameloom.compile(program, backend=backend)
    results = []
    for function in (compiled, program):  # what shares memory goes on sharing it
        a = numbers(I8, 4)
        found = function(a)
        a[2] = 77
        for item in found if isinstance(found, tuple) else (found,):
            item[0] = 33
        results.append(picture((found, a)))
    assert results[0] == results[1]


# -- what is guarded, and what is left to NumPy -------------------------------------------------------------------------


def test_guards_of_an_array() -> None:
    compiled = frameloom.compile(lambda a: a + 1, backend="eager")
    base = numbers(I8, 4, 4)
    for array in (base, base.T, base[:2], base[:2, ::2], base.astype("i4"), base.astype("f8"), base.astype(">i8"), base[::-1], base):
        assert picture(compiled(array)) == picture(array + 1)
    locked = base.copy()
    locked.flags.writeable = False
    assert picture(compiled(locked)) == picture(locked + 1)


class Tagged(np.ndarray):
    pass


@pytest.mark.parametrize("array", [
    np.arange(4).view(Tagged), np.array([1, "a", None], object), np.zeros(3, "f4,i4"), np.arange(3, dtype=">i4"), np.array(["a"]),
    np.ma.masked_array([1, 2], [True, False]), np.array([1 + 2j]), np.arange(3, dtype="f2"), np.array("2020", "M8[D]"),
    np.frombuffer(bytearray(b"\0" * 17), "i8", 2, 1), np.broadcast_to(np.arange(3), (2, 3)), np.arange(3, dtype="u2"),
], ids=lambda array: f"{type(array).__name__}-{array.dtype}")
def test_arrays_that_are_left_to_numpy(array: np.ndarray) -> None:
    def program(a, x):
        return a == a, a.shape, a.dtype, type(a), a.copy(), x + 1

    (x,) = one()
    compiled = frameloom.compile(program, backend="eager")
    for _ in range(2):
        assert repr(compiled(array, x)) == repr(program(array, x))


def made_inside(a: np.ndarray) -> Any:
    return (
        np.zeros(3), np.ones((2, 3), np.int8), np.full(2, 1.5), np.arange(5), np.arange(6)[::-1].copy(), np.arange(0.5, 2, 0.25),
        np.eye(3), np.array([1, 2.5]), np.array([[1], [2]]), np.asarray([True]), np.zeros((0, 3)),
        np.zeros((2, 3), order="F"), np.array([np.nan, -0.0, np.inf]), np.arange(3, dtype=np.float32), np.full((2, 2), np.nan),
    )


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_arrays_made_inside(backend: str) -> None:
    check(made_inside, lambda: (np.arange(2),), backend=backend)


@pytest.mark.parametrize("program", ARRAYS[:15] + ARRAYS[15:21])
def test_arrays_with_aot(program: Callable) -> None:
    check(program, lambda: (numbers(I8, 3, 4),), whole=False, backend="aot_eager")


# -- gradients --------------------------------------------------------------------------------------------------------


def test_array_of_a_tensor_asks_whether_it_requires_grad() -> None:
    compiled = frameloom.compile(lambda x: x.numpy() * 2, backend="eager")
    with torch.no_grad():
        for grad in (False, True, False):
            x = torch.ones(3).requires_grad_(grad)
            assert outcome(compiled, (x,)) == outcome(lambda x: x.numpy() * 2, (x,))


def writes_behind_autograd(x: torch.Tensor, w: torch.Tensor) -> Any:
    array = x.detach().numpy()
    y = (x * w).sum()
    array[0] = 5
    y.backward()
    return w.grad


def test_autograd_does_not_see_what_numpy_writes() -> None:
    make = lambda: (torch.ones(3), torch.ones(3, requires_grad=True))  # noqa: E731
    found = []
    for function in (frameloom.compile(writes_behind_autograd, backend="eager"), writes_behind_autograd):
        found.append(picture(function(*make())))
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", [F8, F4], ids=str)
def test_sort_of_odd_numbers(dtype: np.dtype) -> None:
    check(lambda a: (np.sort(a), a.sort(), a), lambda: (specials(dtype),))
    check(lambda a: (np.sort(a), a.sort(), a), lambda: (specials(dtype)[2:],))


# -- generated programs -----------------------------------------------------------------------------------------------

STEPS = [
    "{n} = {a}[1:]", "{n} = {a}[::2]", "{n} = {a}[::-1]", "{n} = {a}[:, :2]", "{n} = {a}[1]", "{n} = {a}[-1:, 1:2]", "{n} = {a}.T", "{n} = {a}[None]",
    "{n} = {a}.reshape(-1)", "{n} = {a}.reshape(1, -1)", "{n} = {a}.ravel()", "{n} = {a}.copy()", "{n} = {a}.view()", "{n} = {a}",
    "{n} = {a} + {b}", "{n} = {a} * 2", "{n} = {a} - {b}", "{n} = 1 - {a}", "{n} = {a} / 2", "{n} = -{a}", "{n} = {a} < {b}",
    "{n} = np.where({a} > 0, {a}, 0)", "{n} = np.sort({a})", "{n} = {a}.astype({d})", "{n} = np.concatenate([{a}, {a}])",
    "{n} = np.zeros_like({a})", "{n} = np.arange(6)", "{n} = np.full((2, 3), 7, {d})", "{n} = {a}.sum()", "{n} = torch.from_numpy({a}).numpy()",
    "{a} += 1", "{a} -= {b}", "{a} *= {a}", "{a}[...] = {b}", "{a}[1:] = 4", "{a}[:1] = {b}[1:]", "{a}[::-1] = {a}", "{a}.sort()",
    "{a}.fill(2)", "{a}[0] = {b}[0]", "{a}[1:] += {a}[:-1]", "{a}[{a} > 3] = 0", "t = torch.from_numpy({a}); t += 1",
    "t = torch.from_numpy({a})", "{n} = (torch.tensor({a}) * 2).numpy()", "if {a}.shape[0] > 2: {a} *= 2",
]


def generated(seed: int) -> Callable:
    """A function of two arrays that takes a dozen steps; a step that NumPy refuses is passed over, as a program may."""
    random = np.random.default_rng(seed)
    names = ["a", "b"]
    lines = ["def program(a, b):", "    t = None"]
    for number in range(random.integers(3, 14)):
        new = f"v{number}"
        chosen = [names[random.integers(len(names))] for _ in range(2)]
        dtype = ["np.int64", "np.float64", "np.int8", "np.float32", "bool"][random.integers(5)]
        step = STEPS[random.integers(len(STEPS))].format(n=new, a=chosen[0], b=chosen[1], d=dtype)
        lines += ["    try:", f"        {step}", "    except (ValueError, TypeError, IndexError):", f"        {new} = a"]
        if step.startswith(new):
            names.append(new)
    lines.append(f"    return [{', '.join(names)}, t]")
    scope: dict[str, Any] = {"np": np, "torch": torch}
    source = "\n".join(lines)
    exec(compile(source, f"<generated {seed}>", "exec"), scope)
    scope["program"].source = source
    return scope["program"]


def inputs_of(seed: int) -> Callable[[], tuple]:
    random = np.random.default_rng(seed)
    dtype, other = (np.dtype(["i8", "f8", "i1", "f4", "?"][random.integers(5)]) for _ in range(2))
    shape = [(3, 4), (2, 3), (4, 1), (5,)][random.integers(4)]
    alias, order = random.integers(5), random.integers(3)

    def make() -> tuple:
        a = layouts_of(numbers(dtype, *shape))[order]
        return a, a[::1] if alias == 0 else a if alias == 1 else numbers(other, *shape)

    return make


@pytest.mark.parametrize("seed", range(60))
def test_generated_programs(seed: int) -> None:
    check(generated(seed), inputs_of(seed), whole=False)
