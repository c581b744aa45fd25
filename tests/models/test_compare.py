"""The comparison that the model tests rest on must see every kind of difference, and see none where there is none."""
import collections
import enum
import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import pytest
import torch
from transformers.modeling_outputs import BaseModelOutput

from tests.models.compare import assert_same, differences


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Box:
    content: Any


class Slotted:
    __slots__ = ("content",)

    def __init__(self, content: Any = None) -> None:
        self.content = content


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Name(str):
    pass


def grid() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def transposed() -> torch.Tensor:
    return torch.arange(6.0).reshape(3, 2).t().copy_(grid())


def named(**attributes: Any) -> torch.Tensor:
    tensor = grid()
    vars(tensor).update(attributes)
    return tensor


def with_gradient(value: float) -> torch.Tensor:
    leaf = grid().requires_grad_()
    leaf.grad = torch.full_like(leaf, value)
    return leaf


def shared() -> list[torch.Tensor]:
    one = grid()
    return [one, one[0]]


def twice(value: Any) -> list[Any]:
    return [value, value]


def closure(value: Any) -> Callable[[], Any]:
    return lambda: value


def advanced(steps: int) -> Any:
    iterator = iter([1, 2, 3])
    for _ in range(steps):
        next(iterator)
    return iterator


def moved() -> collections.OrderedDict:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    return ordered


KEPT = []


def referred(value: Any) -> weakref.ref:
    KEPT.append(Box(value))
    return weakref.ref(KEPT[-1])


def quantised(scale: float, more: float = 0.0) -> torch.Tensor:
    return torch.quantize_per_tensor(grid() + more, scale, 10, torch.quint8)


def made() -> Any:
    return type("Made", (Box,), {})(1)


def emptied() -> Slotted:
    slotted = Slotted()
    del slotted.content
    return slotted


DIFFERENT: dict[str, tuple[Callable[[], Any], Callable[[], Any], str]] = {
    "value": (lambda: grid(), lambda: grid() + 1e-7, "elements"),
    "sign of zero": (lambda: torch.zeros(1), lambda: -torch.zeros(1), "elements"),
    "bits of nan": (lambda: torch.tensor([0x7FC00000], dtype=torch.int32).view(torch.float32),
                    lambda: torch.tensor([0x7FC00001], dtype=torch.int32).view(torch.float32), "elements"),
    "dtype": (lambda: grid(), lambda: grid().double(), "dtype"),
    "shape": (lambda: grid(), lambda: grid().reshape(3, 2), "shape"),
    "strides": (lambda: grid(), transposed, "strides"),
    "offset": (lambda: torch.zeros(3)[1:], lambda: torch.zeros(2), "storage offset"),
    "layout": (lambda: grid(), lambda: grid().to_sparse(), "layout"),
    "sparse value": (lambda: grid().to_sparse(), lambda: (2 * grid()).to_sparse(), "elements"),
    "device": (lambda: grid(), lambda: grid().to("meta"), "device"),
    "requires_grad": (lambda: grid(), lambda: grid().requires_grad_(), "requires_grad"),
    "grad_fn": (lambda: grid().requires_grad_() * 1, lambda: grid().requires_grad_(), "grad_fn"),
    "gradient": (lambda: with_gradient(1.0), lambda: with_gradient(2.0), ".grad"),
    "missing gradient": (lambda: with_gradient(1.0), lambda: grid().requires_grad_(), ".grad"),
    "parameter": (lambda: grid(), lambda: torch.nn.Parameter(grid(), requires_grad=False), "type"),
    "attribute": (lambda: named(tag=1), lambda: named(tag=2), ".tag"),
    "missing attribute": (lambda: named(tag=1), lambda: named(), "keys"),
    "storage not shared": (shared, lambda: [grid(), grid()[0]], "aliasing"),
    "storage shared": (lambda: [grid(), grid()[0].clone()], shared, "aliasing"),
    "one tensor, two tensors": (lambda: twice(grid()), lambda: [grid(), grid()], "identity"),
    "two tensors, one tensor": (lambda: [grid(), grid()], lambda: twice(grid()), "identity"),
    "tuple, list": (lambda: (1,), lambda: [1], "type"),
    "named tuple": (lambda: Pair(1, 2), lambda: (1, 2), "type"),
    "torch's named tuple": (lambda: grid().max(0), lambda: tuple(grid().max(0)), "type"),
    "size": (lambda: grid().shape, lambda: (2, 3), "type"),
    "length": (lambda: [1], lambda: [1, 2], "length"),
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}, "key 0"),
    "order of an ordered dict": (lambda: collections.OrderedDict(a=1, b=2), moved, "key 0"),
    "default factory": (lambda: collections.defaultdict(int), lambda: collections.defaultdict(list), "default_factory"),
    "model output's type": (lambda: BaseModelOutput(grid()), lambda: {"last_hidden_state": grid()}, "type"),
    "model output's storage": (lambda: BaseModelOutput(grid()), lambda: BaseModelOutput(2 * grid()), "last_hidden_state"),
    "int, bool": (lambda: 1, lambda: True, "type"),
    "int, float": (lambda: 1, lambda: 1.0, "type"),
    "zero": (lambda: 0.0, lambda: -0.0, "value"),
    "string subclass": (lambda: Name("a"), lambda: "a", "type"),
    "string subclass's value": (lambda: Name("a"), lambda: Name("b"), "value"),
    "enum": (lambda: Colour.RED, lambda: Colour.BLUE, "object"),
    "set": (lambda: {1, 2}, lambda: {1, 3}, "member"),
    "dataclass": (lambda: Box(1), lambda: Box(2), ".content"),
    "slot": (lambda: Slotted(1), lambda: Slotted(2), ".content"),
    "unset slot": (lambda: Slotted(1), emptied, "slot is set"),
    "exception's type": (lambda: ValueError("a"), lambda: TypeError("a"), "type"),
    "exception's arguments": (lambda: ValueError("a"), lambda: ValueError("b"), ".args"),
    "closure": (lambda: closure(1), lambda: closure(2), "cell_contents"),
    "function": (lambda: closure, lambda: twice, "__name__"),
    "class": (lambda: Box, lambda: Pair, "object"),
    "bound method": (lambda: Box(1).__repr__, lambda: Box(2).__repr__, "__self__"),
    "bound builtin": (lambda: [1].append, lambda: [2].append, "__self__"),
    "position of an iterator": (lambda: advanced(1), lambda: advanced(2), "__reduce_ex__"),
    "partial": (lambda: functools.partial(closure, 1), lambda: functools.partial(closure, 2), "__reduce_ex__"),
    "array": (lambda: numpy.arange(3), lambda: numpy.array([0, 1, 3]), "__reduce_ex__"),
    "array's scalar": (lambda: numpy.float32(1), lambda: numpy.float32(2), "__reduce_ex__"),
    "weak reference": (lambda: referred(1), lambda: referred(2), "().content"),
    "quantised": (lambda: quantised(0.1), lambda: quantised(0.2), "quantisation"),
    "quantised value": (lambda: quantised(0.1), lambda: quantised(0.1, 1.0), "elements"),
    "deque": (lambda: collections.deque([1]), lambda: collections.deque([2]), "[0]"),
    "cannot be compared": (lambda: memoryview(b"a"), lambda: memoryview(b"a"), "cannot be compared"),
    "module's parameter": (lambda: torch.nn.Linear(2, 2), lambda: torch.nn.Linear(2, 2), "weight"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DIFFERENT)
def test_difference_is_seen(kind):
    expected, actual, word = DIFFERENT[kind]
    found = differences(expected(), actual())
    assert any(word in line for line in found), found


def module() -> torch.nn.Module:
    torch.manual_seed(0)
    linear = torch.nn.Linear(2, 2)
    linear.register_forward_hook(closure)
    return linear


SAME: dict[str, Callable[[], Any]] = {name: left for name, (left, *_) in DIFFERENT.items()
                                      if name not in {"cannot be compared", "module's parameter"}}  # fmt: skip
SAME |= {
    "nan": lambda: torch.tensor([float("nan")]),
    "empty": lambda: torch.empty(0, 3),
    "complex": lambda: torch.tensor([1 + 2j]).conj(),
    "bfloat16": lambda: grid().to(torch.bfloat16),
    "module": module,
    "local class": lambda: local_instance(),
    "class made by a call": made,
    "nested": lambda: {"a": [Box(grid()), {"b": (Slotted(shared()), {1.5})}]},
}


def local_instance() -> Any:
    class Local:
        pass

    return Local()


@pytest.mark.parametrize("kind", SAME)
def test_no_difference_is_seen(kind):
    assert differences(SAME[kind](), SAME[kind]()) == []


def test_cycles_end():
    def cycle() -> list:
        ring: list[Any] = [1]
        ring.append(ring)
        return ring

    assert differences(cycle(), cycle()) == []
    assert differences(cycle(), [1, cycle()])


def test_result_that_is_an_argument():
    left, right = grid(), grid()
    assert differences(left, right, given=([left], [right])) == []
    assert any("identity" in line for line in differences(left, right.clone(), given=([left], [right])))


def test_result_that_shares_storage_with_an_argument():
    left, right = grid(), grid()
    assert differences(left[0], right[0], given=([left], [right])) == []
    assert any("aliasing" in line for line in differences(left[0], right[0].clone(), given=([left], [right])))


def test_place_can_be_left_out():
    assert differences(grid(), transposed(), place=False) == []
    assert differences(grid(), grid() + 1, place=False)


def test_message_names_the_path():
    with pytest.raises(AssertionError, match=r"result\['a'\]\[1\]: value: expected 2, got 3"):
        assert_same({"a": [1, 2]}, {"a": [1, 3]})
