"""Python operators that meet a tensor, or a whole number that follows from sizes."""

from __future__ import annotations

import operator
import types
from typing import Any, Callable

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from frameloom.pytorch import host_sizes, record, results, unbacked
from frameloom.pytorch.facts import ConditionFact, SizeFact, TensorFact
from frameloom.pytorch.numbers import host_number, in_graph
from frameloom.pytorch.sizes import lift_size
from frameloom.pytorch.state import State
from frameloom.interpreter.operators import BINARY, COMPARE, INPLACE
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.layouts import list_
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.payload import PayloadBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, FALSE, TRUE, Const, Node, Obj, Value, boolean

NUMBERS = frozenset({bool, int, float, complex})

ARITHMETIC: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}
IN_PLACE: dict[str, Callable] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
}
COMPARISONS: dict[str, Callable] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}
UNARY: dict[str, Callable] = {
    "unary -": operator.neg, "unary +": operator.pos, "unary ~": operator.invert, "unary abs": operator.abs,
}
READS: dict[str, tuple[str, str]] = {
    "index": ("FL204", "a tensor is used as an index"),
    "int": ("FL202", "int() of a tensor"),
    "float": ("FL202", "float() of a tensor"),
    "complex": ("FL202", "complex() of a tensor"),
}


def operate(state: State, name: str, operands: list[Value]) -> Any:
    """A Python operator with at least one graph node among its operands, or NOT_HANDLED."""
    found = _operate(state, name, operands)
    if state.shapes is not None:
        state.shapes.note_asked(state.session.where())
    return found


def _operate(state: State, name: str, operands: list[Value]) -> Any:
    if any(type(o) is Node and type(o.fact) is SizeFact for o in operands) and not _has_tensor(operands):
        return _on_sizes(state, name, operands)
    if name in IN_PLACE and not _has_tensor(operands[:1]):
        name = name.removesuffix("=")  # a number has no in-place operator: the tensor's reflected one makes a new tensor
    function = ELEMENTWISE.get(name)
    if function is not None:
        if not all(map(_is_numeric, operands)):
            return _with_foreign(state, name, operands)
        return record.apply(state, function, operands, {})
    special = SPECIAL.get(name)
    return NOT_HANDLED if special is None else special(state, operands)


ELEMENTWISE = {**ARITHMETIC, **IN_PLACE, **COMPARISONS, **UNARY}


def _has_tensor(operands: list[Value]) -> bool:
    return any(type(o) is Node and type(o.fact) is TensorFact for o in operands)


def _is_numeric(value: Value) -> bool:
    return type(value) is Node or type(value) is Const and type(value.value) in NUMBERS


def _with_foreign(state: State, name: str, operands: list[Value]) -> Any:
    """A tensor and an object that counts as a number, or compared with one that has no opinion: then unequal; else eager decides."""
    if _decides_first(state, name, operands[0]):
        return NOT_HANDLED
    plain = [NUMBER_IN.get(type(value.body), _itself)(state, value) if type(value) is Obj else value for value in operands]
    if all(map(_is_numeric, plain)):
        return record.apply(state, ELEMENTWISE[name], plain, {})
    if name in ("==", "!="):
        other = operands[1] if type(operands[0]) is Node else operands[0]
        if other.cls in OPINIONLESS:
            return boolean(name == "!=")
    raise GraphBreak("FL101", f"{name} of a tensor and an object of class {operands[-1].cls.__qualname__}")


def _decides_first(state: State, name: str, left: Value) -> bool:
    """Whether the left operand is an object whose class has the operator written in Python: that method is asked before the tensor's."""
    if type(left) is not Obj:
        return False
    found = state.session.observe.type_lookup(left.cls, METHODS[name])
    return found is not ABSENT and found.cls is not types.WrapperDescriptorType  # those are of classes in C


METHODS: dict[str, str] = {
    **{symbol: names[1] for symbol, names in BINARY.items()}, **INPLACE, **{symbol: names[1] for symbol, names in COMPARE.items()},
}
"""Operator -> the method of its left operand."""


def _itself(state: State, value: Value) -> Value:
    return value


NUMBER_IN: dict[type, Callable[[State, Value], Value]] = {}
"""Class of a body -> the number that an operator of a tensor finds in the object."""


def counts_as_number(body: type) -> Callable:
    """Decorator: the function gives the number that objects with such a body are to tensors."""

    def add(function: Callable) -> Callable:
        NUMBER_IN[body] = function
        return function

    return add


OPINIONLESS = frozenset({type(None), str, bytes, type(Ellipsis), torch.dtype, torch.device})


def _get_item(state: State, operands: list[Value]) -> Value:
    tensor, key = operands
    if type(number_of(state, key)) is torch.SymInt:  # an index would be guarded by its value
        return record.apply(state, torch.select, [tensor, Const(0), key], {})
    return record.apply(state, state.getitem, [tensor, _positions(state, tensor, key)], {})


def _positions(state: State, tensor: Node, key: Value) -> Value:
    """A list of as many bools as there are rows picks rows, and which ones is known."""
    if type(key) is not Obj or key.cls is not list:
        return key
    flags = list_.items(state.session, key.body)
    if not flags or tensor.fact.sizes[:1] != (len(flags),) or any(not _is_flag(flag) for flag in flags):
        return key
    picked = [Const(position) for position, flag in enumerate(flags) if flag.value]
    return state.session.alloc(list, ListBody(picked))


def _is_flag(value: Value) -> bool:
    return type(value) is Const and type(value.value) is bool


def _set_item(state: State, operands: list[Value]) -> Value:
    return record.apply(state, operator.setitem, operands, {})


def _length(state: State, operands: list[Value]) -> Value:
    (tensor,) = operands
    if not tensor.fact.sizes:
        raise state.session.machine.error(TypeError, "len() of a 0-d tensor")
    return results.size_of(state, tensor, 0)


def _iterate(state: State, operands: list[Value]) -> Any:
    """Rows, as `unbind` gives them: how many there are is guarded, since the loop is unrolled."""
    (tensor,) = operands
    if not tensor.fact.sizes:
        raise state.session.machine.error(TypeError, "iteration over a 0-d tensor")
    rows = record.apply(state, UNBIND, [tensor, Const(0)], {})
    from frameloom.interpreter.iteration import iterate

    return iterate(state.session.machine, rows)


UNBIND = torch._C.TensorBase.__dict__["unbind"]


def _reading(name: str) -> Callable:
    kind, what = READS[name]

    def read(state: State, operands: list[Value]) -> Value:
        found = number_in(state, operands[0]) if name in ("int", "index") else None
        if found is None:
            raise GraphBreak(kind, what)
        return found

    return read


def number_in(state: State, tensor: Value) -> Value | None:
    """The whole number in a tensor of one element; None where it is none, or the settings do not ask for it."""
    if not (state.scalars and is_whole(tensor) and all(size == 1 for size in tensor.fact.sizes)):
        return None
    return record.apply(state, ITEM, [tensor], {})


ITEM = torch._C.TensorBase.__dict__["item"]


def is_whole(value: Value) -> bool:
    """Whether a value is a tensor of whole numbers."""
    if type(value) is not Node or type(value.fact) is not TensorFact:
        return False
    dtype = value.fact.dtype
    return not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)


@counts_as_number(PayloadBody)
def _number_of_payload(state: State, value: Value) -> Value:
    """An object of a class below int, float or complex is that number to a tensor, whatever its class has of its own."""
    if not issubclass(value.cls, (int, float, complex)):
        return value
    overridden = state.session.observe.type_lookup(value.cls, "__torch_function__") is not ABSENT
    return value if overridden else value.body.value


SPECIAL: dict[str, Callable] = {
    "[]": _get_item,
    "[]=": _set_item,
    "len": _length,
    "iter": _iterate,
    **{name: _reading(name) for name in READS},
}


# -- whole numbers that follow from sizes -----------------------------------------------------------------------------


def number_of(state: State, value: Value) -> Any:
    """The number that torch computes with: an int, or a symbolic one; NOT_HANDLED for what is neither."""
    if type(value) is Const and type(value.value) in (int, bool):
        return value.value
    if type(value) is Node and type(value.fact) is SizeFact:
        return value.fact.size.number
    if type(value) is Node and value.tape == "host":
        found = host_number(state, value)
        return NOT_HANDLED if found is None else found.size.number
    return NOT_HANDLED


def _all_known(numbers: list) -> bool:
    return not any(number is NOT_HANDLED for number in numbers)


def _on_sizes(state: State, name: str, operands: list[Value]) -> Any:
    if name in ("index", "int"):
        return operands[0]
    if name == "settle":
        return settle(operands[0])
    numbers = [number_of(state, value) for value in operands]
    plain = name.removesuffix("=") if name in IN_PLACE else name
    function = SIZE_ARITHMETIC.get(plain)
    if function is not None and _all_known(numbers) and not (plain in DIVISIONS and _is_zero(numbers[1])):
        return _computed(state, function, operands, function(*numbers))
    comparison = COMPARISONS.get(name)
    if comparison is not None and _all_known(numbers):
        return _compared(state, comparison, operands, comparison(*numbers))
    if comparison is not None and any(value.cls in OPINIONLESS for value in operands) and name in ("==", "!="):
        return boolean(name == "!=")
    return _on_constants(state, name, operands)


SIZE_ARITHMETIC: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "unary -": operator.neg, "unary +": operator.pos, "unary abs": operator.abs,
}


DIVISIONS = frozenset({"//", "%"})


def _is_zero(divisor: Any) -> bool:
    """Whether a number is 0 in this call, which is guarded; one that follows from data is taken not to be."""
    try:
        return bool(divisor == 0)
    except GuardOnDataDependentSymNode:
        return False


def _compared(state: State, function: Callable, operands: list[Value], answer: Any) -> Value:
    """What a comparison of sizes comes out as, guarded; where that follows from data, a node that only `torch._check` can use."""
    try:
        return boolean(bool(answer))
    except GuardOnDataDependentSymNode:
        return state.session.record(function, _in_graph(state, operands), {}, bool, ConditionFact(answer))


def _in_graph(state: State, operands: list[Value]) -> tuple:
    return tuple([value.value if type(value) is Const else in_graph(state, value) if value.tape == "host" else value for value in operands])


def _computed(state: State, function: Callable, operands: list[Value], number: Any) -> Value:
    size = lift_size(number)
    if type(size) is int:
        return Const(size)
    return state.session.record(function, _in_graph(state, operands), {}, int, SizeFact(size))


def _on_constants(state: State, name: str, operands: list[Value]) -> Any:
    """An operator that sizes have no symbolic form for: the core goes on with the numbers that they are read from at entry, or, where they
    follow from more, guards them by value."""
    from frameloom.interpreter import operators

    found = host_sizes.on_host(state, name, operands)
    if found is not NOT_HANDLED:
        return found
    machine = state.session.machine
    settled = [settle(value) for value in operands]
    if name in operators.COMPARE:
        return operators.compare(machine, name, *settled)
    if name.startswith("unary "):
        return operators.unary(machine, name.removeprefix("unary "), *settled)
    if name in ARITHMETIC or name in IN_PLACE:
        return operators.binary(machine, name, *settled)
    if name in ("float", "complex"):
        return Const({"float": float, "complex": complex}[name](settled[0].value))
    return NOT_HANDLED


def settle(value: Value) -> Value:
    """A size guarded by its value; any other value as it is."""
    if type(value) is Node and type(value.fact) is SizeFact:
        with unbacked.decided():
            return Const(int(value.fact.size.number))
    return value


def truth(state: State, node: Node) -> Value:
    """The truth of a graph node: of a size by its answer, of a tensor known at run time only."""
    if type(node.fact) is SizeFact:
        with unbacked.decided():
            answer = TRUE if bool(node.fact.size.number != 0) else FALSE
        state.shapes.note_asked(state.session.where())
        return answer
    if type(node.fact) is ConditionFact:
        raise GraphBreak("FL209", f"whether {node.fact} follows from data")
    raise GraphBreak("FL201", f"the truth of a tensor {node.fact!r}")
