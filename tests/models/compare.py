"""Strict comparison of what two runs of one program produced.

Values are compared bit for bit, and with them everything a program could ask of them: exact types, dtypes, strides,
`requires_grad`, presence of `grad_fn`, the order of dicts, Python attributes, gradients, and which objects and which
tensor storages are one. Both sides are walked in lockstep, so an alias found on one side must be found on the other.
"""
from __future__ import annotations

import collections
import enum
import struct
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

Difference = str

# Values without a state of their own, compared by exact type and value; identity says nothing about them.
ATOMS = frozenset({int, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, torch.dtype, torch.device,
                   torch.layout, torch.memory_format, types.CodeType})  # fmt: skip
# Objects that both runs must have met, not made: compared by identity.
SHARED = (types.ModuleType, types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
          types.MemberDescriptorType, enum.Enum, torch._ops.OpOverload, torch._ops.OpOverloadPacket)  # fmt: skip
TENSOR_FACTS: dict[str, Callable[[torch.Tensor], Any]] = {
    "dtype": lambda tensor: tensor.dtype,
    "device": lambda tensor: tensor.device,
    "layout": lambda tensor: tensor.layout,
    "shape": lambda tensor: tuple(tensor.shape),
    "requires_grad": lambda tensor: tensor.requires_grad,
    "has grad_fn": lambda tensor: tensor.grad_fn is not None,
    "is_leaf": lambda tensor: tensor.is_leaf,
    "is_conj": lambda tensor: tensor.is_conj(),
    "is_neg": lambda tensor: tensor.is_neg(),
    "quantisation": lambda tensor: tensor.is_quantized and quantisation(tensor),
    "is_inference": lambda tensor: tensor.is_inference(),
}
PLACE_FACTS: dict[str, Callable[[torch.Tensor], Any]] = {
    "strides": lambda tensor: tensor.stride(),
    "storage offset": lambda tensor: tensor.storage_offset(),
}


def quantisation(tensor: torch.Tensor) -> tuple[Any, ...]:
    """The scheme, and its numbers where they are the same for the whole tensor."""
    scheme = tensor.qscheme()
    whole = scheme in {torch.per_tensor_affine, torch.per_tensor_symmetric}
    return (scheme, tensor.q_scale(), tensor.q_zero_point()) if whole else (scheme,)


def tensor_bits(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of the elements of `tensor`, in order; of a quantised one, of its integers."""
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


class Bijection:
    """Says whether two keys, one of each side, were always met together; the path of the first meeting names them."""

    def __init__(self) -> None:
        self.left: dict[Any, tuple[Any, str]] = {}
        self.right: dict[Any, tuple[Any, str]] = {}

    def meet(self, left: Any, right: Any, path: str) -> tuple[str | None, str | None] | None:
        """None for a first meeting, else the paths at which `left` and `right` were met before."""
        known_left, known_right = self.left.get(left), self.right.get(right)
        if known_left is None and known_right is None:
            self.left[left], self.right[right] = (right, path), (left, path)
            return None
        return (known_left and known_left[1], known_right and known_right[1])

    def agree(self, left: Any, right: Any) -> bool:
        return left in self.left and self.left[left][0] == right


class Comparison:
    """One lockstep walk. `differences` gathers a line for each thing that is not the same.

    `place=False` leaves out strides, storage offsets and aliasing of tensors, for backends that may choose them.
    """

    def __init__(self, place: bool = True) -> None:
        self.place = place
        self.differences: list[Difference] = []
        self.objects, self.storages = Bijection(), Bijection()
        self.alive: list[Any] = []  # whatever was made for the walk: its identity must not be used twice

    def report(self, path: str, what: str, left: Any, right: Any) -> None:
        self.differences.append(f"{path}: {what}: expected {left!r}, got {right!r}")

    def compare(self, left: Any, right: Any, path: str) -> None:
        """Walks `left` (expected) and `right` (actual), both reached by `path`."""
        if not same_class(type(left), type(right)):
            self.report(path, "type", type(left), type(right))
        elif type(left) in ATOMS:
            self.atom(left, right, path)
        elif type(left) in (float, complex):
            self.number(left, right, path)
        elif isinstance(left, type):
            self.known(same_class(left, right), left, right, path)
        elif isinstance(left, SHARED):
            self.known(left is right, left, right, path)
        elif not self.seen(left, right, path):
            self.compound(left, right, path)

    def known(self, same: bool, left: Any, right: Any, path: str) -> None:
        if not same:
            self.report(path, "object", left, right)

    def atom(self, left: Any, right: Any, path: str) -> None:
        if left != right:
            self.report(path, "value", left, right)

    def number(self, left: float | complex, right: float | complex, path: str) -> None:
        parts = [(complex(number).real, complex(number).imag) for number in (left, right)]
        if struct.pack("dd", *parts[0]) != struct.pack("dd", *parts[1]):
            self.report(path, "value", left, right)

    def seen(self, left: Any, right: Any, path: str) -> bool:
        """Whether the two objects were met before; reports where only one was, or not as this pair."""
        before = self.objects.meet(id(left), id(right), path)
        self.alive += (left, right)
        if before is not None and not self.objects.agree(id(left), id(right)):
            self.report(path, "identity", *(f"the object at {place}" if place else "a new object" for place in before))
        return before is not None

    def compound(self, left: Any, right: Any, path: str) -> None:
        """Every part of the pair that its type has, and then its attributes and slots."""
        walks = [walk for kind, walk in PARTS if isinstance(left, kind)]
        for walk in walks:
            walk(self, left, right, path)
        if left is right and isinstance(left, (types.FunctionType, torch.nn.Module)):
            return
        slots = slot_names(type(left))
        if not walks and left is not right and has_hidden_state(type(left), len(slots)):
            self.opaque(left, right, path)
        if not isinstance(left, torch.nn.Module):
            self.mapping(instance_dict(left), instance_dict(right), path, "{}.{}")
        self.slots(slots, left, right, path)

    def opaque(self, left: Any, right: Any, path: str) -> None:
        """An object of a type written in C: what it would pickle to is its state."""
        try:
            states = [side.__reduce_ex__(4) for side in (left, right)]
        except TypeError:
            return self.report(path, "object of a type that cannot be compared", left, right)
        self.compare(states[0], states[1], f"{path}.__reduce_ex__(4)")

    def slots(self, names: list[str], left: Any, right: Any, path: str) -> None:
        for name in names:
            present = [hasattr(side, name) for side in (left, right)]
            if present[0] != present[1]:
                self.report(f"{path}.{name}", "slot is set", *present)
            elif present[0]:
                self.compare(getattr(left, name), getattr(right, name), f"{path}.{name}")

    def mapping(self, left: dict, right: dict, path: str, form: str = "{}[{!r}]") -> None:
        base = collections.OrderedDict if isinstance(left, collections.OrderedDict) else dict
        keys = [list(base.keys(side)) for side in (left, right)]
        if len(keys[0]) != len(keys[1]):
            return self.report(path, "keys", *keys)
        for index, pair in enumerate(zip(*keys)):
            before = len(self.differences)
            self.compare(*pair, f"{path}: key {index}")
            if len(self.differences) > before:
                return
            step = form.format(path, pair[0])
            self.compare(dict.__getitem__(left, pair[0]), dict.__getitem__(right, pair[1]), step)

    def factory(self, left: collections.defaultdict, right: collections.defaultdict, path: str) -> None:
        self.compare(left.default_factory, right.default_factory, f"{path}.default_factory")

    def sequence(self, left: Any, right: Any, path: str) -> None:
        items = [list(base_iter(side)) for side in (left, right)]
        if len(items[0]) != len(items[1]):
            return self.report(path, "length", len(items[0]), len(items[1]))
        for index, pair in enumerate(zip(*items)):
            self.compare(*pair, f"{path}[{index}]")

    def unordered(self, left: Any, right: Any, path: str) -> None:
        base = set if isinstance(left, set) else frozenset
        items = [sorted(base.__iter__(side), key=lambda item: (type(item).__name__, repr(item))) for side in (left, right)]
        if len(items[0]) != len(items[1]):
            return self.report(path, "members", left, right)
        for index, pair in enumerate(zip(*items)):
            self.compare(*pair, f"{path}: member {index}")

    def slice(self, left: slice, right: slice, path: str) -> None:
        for name in ("start", "stop", "step"):
            self.compare(getattr(left, name), getattr(right, name), f"{path}.{name}")

    def payload(self, left: Any, right: Any, path: str) -> None:
        """The value below an instance of a subclass of int, float, str or bytes."""
        for base in (int, float, complex, str, bytes):
            if isinstance(left, base):
                self.compare(PLAIN[base](left), PLAIN[base](right), path)

    def error(self, left: BaseException, right: BaseException, path: str) -> None:
        self.compare(left.args, right.args, f"{path}.args")
        self.compare(left.__cause__, right.__cause__, f"{path}.__cause__")
        self.compare(left.__context__, right.__context__, f"{path}.__context__")
        self.compare(left.__suppress_context__, right.__suppress_context__, f"{path}.__suppress_context__")

    def cell(self, left: types.CellType, right: types.CellType, path: str) -> None:
        contents = [cell_contents(side) for side in (left, right)]
        self.compare(contents[0], contents[1], f"{path}.cell_contents")

    def function(self, left: types.FunctionType, right: types.FunctionType, path: str) -> None:
        if left is right:
            return
        for name in ("__name__", "__qualname__", "__module__", "__defaults__", "__kwdefaults__", "__closure__"):
            self.compare(getattr(left, name), getattr(right, name), f"{path}.{name}")
        if left.__code__ != right.__code__:
            self.report(path, "code", left.__code__, right.__code__)

    def method(self, left: types.MethodType, right: types.MethodType, path: str) -> None:
        self.compare(left.__self__, right.__self__, f"{path}.__self__")
        self.compare(left.__func__, right.__func__, f"{path}.__func__")

    def builtin(self, left: types.BuiltinFunctionType, right: types.BuiltinFunctionType, path: str) -> None:
        self.compare(left.__name__, right.__name__, f"{path}.__name__")
        self.compare(left.__self__, right.__self__, f"{path}.__self__")

    def generator(self, left: types.GeneratorType, right: types.GeneratorType, path: str) -> None:
        """What can be told without running it."""
        for name in ("__name__", "__qualname__"):
            self.compare(getattr(left, name), getattr(right, name), f"{path}.{name}")
        self.compare(left.gi_frame is None, right.gi_frame is None, f"{path} is finished")

    def reference(self, left: weakref.ref, right: weakref.ref, path: str) -> None:
        self.compare(left(), right(), f"{path}()")

    def module(self, left: torch.nn.Module, right: torch.nn.Module, path: str) -> None:
        """The `__dict__`; hooks without their keys, which are numbers that a global counter gave."""
        if vars(left) is vars(right):
            return
        plain = [{name: list(value.values()) if "hooks" in name and isinstance(value, dict) else value
                  for name, value in vars(side).items()} for side in (left, right)]  # fmt: skip
        self.mapping(plain[0], plain[1], path, "{}.{}")

    def tensor(self, left: torch.Tensor, right: torch.Tensor, path: str) -> None:
        before = len(self.differences)
        for name, fact in TENSOR_FACTS.items():
            if fact(left) != fact(right):
                self.report(path, name, fact(left), fact(right))
        if len(self.differences) > before:
            return
        if left.layout is torch.strided and self.place:
            self.storage(left, right, path)
        self.values(left, right, path)
        if left.is_leaf and left.requires_grad:
            self.compare(left.grad, right.grad, f"{path}.grad")

    def storage(self, left: torch.Tensor, right: torch.Tensor, path: str) -> None:
        for name, fact in PLACE_FACTS.items():
            if fact(left) != fact(right):
                self.report(path, name, fact(left), fact(right))
        owners = [tensor.untyped_storage() for tensor in (left, right)]
        self.alive += owners
        keys = [owner._cdata for owner in owners]
        before = self.storages.meet(*keys, path)
        if before is not None and not self.storages.agree(*keys):
            named = (f"the storage of {place}" if place else "a storage of its own" for place in before)
            self.report(path, "aliasing", *named)

    def values(self, left: torch.Tensor, right: torch.Tensor, path: str) -> None:
        if left.device.type == "meta":
            return
        if left.layout is not torch.strided:
            left, right = left.to_dense(), right.to_dense()
        bits = tensor_bits(left), tensor_bits(right)
        if torch.equal(*bits):
            return
        wrong = (bits[0] != bits[1]).view(-1, left.element_size()).any(dim=1)
        first = int(wrong.nonzero()[0])
        pair = [side.detach().reshape(-1)[first].item() for side in (left, right)]
        self.report(path, f"{int(wrong.sum())} of {left.numel()} elements, the first at {first}", *pair)


def same_class(left: type, right: type) -> bool:
    """Whether the classes are one, or were made by two runs of one class statement (or call of `type`) in a function."""
    if left is right:
        return True
    named = (left.__module__, left.__qualname__) == (right.__module__, right.__qualname__)
    made = named and not has_a_place(left) and len(left.__bases__) == len(right.__bases__)
    return made and all(map(same_class, left.__bases__, right.__bases__))


def has_a_place(kind: type) -> bool:
    """Whether the class is what its module has under its name: no run made it."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def base_iter(value: Any) -> Iterator[Any]:
    """The items of a sequence by its base type's own iteration, never by a subclass's."""
    base = next(base for base in type(value).__mro__ if base in SEQUENCES)
    return base.__iter__(value)


def instance_dict(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return {name: kept for name, kept in found.items() if name != LEFT_BY_COMPILERS} if LEFT_BY_COMPILERS in found else found


LEFT_BY_COMPILERS = "_dynamo_propagated_dynamic_indices"
"""what AOTAutograd writes to the tensors that a graph of symbolic sizes gives (README, "Where eager is not the truth")"""


def has_hidden_state(kind: type, slots: int) -> bool:
    """Whether instances have fields that neither `__dict__` nor slots explain: those of a type written in C."""
    pointers = slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ > object.__basicsize__ + pointers * struct.calcsize("P")


def slot_names(kind: type) -> list[str]:
    """The names of the slots that classes written in Python gave to instances of `kind`."""
    found = [name for base in kind.__mro__ for name, member in vars(base).items()
             if isinstance(member, types.MemberDescriptorType) and isinstance(base.__dict__.get("__slots__"), (str, tuple, list))]  # fmt: skip
    return list(dict.fromkeys(found))


def cell_contents(cell: types.CellType) -> tuple[Any, ...]:
    """The contents in a tuple of one, the empty tuple for an empty cell."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
SEQUENCES = (list, tuple, collections.deque, type({}.keys()), type({}.values()), type({}.items()))
PARTS: tuple[tuple[Any, Callable[..., None]], ...] = (
    (torch.Tensor, Comparison.tensor),
    (torch.nn.Module, Comparison.module),
    (dict, Comparison.mapping),
    (collections.defaultdict, Comparison.factory),
    (SEQUENCES, Comparison.sequence),
    ((set, frozenset), Comparison.unordered),
    (slice, Comparison.slice),
    ((int, float, complex, str, bytes), Comparison.payload),
    (BaseException, Comparison.error),
    (types.FunctionType, Comparison.function),
    (types.MethodType, Comparison.method),
    (types.BuiltinFunctionType, Comparison.builtin),
    (types.GeneratorType, Comparison.generator),
    (types.CellType, Comparison.cell),
    (weakref.ref, Comparison.reference),
)


def differences(expected: Any, actual: Any, *, place: bool = True, given: tuple[Any, Any] = ((), ())) -> list[Difference]:
    """What differs between `expected` and `actual`, a readable line each; empty if nothing does.

    `given` holds what the two runs were given (arguments, parameters): it is compared first, so that a result which is,
    or shares the storage of, something given on one side only is a difference. `place=False` leaves out strides,
    storage offsets and sharing of storages.
    """
    comparison = Comparison(place)
    comparison.compare(given[0], given[1], "given")
    comparison.compare(expected, actual, "result")
    return comparison.differences


def assert_same(expected: Any, actual: Any, *, place: bool = True, given: tuple[Any, Any] = ((), ())) -> None:
    """Raises AssertionError naming up to ten differences between `expected` and `actual` (see `differences`)."""
    found = differences(expected, actual, place=place, given=given)
    assert not found, "\n".join([f"{len(found)} differences", *found[:10]])
