"""Iteration: `iter`, `next`, unpacking, and the resumption of generators."""

from __future__ import annotations

import types
from typing import Any

from frameloom.interpreter.exits import RETURN
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.loop import run
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.operators import _call_slot, is_graph
from frameloom.interpreter.registry import ITERATORS
from frameloom.symbolic.domain import NOT_HANDLED
from frameloom.symbolic.layouts import ahead, iterator as iterators
from frameloom.symbolic.layouts.ahead import Ahead
from frameloom.symbolic.layouts.exception import ExceptionBody
from frameloom.symbolic.layouts.generator import GeneratorBody
from frameloom.symbolic.layouts.iterator import FOREIGN, SequenceIterator
from frameloom.symbolic.real import type_name
from frameloom.symbolic.signals import GraphBreak, Suspend, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Lazy, Node, Obj, Value


def is_iterable(m: Machine, value: Value) -> bool:
    """Whether `iter(value)` has a method to call."""
    lookup = m.observe.type_lookup
    return lookup(value.cls, "__iter__") is not ABSENT or lookup(value.cls, "__getitem__") is not ABSENT


def iterate(m: Machine, value: Value, link: Link | None = None) -> Value:
    """`iter(value)`."""
    if type(value) is Const:
        return _constant_iterator(m, value)
    if is_graph(value):
        found = m.domain.operator(m.session, "iter", [value])
        if found is not NOT_HANDLED:
            return found
    slot = m.observe.type_lookup(value.cls, "__iter__")
    blocked = type(slot) is Const and slot.value is None
    if slot is not ABSENT and not blocked:
        made = _call_slot(m, slot, value, [], link)
        if made.cls not in ITERATORS and m.observe.type_lookup(made.cls, "__next__") is ABSENT:
            raise m.error(TypeError, f"iter() returned non-iterator of type '{type_name(made.cls)}'")
        return made
    if blocked or m.observe.type_lookup(value.cls, "__getitem__") is ABSENT:
        raise m.error(TypeError, f"'{type_name(value.cls)}' object is not iterable")
    return m.session.alloc(iterators.SEQUENCE_ITERATOR, SequenceIterator(value, 0))


_OVER = {str: iterators.STR_ITERATOR, bytes: iterators.BYTES_ITERATOR, range: iterators.RANGE_ITERATOR}


def _constant_iterator(m: Machine, value: Const) -> Value:
    cls = _OVER.get(value.cls)
    if cls is None:
        raise m.error(TypeError, f"'{type_name(value.cls)}' object is not iterable")
    if cls is not iterators.BYTES_ITERATOR:
        cls = type(iter(value.value))
    return m.session.alloc(cls, SequenceIterator(value, 0))


def next_item(m: Machine, iterator: Value) -> Value | None:
    """The next item, or None where the iterator is exhausted (its StopIteration is swallowed)."""
    item = next_unseen(m, iterator)
    return m.observe.resolve(item) if type(item) is Lazy else item


def next_unseen(m: Machine, iterator: Value, link: Link | None = None) -> Value | None:
    """As `next_item`; an item of a real container is perhaps not looked at yet."""
    advance = ITERATORS.get(iterator.cls)
    if advance is not None and type(iterator) is Obj:
        if iterator.body is FOREIGN:
            adopt(m, iterator)
        try:
            return advance(m, iterator)
        except SymbolicRaise as signal:
            if issubclass(signal.value.cls, StopIteration):
                return None
            raise
    slot = m.observe.type_lookup(iterator.cls, "__next__")
    if slot is ABSENT:
        raise m.error(TypeError, f"'{type_name(iterator.cls)}' object is not an iterator")
    try:
        return _call_slot(m, slot, iterator, [], link)
    except SymbolicRaise as signal:
        if issubclass(signal.value.cls, StopIteration):
            return None
        raise


def adopt(m: Machine, iterator: Obj) -> None:
    """Look into a real iterator; only the iterators of built-in containers can be."""
    if not ahead.stand(m.session, iterator):
        find_position(m, iterator)


def find_position(m: Machine, iterator: Obj) -> None:
    """Find out where a real iterator stands, whatever was read of it ahead."""
    taken = iterator.body.taken if type(iterator.body) is Ahead else 0
    peek = PEEKS.get(iterator.cls)
    if peek is None:
        raise GraphBreak("FL502", f"an iterator of class {iterator.cls.__name__} that exists already is advanced")
    peek(m, iterator)
    body = iterator.body
    if taken and (body.over if type(body) is SequenceIterator else body.container) is not None:
        m.journal.set_field(body, "index", body.index + taken)


PEEKS: dict[type, Any] = {}
"""iterator class -> peek(m, obj): fill the body of a real iterator, guarded"""


def unpack(m: Machine, value: Value, link: Any = None) -> list[Value]:
    """All items of an iterable."""
    quick = QUICK.get(value.cls)
    if quick is not None and type(value) is Obj:
        return quick(m, value)
    iterator = iterate(m, value)
    items = []
    while True:
        item = next_item(m, iterator)
        if item is None:
            return items
        items.append(item)
        if len(items) > MAX_ITEMS:
            raise GraphBreak("FL007", f"more than {MAX_ITEMS} items of one iterator")


MAX_ITEMS = 100_000


def _list_items(m: Machine, value: Obj) -> list[Value]:
    from frameloom.symbolic.layouts import list_

    return list(list_.items(m.session, value.body))


def _tuple_items(m: Machine, value: Obj) -> list[Value]:
    from frameloom.symbolic.layouts import tuple_

    return tuple_.items(m.session, value.body)


QUICK = {list: _list_items, tuple: _tuple_items}


# -- generators ------------------------------------------------------------------------------------------------------


def resume(m: Machine, generator: Obj, sent: Value, throw: SymbolicRaise | None = None) -> Value | None:
    """Run a generator to its next yield: the value yielded, or None when it returned (the value is in `frame.result`)."""
    body: GeneratorBody = generator.body
    if body.state == "closed":
        if throw is not None:
            raise throw
        return None
    if body.state == "running":
        raise m.error(ValueError, "generator already executing")
    session = m.session
    frame: Frame = body.frame
    state = body.state
    session.journal.record(_restore, generator, frame, frame.snapshot(), state, body.handled)
    if state == "created":
        if throw is None and not (type(sent) is Const and sent.value is None):
            raise m.error(TypeError, "can't send non-None value to a just-started generator")
    body.state = "running"
    caller = session.frame
    if caller is not None:
        caller.link = None
        frame.called_from = (caller.program, caller.index, caller.called_from)
    outer = session.handled
    if body.handled is not None:
        session.journal.set_field(session, "handled", body.handled)
    try:
        ended = _run(m, frame, state, sent, throw)
        body.handled = None if session.handled is outer else session.handled
    except SymbolicRaise as signal:
        body.state = "closed"
        raise _no_stop_iteration(m, signal) from None
    except (Suspend, GraphBreak):
        body.state = state
        raise
    finally:
        if session.handled is not outer:
            session.journal.set_field(session, "handled", outer)
    if ended is RETURN:
        body.state = "closed"
        return None
    body.state = "suspended"
    return frame.result


def _run(m: Machine, frame: Frame, state: str, sent: Value, throw: SymbolicRaise | None) -> Any:
    if throw is not None:
        if state == "created":
            raise throw
        return run_raising(m, frame, throw)
    if state == "suspended":
        frame.push(sent)
    return run(m.session, frame)


def run_raising(m: Machine, frame: Frame, throw: SymbolicRaise) -> Any:
    """Resume a frame by raising at its yield."""
    from frameloom.interpreter.exits import land

    frame.parent = m.session.frame
    frame.mark = m.session.mark()
    land_at = frame.program.handler_at(frame.index)
    if land_at is None:
        raise throw
    land(frame, throw)
    return run(m.session, frame)


def _restore(generator: Obj, frame: Frame, snapshot: tuple, state: str, handled: Value | None) -> None:
    frame.restore(snapshot)
    generator.body.state = state
    generator.body.handled = handled


def _no_stop_iteration(m: Machine, signal: SymbolicRaise) -> SymbolicRaise:
    """PEP 479: a StopIteration that leaves a generator becomes a RuntimeError."""
    if issubclass(signal.value.cls, StopIteration):
        made = m.error(RuntimeError, "generator raised StopIteration")
        m.journal.set_field(made.value.body, "cause", signal.value)
        m.journal.set_field(made.value.body, "context", signal.value)
        return made
    return signal


def would_run_code(generator: Obj) -> bool:
    """Whether dropping a generator runs code of its own: it is suspended under a handler that somebody wrote."""
    body: GeneratorBody = generator.body
    if body.state != "suspended":
        return False
    program, at = body.frame.program, body.frame.index
    while (handler := program.handler_at(at)) is not None:
        at = handler.target
        if not any(_begins(program, at, handler_) for handler_ in COMPILED_HANDLERS):
            return True
    return False


COMPILED_HANDLERS = (("CALL_INTRINSIC_1", "RERAISE"), ("CLEANUP_THROW",), ("COPY", "POP_EXCEPT", "RERAISE"))
"""The beginnings of handlers that the compiler adds by itself: to generators, to `yield from`, to the body of a handler."""


def _begins(program: Any, at: int, ops: tuple[str, ...]) -> bool:
    return tuple(instruction.op for instruction in program.instructions[at : at + len(ops)]) == ops


def dies_quietly(m: Machine, generator: Obj) -> bool:
    """Whether closing a suspended generator (PEP 342) does nothing but close it: every handler around its yield only asks
    whether GeneratorExit is of a class that it is not.  The generator is closed where the answer is yes."""
    if not _only_asks(generator.body.frame):
        return False
    session = m.session
    mark, before = session.mark(), (len(session.operations), len(session.nodes))
    caller, session.frame = session.frame, Frame(session, generator.body.frame.program, None, {})
    try:
        resume(m, generator, NONE, SymbolicRaise(session.alloc(GeneratorExit, ExceptionBody(m.tuple([])))))
    except SymbolicRaise as signal:
        if signal.value.cls is GeneratorExit and before == (len(session.operations), len(session.nodes)):
            return True
    except (GraphBreak, Suspend):
        pass
    finally:
        session.frame = caller
    session.rollback(mark)
    return False


def _only_asks(frame: Frame) -> bool:
    """Whether the handlers around a frame's yield are `except` clauses that raise again what they do not name."""
    program, at = frame.program, frame.index
    while (handler := program.handler_at(at)) is not None:
        at = handler.target
        if any(_begins(program, at, ops) for ops in COMPILED_HANDLERS):
            continue
        while program.instructions[at].op in CLAUSE_HEAD:
            op, arg = program.instructions[at][:2]
            at = arg if op == "POP_JUMP_IF_FALSE" else at + 1
        if program.instructions[at].op != "RERAISE":
            return False
    return True


CLAUSE_HEAD = frozenset(
    {"PUSH_EXC_INFO", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_ATTR", "BUILD_TUPLE", "CHECK_EXC_MATCH", "TO_BOOL", "POP_JUMP_IF_FALSE"}
)
"""Instructions by which an `except` clause finds out that it does not match."""


def generator_next(m: Machine, generator: Obj) -> Value | None:
    """`next` of a generator the trace made."""
    return resume(m, generator, NONE)


ITERATORS[types.GeneratorType] = generator_next


def result_of(generator: Obj) -> Value:
    """What a generator that just ended returned."""
    result = generator.body.frame.result
    return NONE if result is None else result


def is_node(value: Value) -> bool:
    return type(value) is Node
