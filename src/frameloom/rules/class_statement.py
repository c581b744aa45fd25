"""The class statement: its body runs in the trace, in the namespace that the metaclass prepares (PEP 3115)."""

from __future__ import annotations

import _abc
import builtins
import types
from typing import Any

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import class_body, get_attribute
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import set_item, truth
from frameloom.rules.class_making import winning_metaclass
from frameloom.rules.define import function, methods
from frameloom.symbolic.layouts import cell, dict_, function as functions, tuple_
from frameloom.symbolic.layouts.class_ import placeholder, show
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, Const, Obj, Value


@function(builtins.__build_class__)
def build_class(m: Machine, body: Value, name: Value, /, *bases: Value, **kwargs: Value) -> Value:
    if body.cls is not types.FunctionType:
        return NotImplemented
    original = m.tuple(list(bases))
    resolved = _resolved(m, bases, original)
    metaclass = _metaclass(m, kwargs.pop("metaclass", None), resolved)
    given = original if resolved == list(bases) else m.tuple(resolved)
    namespace = _prepared(m, metaclass, [name, given], kwargs)
    found = _run(m, body, namespace)
    if given is not original:
        set_item(m, namespace, Const("__orig_bases__"), original)
    made = m.invoke(metaclass, [name, given, namespace], kwargs)
    if issubclass(made.cls, type) and found.cls is types.CellType and cell.get(m.session, found) is not made:
        raise GraphBreak("FL004", "the metaclass leaves the cell __class__ alone")
    return made


def _resolved(m: Machine, bases: tuple[Value, ...], original: Value) -> list[Value]:
    """The bases, with what `__mro_entries__` gives in the place of those that are no classes (PEP 560)."""
    resolved: list[Value] = []
    for base in bases:
        entries = ABSENT if issubclass(base.cls, type) else _attribute(m, base, "__mro_entries__")
        if entries is ABSENT:
            resolved.append(base)
            continue
        found = m.invoke(entries, [original], {})
        if found.cls is not tuple:
            raise m.error(TypeError, "__mro_entries__ must return a tuple")
        resolved += tuple_.items(m.session, found.body)
    return resolved


def _attribute(m: Machine, obj: Value, name: str) -> Value:
    try:
        return get_attribute(m, obj, name)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return ABSENT


def _metaclass(m: Machine, given: Value | None, bases: list[Value]) -> Value:
    if given is None:
        given = m.observe.constant(bases[0].cls if bases else type)
    if not issubclass(given.cls, type):
        return given
    known = m.observe.known_class(given)
    winner = winning_metaclass(m, known, bases)
    return given if winner is known else m.observe.constant(winner)


def _prepared(m: Machine, metaclass: Value, arguments: list[Value], kwargs: dict[str, Value]) -> Value:
    prepare = _attribute(m, metaclass, "__prepare__")
    namespace = m.dict() if prepare is ABSENT else m.invoke(prepare, arguments, dict(kwargs))
    if m.observe.type_lookup(namespace.cls, "__getitem__") is ABSENT:
        raise GraphBreak("FL004", f"__prepare__ gives a {namespace.cls.__name__}, which is no mapping")
    return namespace


def _run(m: Machine, body: Obj, namespace: Value) -> Value:
    """Run a class body; it returns the cell of `__class__`, or None."""
    code = functions.code_of(m.session, body)
    if code.co_argcount or code.co_kwonlyargcount or code.co_flags & OPTIMIZED:
        raise GraphBreak("FL004", "a function is no class body")
    frame = calls.enter(m, body, code, [], {})
    frame.names = namespace
    return calls.run_inlined(m, frame, code, None)


OPTIMIZED = 1  # CO_OPTIMIZED: a function, whose names are slots


@methods(type, "__prepare__")
def type_prepare(m: Machine, *args: Value, **kwargs: Value) -> Value:
    return m.dict()


# -- property --------------------------------------------------------------------------------------------------------

if "__set_name__" in property.__dict__:

    @methods(property, "__set_name__")
    def property_set_name(m: Machine, found: Value, owner: Value, name: Value, /) -> Value:
        """What it is called shows in the text of errors alone, which C code makes."""
        m.session.effect("call", Const(property.__dict__["__set_name__"]), [found, owner, name], ())
        return Const(None)


# -- abstract base classes -------------------------------------------------------------------------------------------


FLAGS = "__abc_tpflags__"
"""Set in a class body, it makes patterns for sequences or mappings match the instances, and is taken out of the class."""


@function(_abc._abc_init)
def abc_init(m: Machine, cls: Value, /) -> Value:
    """The abstract methods of a class that the trace has made (PEP 3119)."""
    body = class_body(cls)
    if body is None:
        return NotImplemented
    if body.entry(FLAGS) is not ABSENT:
        raise GraphBreak("FL004", f"{body.name} says by {FLAGS} what patterns it matches")
    names = [key for key, (_, value) in body.namespace.known.items() if _is_abstract(m, value)]
    for base in tuple_.items(m.session, body.bases.body):
        names += [name for name in _inherited(m, base) if name not in names and _is_abstract(m, _value_of(m, body, name))]
    dict_.set_(m.session, body.namespace, "__abstractmethods__", Const("__abstractmethods__"), m.lift(frozenset(names)))
    show(m.session, body, "__abstractmethods__", frozenset(names))
    show(m.session, body, "_abc_impl", placeholder)
    m.journal.set_field(body, "after", (*body.after, _abc._abc_init))
    return Const(None)


def _inherited(m: Machine, base: Value) -> list[str]:
    found = _attribute(m, base, "__abstractmethods__")
    if found is ABSENT:
        return []
    return [item.value for item in unpack(m, found)]


def _value_of(m: Machine, body: Any, name: str) -> Value:
    """What a class has under a name; reading it must run no code."""
    found = m.observe.type_lookup(body.stand_in, name)
    if found.cls not in (types.FunctionType, property, classmethod, staticmethod):
        raise GraphBreak("FL004", f"the abstract method {name} of {body.name} is a {found.cls.__name__}")
    return found


def _is_abstract(m: Machine, value: Value) -> bool:
    if type(value) is Const:
        return False
    found = _attribute(m, value, "__isabstractmethod__")
    return found is not ABSENT and truth(m, found).value

