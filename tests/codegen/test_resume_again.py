"""Resume functions are stopped and resumed themselves, in terms of their own code, and never nest."""
from __future__ import annotations

import gc
import weakref
from types import CodeType, FunctionType
from typing import Any

import pytest

from frameloom.bytecode.assemble import Label
from frameloom.bytecode.decode import decode
from frameloom.bytecode.emitter import Emitter
from frameloom.codegen.exits import emit_break
from frameloom.codegen.resume import HIDDEN, ResumeError, Shape, origin_of, resume_code, state_of
from tests.codegen.forwarding import RUNTIME, Forwarding, outcome, remade, start, verified
from tests.corpus import Case, load

CASES = load()


class Recaptured(Forwarding):
    """Stops everywhere, by entries made for the resume code rather than for the user's."""

    def __init__(self) -> None:
        super().__init__(lambda state: True)
        self.entries: dict[int, CodeType] = {}

    def follow(self, function: FunctionType, arguments: list[Any]) -> tuple[FunctionType, list[Any]]:
        self.steps += 1
        code = function.__code__
        if id(code) not in self.entries:
            verified(code)
            self.entries[id(code)] = _entry(code)
            verified(self.entries[id(code)])
        return remade(self.entries[id(code)], function), arguments


def _entry(code: CodeType) -> CodeType:
    """Code with the resume code's own slots that does its prologue, and stops before its first instruction of the user's."""
    state, origin, program = state_of(code), origin_of(code), decode(code)
    assert state is not None and origin is not None
    index = origin.indices.index(state.index)
    out = Emitter(code)
    out.prefix()
    stack, taken = [], 0
    for kind in state.shape.stack:
        if kind in ("value", "previous"):
            out.load_fast(HIDDEN)
            out.load_const(taken)
            out.load_subscript()
            taken += 1
        if kind == "null":
            out.push_null()
        elif kind == "previous":
            out.op("PUSH_EXC_INFO")
            out.pop_top()
        elif isinstance(kind, tuple):
            unit = _there(code, kind[1])
            out.load_offset(_nowhere(out))
            kind = ("lasti", unit)
        stack.append(kind)
    out.delete_fast(HIDDEN)
    for slot, kind in enumerate(state.shape.slots):
        if kind == "unbound":
            out.delete_fast(slot)
    emit_break(out, program, index, Shape(tuple(stack), (*state.shape.slots, "unbound")), RUNTIME)
    return out.finish().code


def _there(code: CodeType, unit: int) -> int:
    """The code unit, in a resume code, of the copy of the user's group at a code unit."""
    origin = origin_of(code)
    assert origin is not None
    index = origin.indices.index(decode(origin.code).index_at(2 * unit))
    return decode(code).group_of(index).offset // 2


def _nowhere(out: Emitter) -> Label:
    label, over = Label(), Label()
    out.jump(over)
    out.place(label)
    out.op("NOP")
    out.place(over)
    return label


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_stopping_resume_functions(case: Case) -> None:
    for make in case.calls:
        arguments, keywords = make()
        expected = outcome(case.function, lambda: case.function(*arguments, **keywords))
        recaptured = Recaptured()
        assert outcome(case.function, lambda: recaptured.run(case.function, *make())) == expected


def _counted(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_a_resume_code_is_made_once_and_goes_on_with_the_users_code() -> None:
    program = decode(_counted.__code__)
    index = next(i for i, instruction in enumerate(program.instructions) if instruction.op == "FOR_ITER")
    shape = Shape(("value",), ("value", "value", "unbound"))
    made = resume_code(_counted.__code__, index, shape)
    assert resume_code(_counted.__code__, index, shape) is made
    assert state_of(made) == (_counted.__code__, index, shape)
    origin = origin_of(made)
    assert origin is not None and origin.code is _counted.__code__
    assert origin_of(_counted.__code__) is None
    copy = decode(made)
    for at, there in enumerate(origin.indices):
        if there is not None:
            assert copy.instructions[at].op == program.instructions[there].op
            assert copy.instructions[at].position == program.instructions[there].position
    again = resume_code(made, origin.indices.index(index), Shape(("value",), ("value", "value", "unbound", "unbound")))
    assert again is made
    assert FunctionType(made, {})(5, 10, None, (iter([1, 2]),)) == 13


def test_equal_code_objects_are_told_apart() -> None:
    one, other = (eval("lambda x: (x, 1)").__code__ for _ in range(2))
    assert one == other and one is not other
    shape = Shape((), ("value",))
    assert resume_code(one, decode(one).start, shape) is not resume_code(other, decode(other).start, shape)


def test_nothing_is_kept_alive() -> None:
    function = eval("lambda x: (x, 1)")
    made = resume_code(function.__code__, decode(function.__code__).start, Shape((), ("value",)))
    code, resume = weakref.ref(function.__code__), weakref.ref(made)
    del made
    assert resume() is None
    assert code() is not None
    del function
    gc.collect()
    assert code() is None


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (0, Shape((), ("value",))),
        (0, Shape((("lasti", 10_000),), ("value", "value", "value"))),
        (0, Shape(("odd",), ("value", "value", "value"))),
    ],
)
def test_impossible_states_are_refused(index: int, shape: Shape) -> None:
    start_index = decode(_counted.__code__).start
    with pytest.raises(ResumeError):
        resume_code(_counted.__code__, start_index + index, shape)


def test_inside_a_group_nothing_can_stop() -> None:
    program = decode(_counted.__code__)
    inside = next(group.first + 1 for group in program.groups if group.count > 1)
    with pytest.raises(ResumeError, match="inside a group"):
        resume_code(_counted.__code__, inside, Shape((), ("value", "value", "value")))


class Watched:
    pass


class Failure(Exception):
    pass


def _lets_go():
    held = Watched()
    reference = weakref.ref(held)
    try:
        raise Failure(held)
    except Failure as error:
        caught = weakref.ref(error)
        del held
        gone_early = reference() is None
    return gone_early, reference() is None, caught() is None


def test_dead_frames_keep_nothing() -> None:
    gc.disable()
    try:
        expected = _lets_go()
        forwarding = Forwarding(lambda state: True)
        assert forwarding.run(_lets_go, (), {}) == expected == (False, True, True)
    finally:
        gc.enable()


def _outside(x):
    return sorted(locals()), (lambda: x)


def test_locals_show_the_users_names_only() -> None:
    state, slots = start(_outside, (1,), {})
    names, get = Forwarding(lambda state: True).run(_outside, (1,), {})
    assert names == ["x"] and get() == 1
