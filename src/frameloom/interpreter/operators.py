"""Operators: CPython's number, comparison, truth, containment and subscript algorithms on symbolic values."""

from __future__ import annotations

import operator
import sys
from typing import Any, Callable

from frameloom.interpreter.attributes import bind_descriptor
from frameloom.interpreter.expressions import computes
from frameloom.interpreter.frame import Link
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.promoted import NUMBERS, is_total, known_comparison
from frameloom.interpreter.registry import RULES, kind_of_class
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.guards import same_constant
from frameloom.symbolic.kinds import ATOMS, has_equals
from frameloom.symbolic.layouts.payload import RunTimeBody
from frameloom.symbolic.made import class_made
from frameloom.symbolic.real import flags_of, type_name
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import (
    ABSENT,
    FALSE,
    NOT_IMPLEMENTED,
    TRUE,
    Const,
    Node,
    Obj,
    Value,
    boolean,
)

BINARY: dict[str, tuple[Callable, str, str]] = {
    "+": (operator.add, "__add__", "__radd__"),
    "-": (operator.sub, "__sub__", "__rsub__"),
    "*": (operator.mul, "__mul__", "__rmul__"),
    "/": (operator.truediv, "__truediv__", "__rtruediv__"),
    "//": (operator.floordiv, "__floordiv__", "__rfloordiv__"),
    "%": (operator.mod, "__mod__", "__rmod__"),
    "@": (operator.matmul, "__matmul__", "__rmatmul__"),
    "**": (operator.pow, "__pow__", "__rpow__"),
    "<<": (operator.lshift, "__lshift__", "__rlshift__"),
    ">>": (operator.rshift, "__rshift__", "__rrshift__"),
    "&": (operator.and_, "__and__", "__rand__"),
    "|": (operator.or_, "__or__", "__ror__"),
    "^": (operator.xor, "__xor__", "__rxor__"),
}
INPLACE: dict[str, str] = {f"{symbol}=": f"__i{names[1][2:]}" for symbol, names in BINARY.items()}
UNARY: dict[str, tuple[Callable, str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
    "abs": (abs, "__abs__"),
}
COMPARE: dict[str, tuple[Callable, str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}


computes({function: symbol for table in (BINARY, UNARY, COMPARE) for symbol, (function, *_) in table.items()})


def is_plain(value: Value) -> bool:
    """Whether a value is an atom the host may compute with."""
    return type(value) is Const


def host(m: Machine, function: Callable, operands: list[Value]) -> Value:
    """An operation on promoted numbers: recorded on the host tape, its class told by trying it on the hints."""
    hints = [o.value if type(o) is Const else _hint(o) for o in operands]
    cls = type(m.fold(function, *hints).value) if None not in hints else None
    if cls not in (int, float, bool):
        raise GraphBreak("FL207", f"operation on a number known at run time only: {function.__name__}")
    return m.session.record(function, tuple(operands), {}, cls, None, tape="host")


def _hint(node: Value) -> Any:
    """A number of the node's class that stands for its value when only the class of a result is asked."""
    return {int: 3, float: 1.5, bool: True}.get(node.cls)


def is_host(value: Value) -> bool:
    return type(value) is Node and value.tape == "host"


def is_number(value: Value) -> bool:
    """Whether a value is a number that only running code knows, on either tape."""
    return type(value) is Node and value.cls in NUMBERS


def is_graph(value: Value) -> bool:
    return type(value) is Node and value.tape == "graph"


# -- binary ----------------------------------------------------------------------------------------------------------


def binary(m: Machine, symbol: str, a: Value, b: Value, link: Link | None = None) -> Value:
    """`a <symbol> b`, in-place forms included (PEP 203, data model "Emulating numeric types")."""
    inplace = symbol[-1] == "="
    plain = symbol[:-1] if inplace else symbol
    function, name, _ = BINARY[plain]
    if type(a) is Const and type(b) is Const:
        return m.fold(function, a.value, b.value)
    if is_graph(a) or is_graph(b) and not _comes_first(m, a, name) and not (inplace and _takes_inplace(m, symbol, a)):
        found = m.domain.operator(m.session, symbol if is_graph(a) else plain, [a, b])
        if found is not NOT_HANDLED:
            return found
    elif (is_host(a) or is_host(b)) and all(type(v) in (Const, Node) for v in (a, b)):
        if is_total(m, plain, a, b):
            return host(m, function, [a, b])
        return binary(m, symbol, _settle(m, a), _settle(m, b), link)
    if inplace:
        own = m.observe.type_lookup(a.cls, INPLACE[symbol])
        if own is not ABSENT and not is_sequence_slot(own):
            result = _call_slot(m, own, a, [b], _inplace_link(m, symbol, a, b, link))
            if not _is_not_implemented(result):
                return result
        return _binary_slots(m, plain, a, b, own, link, symbol)
    return _binary_slots(m, plain, a, b, ABSENT, link, symbol)


def _inplace_link(m: Machine, symbol: str, a: Value, b: Value, link: Link | None) -> Link | None:
    """How an in-place operation waits for its own method; not at all where a sequence of C may come after it."""
    if link is None:
        return None
    tries, sequences = _operand_tries(m, symbol[:-1], a, b)
    return None if sequences else _tried(link, tries, _unsupported(symbol, a, b))


def _tried(link: Link | None, rest: list[tuple], otherwise: Any) -> Link | None:
    """How an instruction waits for one of several methods: `rest` is asked after it, and `otherwise` is what comes of it where all give
    NotImplemented (the text of a TypeError, or a bool)."""
    if link is None or link.kind != "operand" or any(slot.cls not in SIMPLE for slot, _, _ in rest):
        return None
    return link.of("operand" + " then" * len(rest), Const(otherwise), *(value for one in reversed(rest) for value in one))


def _unsupported(symbol: str, a: Value, b: Value) -> str:
    shown = f"{symbol}{' or pow()' * (symbol == '**')}"
    return f"unsupported operand type(s) for {shown}: '{type_name(a.cls)}' and '{type_name(b.cls)}'"


def _comes_first(m: Machine, value: Value, name: str) -> bool:
    """Whether an object outside the graph has a method written in Python, which is asked before those of an operand in the graph."""
    if type(value) is not Obj:
        return False
    found = m.observe.type_lookup(value.cls, name)
    return found is not ABSENT and found.cls is FunctionType


def _takes_inplace(m: Machine, symbol: str, value: Value) -> bool:
    """Whether an object outside the graph has an in-place method of its own, which comes before anything else."""
    return type(value) is Obj and m.observe.type_lookup(value.cls, INPLACE[symbol]) is not ABSENT


def _settle(m: Machine, value: Value) -> Value:
    """A promoted number by its value."""
    if is_host(value):
        found = m.known_number(value)
        if type(found) is not Const:
            raise GraphBreak("FL207", "number computed at run time")
        return found
    return value


def _binary_slots(m: Machine, symbol: str, a: Value, b: Value, inplace: Value, link: Link | None, written: str) -> Value:
    """The methods of both operands, one after the other.  Sequences of C come last: their `+` and `*` are no methods of numbers.
    `written`: the operator as the error names it."""
    tries, sequences = _operand_tries(m, symbol, a, b)
    if inplace is not ABSENT and is_sequence_slot(inplace):
        sequences.insert(0, (inplace, a, b))
    for place, (slot, receiver, other) in enumerate(tries):
        waiting = None if sequences else _tried(link, tries[place + 1 :], _unsupported(written, a, b))
        result = _call_slot(m, slot, receiver, [other], waiting)
        if not _is_not_implemented(result):
            return result
    for slot, receiver, other in sequences:
        return _call_slot(m, slot, receiver, [other])
    raise m.error(TypeError, _unsupported(written, a, b))


def _operand_tries(m: Machine, symbol: str, a: Value, b: Value) -> tuple[list[tuple], list[tuple]]:
    """The left operand's method, then the right's reflected one; the right first where its class is a proper subclass that provides a
    different method.  Apart from these, those of sequences of C.  Each with the receiver and the other operand."""
    _, name, reflected = BINARY[symbol]
    left = m.observe.type_lookup(a.cls, name)
    right = m.observe.type_lookup(b.cls, reflected) if b.cls is not a.cls else ABSENT
    tries = []
    if left is not ABSENT and not is_sequence_slot(left):
        tries.append((left, a, b))
    if right is not ABSENT and not is_sequence_slot(right):
        first = b.cls is not a.cls and m.observe.is_subtype(b.cls, a.cls) and _differs(m, a.cls, b.cls, reflected)
        tries.insert(0 if first else len(tries), (right, b, a))
    both = ((left, a, b), (right, b, a))
    return tries, [one for one in both if one[0] is not ABSENT and is_sequence_slot(one[0])]


SEQUENCE_NAMES = frozenset({"__add__", "__mul__", "__rmul__", "__iadd__", "__imul__"})


def is_sequence_slot(slot: Value) -> bool:
    """Whether a method stands for a slot of a sequence in C, whose class is no number: CPython tries numbers first."""
    if type(slot) is not Const or type(slot.value) is not WrapperDescriptorType or slot.value.__name__ not in SEQUENCE_NAMES:
        return False
    return "__sub__" not in slot.value.__objclass__.__dict__


def _differs(m: Machine, base: type, cls: type, name: str) -> bool:
    if class_made(base) is None and class_made(cls) is None:
        return m.observe.peek_type(base, name) is not m.observe.peek_type(cls, name)
    one, other = m.observe.type_lookup(base, name), m.observe.type_lookup(cls, name)
    return not identical(m, one, other) if ABSENT not in (one, other) else one is not other


def _is_not_implemented(value: Value) -> bool:
    return type(value) is Const and value.value is NotImplemented


def _call_slot(m: Machine, slot: Value, receiver: Value, args: list[Value], link: Link | None = None) -> Value:
    """Call a special method found on the class of `receiver`."""
    if type(slot) is Const and slot.value not in RULES and not m.domain.records(slot.value):
        return _c_slot(m, slot.value, receiver, args)
    if slot.cls in SIMPLE:
        return m.invoke(slot, [receiver, *args], {}, link)
    return m.invoke(bind_descriptor(m, slot, receiver, receiver.cls), args, {}, link)


def _c_slot(m: Machine, slot: Any, receiver: Value, args: list[Value]) -> Value:
    """A slot in C without a rule: folded on constants, NotImplemented where a number meets a foreign class."""
    values = [receiver, *args]
    if type(slot) in ATOMS:  # a class takes an operation away with None; what CPython says then differs from one to the next
        raise GraphBreak("FL102", f"a special method of {receiver.cls.__name__} that is {slot!r}")
    if all(type(value) is Const for value in values):
        return m.fold(slot, *(value.value for value in values))
    if type(receiver) is Const and slot in MEETS_PLAIN:
        return _payload_slot(m, slot, receiver, args)
    kind = kind_of_class(receiver.cls, "FL505" if slot.__name__ in WRITES else "FL102")
    raise GraphBreak(kind, f"{slot.__objclass__.__name__}.{slot.__name__} with {values[-1].cls.__name__}")


WRITES = frozenset({"__setitem__", "__delitem__", "__setattr__", "__delattr__"})


def _payload_slot(m: Machine, slot: Any, receiver: Value, args: list[Value]) -> Value:
    from frameloom.symbolic.layouts.payload import PayloadBody

    plain = []
    for arg in args:
        if type(arg) is Obj and isinstance(arg.body, PayloadBody):
            plain.append(arg.body.value.value)
        elif type(arg) is Const:
            plain.append(arg.value)
        else:
            return NOT_IMPLEMENTED
    return m.fold(slot, receiver.value, *plain)


def _slots_that_meet_plain() -> frozenset:
    comparisons = [names[1] for names in COMPARE.values()]
    numbers = [name for names in BINARY.values() for name in names[1:]]
    found = [(cls, name) for cls in (int, float, complex, bool) for name in (*comparisons, *numbers)]
    found += [(cls, name) for cls in (str, bytes) for name in comparisons]
    return frozenset(cls.__dict__[name] for cls, name in found if name in cls.__dict__)


MEETS_PLAIN = _slots_that_meet_plain()
"""Slots in C that look at the plain value inside an instance of a subclass, and answer NotImplemented to other classes."""


from types import FunctionType, MethodDescriptorType, WrapperDescriptorType  # noqa: E402

SIMPLE = frozenset({FunctionType, MethodDescriptorType, WrapperDescriptorType})


def unary(m: Machine, symbol: str, a: Value, link: Link | None = None) -> Value:
    """`-a`, `+a`, `~a`, `abs(a)`."""
    function, name = UNARY[symbol]
    if type(a) is Const:
        return m.fold(function, a.value)
    if is_graph(a):
        found = m.domain.operator(m.session, f"unary {symbol}", [a])
        if found is not NOT_HANDLED:
            return found
    if is_host(a):
        return host(m, function, [a])
    slot = m.observe.type_lookup(a.cls, name)
    if slot is ABSENT:
        raise m.error(TypeError, f"bad operand type for {'abs()' if symbol == 'abs' else f'unary {symbol}'}: '{type_name(a.cls)}'")
    return _call_slot(m, slot, a, [], link)


# -- comparison ------------------------------------------------------------------------------------------------------


def compare(m: Machine, symbol: str, a: Value, b: Value, link: Link | None = None) -> Value:
    """Rich comparison."""
    function, name, reflected = COMPARE[symbol]
    if type(a) is Const and type(b) is Const:
        return m.fold(function, a.value, b.value)
    if is_graph(a) or is_graph(b) and not _comes_first(m, a, name):
        found = m.domain.operator(m.session, symbol, [a, b])
        if found is not NOT_HANDLED:
            return found
    elif is_host(a) or is_host(b):
        if all(type(v) in (Const, Node) for v in (a, b)):
            outcome = known_comparison(m, function, a, b) if a.cls in NUMBERS and b.cls in NUMBERS else None
            if outcome is not None:
                return outcome
            if type(a) is Const or type(b) is Const or a.cls in NUMBERS and b.cls in NUMBERS:
                return compare(m, symbol, _settle(m, a), _settle(m, b), link)
    if symbol in ("==", "!=") and _are_run_time(a, b):
        return boolean(_same_operand(m, a, b) is (symbol == "=="))
    tries = []
    left = m.observe.type_lookup(a.cls, name)
    right = m.observe.type_lookup(b.cls, reflected)
    if b.cls is not a.cls and m.observe.is_subtype(b.cls, a.cls) and right is not ABSENT:
        tries = [(right, b, a), (left, a, b)]
    else:
        tries = [(left, a, b), (right, b, a)]
    tries = [one for one in tries if one[0] is not ABSENT and not _default_comparison(one[0])]
    refused = f"'{symbol}' not supported between instances of '{type_name(a.cls)}' and '{type_name(b.cls)}'"
    for place, (slot, receiver, other) in enumerate(tries):
        otherwise: Any = refused
        if link is not None and symbol in ("==", "!=") and (slot.cls is FunctionType or _is_inverse_of_equality(slot)):
            otherwise = identical(m, a, b) is (symbol == "==")
        result = _ask_comparison(m, slot, receiver, other, link, tries[place + 1 :], otherwise)
        if not _is_not_implemented(result):
            return result
    if symbol in ("==", "!="):
        same = identical(m, a, b)
        return boolean(same is (symbol == "=="))
    raise m.error(TypeError, refused)


def _ask_comparison(
    m: Machine, slot: Value, receiver: Value, other: Value, link: Link | None, rest: list[tuple], otherwise: Any
) -> Value:
    """One method of a comparison; `!=` of object is the inverse of `==`."""
    if link is not None and _is_inverse_of_equality(slot):
        equality = m.observe.type_lookup(receiver.cls, "__eq__")
        if equality.cls in SIMPLE and type(equality) is not Const:
            waiting = _tried(link, rest, otherwise)
            result = _call_slot(m, equality, receiver, [other], waiting and rest and waiting.of("unequal then", *waiting.values) or None)
            return result if _is_not_implemented(result) else boolean(not truth(m, result).value)
    return _call_slot(m, slot, receiver, [other], _tried(link, rest, otherwise))


def _is_inverse_of_equality(slot: Value) -> bool:
    return type(slot) is Const and slot.value is object.__ne__


def _are_run_time(a: Value, b: Value) -> bool:
    """Whether both are ints of one kind that only running code knows: then what they are about decides."""
    if type(a) is not Obj or type(b) is not Obj:
        return False
    return type(a.body) is RunTimeBody and type(b.body) is RunTimeBody and a.body.function is b.body.function


def _same_operand(m: Machine, a: Obj, b: Obj) -> bool:
    return a is b or not a.body.operands or identical(m, a.body.operands[0], b.body.operands[0])


_DEFAULTS = frozenset(object.__dict__[names[1]] for names in COMPARE.values())


def _default_comparison(slot: Value) -> bool:
    """Whether a slot is object's own, which only compares identity; `!=` of object defers to `==`."""
    return type(slot) is Const and slot.value in _DEFAULTS and slot.value is not object.__ne__


def identical(m: Machine, a: Value, b: Value) -> bool:
    """`a is b`, guarded where both are real."""
    if a is b:
        return True
    if is_number(a) or is_number(b):
        return _same_number(m, a, b)
    if type(a) is Const and type(b) is Const:
        return a.source is not None and a.source is b.source or same_constants(a.value, b.value)
    real_a, real_b = getattr(a, "real", None), getattr(b, "real", None)
    if real_a is None and real_b is None:
        return False
    if real_a is not None and real_b is not None:
        return _real_identity(m, a, b)
    known, other = (a, b) if real_a is not None else (b, a)
    if type(other) is Const:
        return m.observe.peek(known) is other.value
    return False


def _same_number(m: Machine, a: Value, b: Value) -> bool:
    """Whether two values, one of them a number of the host, are one object: small whole numbers are, wherever they come from."""
    if a.cls is not b.cls or not all(type(value) is Const or is_number(value) for value in (a, b)):
        return False
    found = [m.settle(value) for value in (a, b)]
    return all(type(value) is Const for value in found) and same_constants(found[0].value, found[1].value)


def _real_identity(m: Machine, a: Value, b: Value) -> bool:
    """Two real objects met as different values were different objects: guarded so."""
    first, second = a.real.source, b.real.source
    if first.root().step == "const" and second.root().step == "const" and first.base is None and second.base is None:
        return False
    m.session.guard("DISTINCT", first, (second,))
    return False


def same_constants(a: Any, b: Any) -> bool:
    """Whether two constants are one object.  Singletons and small integers are; equal texts and big numbers are told apart only
    by where they came from, which a guard on their value does not say: that breaks."""
    if type(a) is not type(b) or type(a) not in ATOMS:
        return a is b
    if type(a) in SINGLETONS or not same_constant(a, b):
        return a is b
    if not has_equals(a):
        return True
    raise GraphBreak("FL501", f"whether two equal objects of class {type(a).__name__} are one")


SINGLETONS = frozenset({type(None), bool, type(Ellipsis), type(NotImplemented)})


# -- truth ----------------------------------------------------------------------------------------------------------


def truth(m: Machine, value: Value, link: Link | None = None) -> Value:
    """`bool(value)` as a Const."""
    if type(value) is Const:
        if value is TRUE or value is FALSE:
            return value
        return _constant_truth(m, value)
    if type(value) is Node:
        if value.tape == "graph":
            found = m.domain.truth(m.session, value)
            if found is not NOT_HANDLED:
                return found
        if is_host(value):
            outcome = known_comparison(m, operator.ne, value, Const(0))
            return truth(m, _settle(m, value)) if outcome is None else outcome
    slot = m.observe.type_lookup(value.cls, "__bool__")
    if slot is not ABSENT:
        result = _call_slot(m, slot, value, [], link and link.of("bool"))
        if result.cls is not bool:
            raise m.error(TypeError, f"__bool__ should return bool, returned {type_name(result.cls)}")
        return result if type(result) is Const else truth(m, result)
    slot = m.observe.type_lookup(value.cls, "__len__")
    if slot is not ABSENT:
        known = NONEMPTY.get(slot.value) if type(slot) is Const else None
        if known is not None and type(value) is Obj:
            return boolean(known(m, value))
        count = length(m, value, link and link.of("length"))
        return boolean(m.need_constant(count, "FL207", "length known at run time only") != 0)
    return TRUE


NONEMPTY: dict[Any, Callable] = {}
"""`__len__` of a container in C -> whether(m, value): that it has items, which asks for less than how many"""


def _constant_truth(m: Machine, value: Const) -> Const:
    if value.cls in ATOMS or value.cls in (range, slice):
        return boolean(bool(value.value))
    for name in ("__bool__", "__len__"):
        if m.observe.type_lookup(value.cls, name) is not ABSENT:
            raise GraphBreak(kind_of_class(value.cls, "FL102"), f"truth of {value.cls.__name__}")
    return TRUE


def length(m: Machine, value: Value, link: Link | None = None) -> Value:
    """`len(value)`."""
    if type(value) is Const:
        return m.fold(len, value.value)
    if is_graph(value):
        found = m.domain.operator(m.session, "len", [value])
        if found is not NOT_HANDLED:
            return found
    slot = m.observe.type_lookup(value.cls, "__len__")
    if slot is ABSENT:
        raise m.error(TypeError, f"object of type '{type_name(value.cls)}' has no len()")
    result = index(m, _call_slot(m, slot, value, [], link))
    if type(result) is Const and result.value < 0:
        raise m.error(ValueError, "__len__() should return >= 0")
    if type(result) is Const and result.value > sys.maxsize:
        raise m.error(OverflowError, f"cannot fit '{type_name(result.cls)}' into an index-sized integer")
    return result


def index(m: Machine, value: Value) -> Value:
    """`operator.index(value)`: an int Const, or a host or graph number."""
    if value.cls is int or value.cls is bool:
        return value
    from frameloom.symbolic.layouts.payload import PayloadBody

    if type(value) is Obj and isinstance(value.body, PayloadBody) and type(value.body.value.value) is int:
        return value.body.value
    if is_graph(value):
        found = m.domain.operator(m.session, "index", [value])
        if found is not NOT_HANDLED:
            return found
    slot = m.observe.type_lookup(value.cls, "__index__")
    if slot is ABSENT:
        raise m.error(TypeError, f"'{type_name(value.cls)}' object cannot be interpreted as an integer")
    return require_int(m, _call_slot(m, slot, value, []))


def require_int(m: Machine, made: Value) -> Value:
    """What an `__index__` gave, as CPython takes it."""
    if not issubclass(made.cls, int):
        raise m.error(TypeError, f"__index__ returned non-int (type {type_name(made.cls)})")
    if made.cls is not int:
        raise GraphBreak("FL102", "__index__ gives an instance of a subclass of int, of which CPython warns")
    return made


def equal(m: Machine, a: Value, b: Value) -> bool:
    """`a is b or a == b`, as containers compare."""
    if a is b or identical_quietly(a, b):
        return True
    if type(a) is not Obj or type(b) is not Obj:
        return truth(m, compare(m, "==", a, b)).value
    session = m.session
    if session.depth >= session.most_depth:
        raise GraphBreak("FL006", f"objects are compared {session.depth} deep")
    session.depth += 1
    session.deepest = max(session.deepest, session.depth)
    try:
        return truth(m, compare(m, "==", a, b)).value
    finally:
        session.depth -= 1


def identical_quietly(a: Value, b: Value) -> bool:
    """Identity that needs no guard."""
    return a is b or type(a) is Const and type(b) is Const and a.value is b.value


# -- subscripts ------------------------------------------------------------------------------------------------------


def get_item(m: Machine, container: Value, key: Value, link: Link | None = None) -> Value:
    """`container[key]`."""
    if type(container) is Const and type(key) is Const and container.cls in FOLDED:
        return m.fold(operator.getitem, container.value, key.value)
    if is_graph(container):
        found = m.domain.operator(m.session, "[]", [container, key])
        if found is not NOT_HANDLED:
            return found
    slot = m.observe.type_lookup(container.cls, "__getitem__")
    if slot is ABSENT:
        if issubclass(container.cls, type):
            return _class_getitem(m, container, key, link)
        raise m.error(TypeError, f"'{type_name(container.cls)}' object is not subscriptable")
    return _call_slot(m, slot, container, [key], link)


FOLDED = frozenset({str, bytes, range})


def _class_getitem(m: Machine, container: Value, key: Value, link: Link | None) -> Value:
    from frameloom.interpreter.attributes import class_get

    try:
        found = class_get(m, container, "__class_getitem__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        raise m.error(TypeError, f"type '{type_name(m.observe.known_class(container))}' is not subscriptable") from None
    return m.invoke(found, [key], {}, link)


def _not_written(m: Machine, container: Value, key: Value, deletes: bool) -> str:
    """What an object says whose items are not written; the number of an item goes to the sequence that its class may be."""
    if not deletes:
        return "does not support item assignment"
    lookup = m.observe.type_lookup
    is_sequence = flags_of(container.cls) & HEAP_TYPE or lookup(container.cls, "__contains__") is not ABSENT
    numbered = is_sequence and lookup(key.cls, "__index__") is not ABSENT
    return "doesn't support item deletion" if numbered else "does not support item deletion"


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: such a class has room for the slots of sequences


def set_item(m: Machine, container: Value, key: Value, value: Value, link: Link | None = None) -> None:
    """`container[key] = value`, or `del container[key]` where value is ABSENT."""
    deletes = value is ABSENT
    if is_graph(container):
        found = m.domain.operator(m.session, "del[]" if deletes else "[]=", [container, key, *([] if deletes else [value])])
        if found is not NOT_HANDLED:
            return
    slot = m.observe.type_lookup(container.cls, "__delitem__" if deletes else "__setitem__")
    if slot is ABSENT:
        raise m.error(TypeError, f"'{type_name(container.cls)}' object {_not_written(m, container, key, deletes)}")
    _call_slot(m, slot, container, [key] if deletes else [key, value], link)
