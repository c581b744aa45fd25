"""Exception groups (PEP 654): made, split, and put together again by `except*`."""

from __future__ import annotations

import types
from collections.abc import Callable

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import get_attribute, part_of, set_attribute
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import identical, truth
from frameloom.interpreter.exceptions import TRACEBACK, exception_classes, stand_in
from frameloom.symbolic.layouts import exception as parts, tuple_
from frameloom.symbolic.layouts.exception import EXCEPTIONS, MESSAGE, ExceptionBody
from frameloom.symbolic.real import is_subtype
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, TRUE, Const, Obj, Value

Matches = Callable[[Value], bool]


def is_group(value: Value) -> bool:
    """Whether a value is an exception group."""
    return is_subtype(value.cls, BaseExceptionGroup)


def exceptions_of(m: Machine, group: Value) -> list[Value]:
    """The exceptions that a group holds."""
    return tuple_.items(m.session, part_of(m, group, EXCEPTIONS).body)


# -- making ----------------------------------------------------------------------------------------------------------


def make(m: Machine, cls: type, message: Value, given: Value) -> Value:
    """`BaseExceptionGroup.__new__(cls, message, given)`.  Raises its errors for the user."""
    if message.cls is not str or not issubclass(given.cls, (list, tuple)):
        raise GraphBreak("FL101", f"{cls.__name__} is made of {message.cls.__name__} and {given.cls.__name__}")
    items = unpack(m, given)
    chosen = _chosen(items) if cls is BaseExceptionGroup else cls
    if not items or any(not issubclass(item.cls, BaseException) for item in items) or _is_too_narrow(chosen, items):
        raise m.error(*_refusal(cls, items))
    made = calls.fresh_instance(m, chosen, ExceptionBody(m.tuple([message, given])))
    m.observe_slot(made, MESSAGE, message)
    m.observe_slot(made, EXCEPTIONS, m.tuple(items))
    return made


def _chosen(items: list[Value]) -> type:
    return ExceptionGroup if all(issubclass(item.cls, Exception) for item in items) else BaseExceptionGroup


def _is_too_narrow(cls: type, items: list[Value]) -> bool:
    return issubclass(cls, Exception) and any(not issubclass(item.cls, Exception) for item in items)


def _refusal(cls: type, items: list[Value]) -> tuple:
    """What C code says to these items: it asks only whether they are exceptions, and whether they are `Exception`s."""
    stand_ins = [_STAND_INS[(issubclass(item.cls, BaseException), issubclass(item.cls, Exception))] for item in items]
    try:
        BaseExceptionGroup.__new__(cls, "", stand_ins)
    except (TypeError, ValueError) as error:
        return (type(error), *error.args)
    raise AssertionError(f"{cls.__name__} can be made of {items}")


_STAND_INS = {(True, True): Exception(), (True, False): BaseException(), (False, False): None}


# -- splitting -------------------------------------------------------------------------------------------------------


def condition(m: Machine, wanted: Value) -> Matches:
    """What the argument of `split` and `subgroup` asks of each exception.  TypeError for an argument that they refuse."""
    try:
        classes = exception_classes(m, wanted)
    except SymbolicRaise:
        if not _is_asked(m, wanted):
            raise m.fold(ExceptionGroup("", [Exception()]).split, None) from None
        return lambda exception: truth(m, m.invoke(wanted, [exception], {})).value
    return lambda exception: any(m.observe.is_subtype(exception.cls, cls) for cls in classes)


def _takes_any_callable() -> bool:
    try:
        ExceptionGroup("", [Exception()]).split(callable)
    except TypeError:
        return False
    return True


TAKES_ANY_CALLABLE = _takes_any_callable()
"""Whether this Python lets `split` ask any callable but a class, not only functions written in Python."""


def _is_asked(m: Machine, wanted: Value) -> bool:
    if not TAKES_ANY_CALLABLE:
        return wanted.cls is types.FunctionType
    return not issubclass(wanted.cls, type) and m.observe.type_lookup(wanted.cls, "__call__") is not ABSENT


def split(m: Machine, exception: Value, matches: Matches, rest_too: bool = True) -> tuple[Value, Value]:
    """The part of an exception whose leaves (or whole groups) match, and the rest; None for an empty part.

    A group of which all matches stays itself; other parts are made by the group's own `derive`.
    """
    if matches(exception):
        return exception, NONE
    if not is_group(exception):
        return NONE, exception
    matching, others = [], []
    for item in exceptions_of(m, exception):
        matched, rest = split(m, item, matches, rest_too)
        matching += [matched] * (matched is not NONE)
        others += [rest] * (rest is not NONE)
    return subset(m, exception, matching), subset(m, exception, others) if rest_too else NONE


def subset(m: Machine, group: Value, items: list[Value]) -> Value:
    """The group with fewer exceptions, its metadata copied; None without any."""
    if not items:
        return NONE
    made = m.invoke(get_attribute(m, group, "derive"), [m.list(items)], {})
    if not is_group(made):
        raise m.error(TypeError, "derive must return an instance of BaseExceptionGroup")
    _copy_traceback(m, group, made)
    for name in ("context", "cause"):
        parts.set_part(m.session, made, name, parts.part(m.session, group, name))
    parts.set_part(m.session, made, "suppress", TRUE)  # as setting a cause does
    _copy_notes(m, group, made)
    return made


def _copy_traceback(m: Machine, group: Value, made: Value) -> None:
    if group is made:
        return
    if made.real is not None:
        raise GraphBreak("FL005", "the traceback of an exception is set")
    if group.real is not None:
        parts.set_traceback(m.session, made, m.observe.read(group, "descriptor", TRACEBACK))
        return
    parts.share_traceback(m.session, group, made)
    if group.body.raised:
        m.remember(("__traceback__", made), stand_in(m, group))


def _copy_notes(m: Machine, group: Value, made: Value) -> None:
    try:
        notes = get_attribute(m, group, "__notes__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return
    if issubclass(notes.cls, (list, tuple, str)):
        set_attribute(m, made, "__notes__", m.list(unpack(m, notes)))
    elif type(notes) is Obj:
        raise GraphBreak("FL101", f"the notes of an exception group are a {notes.cls.__name__}")


# -- except* ---------------------------------------------------------------------------------------------------------


def matched(m: Machine, exception: Value, wanted: Value, classes: tuple[type, ...]) -> tuple[Value, Value]:
    """What `except* wanted`, which names these classes, handles of an exception, and the rest (both None for None)."""
    if type(exception) is Const:
        return NONE, NONE
    if any(m.observe.is_subtype(exception.cls, cls) for cls in classes):
        return (exception if is_group(exception) else wrapped(m, m.tuple([exception]))), NONE
    if not is_group(exception):
        return NONE, exception
    pair = m.invoke(get_attribute(m, exception, "split"), [wanted], {})
    items = tuple_.items(m.session, pair.body) if pair.cls is tuple else []
    if len(items) < 2:
        raise GraphBreak("FL001", f"except* met a {exception.cls.__name__} whose split() gives a {pair.cls.__name__}")
    return items[0], items[1]


def wrapped(m: Machine, items: Value) -> Value:
    """A new group around exceptions, as the interpreter makes it."""
    return make(m, BaseExceptionGroup, Const(""), items)


def raised_again(m: Machine, original: Value, left: list[Value]) -> Value:
    """What goes on behind all `except*` clauses: of the original exception what no clause handled or one raised again, in its
    old shape, and what the clauses raised; None where nothing is left."""
    left = [exception for exception in left if not (type(exception) is Const and exception.value is None)]
    if not left:
        return NONE
    if not is_group(original):
        return left[0]
    again = [exception for exception in left if _is_part_of(m, exception, original)]
    new = [exception for exception in left if not any(exception is other for other in again)]
    if again:
        kept = _leaves(m, again)
        again = [split(m, original, lambda exception: any(exception is leaf for leaf in kept), False)[0]]
    left = [*new, *(exception for exception in again if exception is not NONE)]
    return left[0] if len(left) == 1 else wrapped(m, m.list(left))


def _leaves(m: Machine, exceptions: list[Value]) -> list[Value]:
    found = []
    for exception in exceptions:
        found += _leaves(m, exceptions_of(m, exception)) if is_group(exception) else [exception]
    return found


def _is_part_of(m: Machine, exception: Value, original: Value) -> bool:
    """Whether an exception has the cause, the context and the very traceback of another: then it was split off and not raised anew."""
    if exception is original:
        return True
    if not _have_one_traceback(m, exception, original):
        return False
    pairs = [(parts.part(m.session, exception, name), parts.part(m.session, original, name)) for name in ("cause", "context")]
    return all(identical(m, one, other) for one, other in pairs)


def _have_one_traceback(m: Machine, exception: Value, original: Value) -> bool:
    one, other = (parts.traceback_of(m.session, each) for each in (exception, original))
    if isinstance(one, Value) and isinstance(other, Value):
        return identical(m, one, other)
    return one == other
