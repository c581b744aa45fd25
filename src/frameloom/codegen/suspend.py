"""The exit by a graph break: the root's slots and stack are restored, the frames below it made ready, and the original
instructions take over (`docs/design/resume.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.flow import PREVIOUS, VALUE
from frameloom.codegen import kinds
from frameloom.codegen.bridge import bridge_code, emit_bridge
from frameloom.codegen.build import Builder
from frameloom.codegen.exits import break_code, emit_break
from frameloom.codegen.plan import FrameState
from frameloom.codegen.resume import Shape, argument_slots, users_code
from frameloom.symbolic import values
from frameloom.symbolic.values import Value


def emit_suspension(build: Builder, frames: Sequence[FrameState], runtime: Any) -> None:
    """Emit the end of an entry that suspends `frames`, outermost first; no path leads behind what is emitted."""
    root, inner = frames[0], frames[1:]
    out = build.out
    shape = shape_of(root)
    with out.at(root.program.instructions[root.index].position):
        _restore_slots(build, root)
        _push_stack(build, root, shape)
        if inner:
            _push_waiting(build, root, inner, runtime)
        build.drop_temporaries()
        out.begin_call(runtime.open_scope)
        out.end_call(0)
        out.pop_top()
    if inner:
        emit_bridge(out, root.program, root.index, shape, root.link.kind, runtime, root.joined)
    else:
        emit_break(out, root.program, root.index, shape, runtime)


def shape_of(frame: FrameState) -> Shape:
    """What the frame's slots and stack hold, by kind."""
    return kinds.shape_of(frame.program, frame.index, frame.slots, frame.stack)


# -- the root ----------------------------------------------------------------------------------------------------------


def _restore_slots(build: Builder, root: FrameState) -> None:
    """Make the slots hold what the user's would.  What is still to be loaded from a slot that changes is moved out first."""
    out = build.out
    changed = [
        (index, value)
        for index, (slot, value) in enumerate(zip(root.program.slots, root.slots))
        if slot.kind != "free" and not _is_there(slot, value)
    ]
    for index, _ in changed:
        build.hold_local(root.program.slots[index].name)
    for index, value in changed:
        if value is not values.UNBOUND:
            build.load(value)
            out.store_fast(index)
        elif root.program.slots[index].is_argument:
            out.delete_fast(index)


def _is_there(slot: Any, value: Value) -> bool:
    """Whether the slot has had this value since entry."""
    if not slot.is_argument:
        return value is values.UNBOUND
    source = getattr(value, "source", None)
    return source is not None and source.base is None and source.step == "local" and source.key == slot.name


def _push_stack(build: Builder, root: FrameState, shape: Shape) -> None:
    out = build.out
    handled = iter(root.handled)
    for value, kind in zip(root.stack, shape.stack):
        if kind == PREVIOUS:
            build.load_handled(next(handled))
            out.op("PUSH_EXC_INFO")
            out.pop_top()
        elif isinstance(kind, tuple):
            _push_offset(build, root, kind[1])
        else:
            build.load(value)


def _push_offset(build: Builder, root: FrameState, unit: int) -> None:
    """Push the offset of an instruction of this code that stands where the user's raising instruction does: tracebacks look up
    the line there."""
    out = build.out
    label, over = Label(), Label()
    raising = root.program.index_at(2 * unit)
    with out.at(root.program.instructions[raising].position):
        out.jump(over)
        out.place(label)
        out.op("NOP")
        out.place(over)
    out.load_offset(label)


# -- the frames below --------------------------------------------------------------------------------------------------


def _push_waiting(build: Builder, frame: FrameState, inner: Sequence[FrameState], runtime: Any) -> None:
    """Push what a frame that waits needs beyond its stack: the values that its link wants, and the call of the next inner
    frame."""
    for value in frame.link.values:
        build.load(value)
    _push_call(build, inner, runtime)


def _push_call(build: Builder, frames: Sequence[FrameState], runtime: Any) -> None:
    """Push the tail record of a function that goes on with the first of `frames`, and its arguments."""
    frame, inner = frames[0], frames[1:]
    out = build.out
    shape = shape_of(frame)
    code = frame.program.code
    if inner:
        made = bridge_code(code, frame.index, shape, frame.link.kind, runtime, frame.joined)
    else:
        made = break_code(code, frame.index, shape, runtime)
    out.begin_call(runtime.tail)
    build.push_function(frame.program, frame.slots, frame.globals, made)
    count = argument_slots(users_code(code))
    for value in frame.slots[:count]:
        build.load(values.NONE if value is values.UNBOUND else value)
    _push_state(build, frame, shape, inner, runtime)
    out.end_call(count + 2)


def _push_state(build: Builder, frame: FrameState, shape: Shape, inner: Sequence[FrameState], runtime: Any) -> None:
    """Push the tuple of the frame's stack, and of what it waits for."""
    handled = iter(frame.handled)
    count = 0
    for value, kind in zip(frame.stack, shape.stack):
        if kind in (VALUE, PREVIOUS):
            build.load_handled(next(handled)) if kind == PREVIOUS else build.load(value)
            count += 1
    if inner:
        _push_waiting(build, frame, inner, runtime)
        count += len(frame.link.values) + 1
    build.out.build_tuple(count)
