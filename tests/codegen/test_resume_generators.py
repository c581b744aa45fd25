"""A generator rebuilt at any of its yields is the suspended generator."""
from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, GeneratorType
from typing import Any

import pytest

from frameloom.bytecode.decode import decode
from frameloom.bytecode.flow import analyse
from frameloom.bytecode.slots import read_slots
from frameloom.bytecode.verify import verify_code
from frameloom.codegen.resume import ResumeError, Shape, argument_slots, resume_code
from tests.corpus import LOG
from tests.corpus.odd import Manager, note


def plain(n):
    got = yield n
    note(got)
    got = yield got
    return got


def loops(n):
    for i in range(n):
        for j in "ab":
            note((yield i, j))
    else:
        yield "else"


def protected(n):
    try:
        yield n
        note("no error")
    except ValueError as error:
        got = yield type(error), type(sys.exception())
        note((got, type(sys.exception())))
        raise
    finally:
        yield type(sys.exception())
        note("finally")


def managed(n):
    with Manager("a", KeyError) as a:
        with Manager("b"):
            yield a.name
        yield "between"
    yield "after"


def sub(n):
    try:
        got = yield n
        while got:
            got = yield got
    except KeyError:
        yield "sub caught"
    return "sub done"


def delegating(n):
    result = yield from sub(n)
    note(result)
    yield from [result, n]
    return (yield from sub(1))


def closing_over(n):
    total = n
    add = lambda k: total + k
    while True:
        got = yield add(1)
        if got is None:
            return total
        total += got


def nested_expression(n):
    return [(yield n), {"k": (yield n + 1)}, f"{(yield n + 2)!r}"]


def unbound(n):
    if n > 100:
        late = n
    yield n
    late = (yield "bound")
    del late
    yield "gone"
    try:
        late
    except UnboundLocalError:
        yield "unbound"


def twice_handled(n):
    try:
        raise KeyError(n)
    except KeyError:
        try:
            raise ValueError(n)
        except ValueError as error:
            yield type(error.__context__), type(sys.exception())
        yield type(sys.exception())
        raise


@(lambda f: f)
def comprehending(n):
    yield [x for x in range(n)]
    xs = [y for y in range(n) if (yield_ := y)]
    yield xs, yield_


GENERATORS = [plain, loops, protected, managed, delegating, closing_over, nested_expression, unbound, twice_handled, comprehending]


def _stolen(generator: GeneratorType) -> tuple[CodeType, int, Shape, list[Any]]:
    """A suspended generator's state, read off its frame: code, index, shape, and the arguments of a resume function."""
    code = generator.gi_code
    program = decode(code)
    index = _resume_index(code, generator.gi_frame.f_lasti)
    state = analyse(program)[index]
    assert state is not None
    stack = state.stack[:-1]  # without what is sent
    cells = {slot.name for slot in read_slots(code) if slot.kind != "local"}
    frame_locals = generator.gi_frame.f_locals
    bound = ["cell" if slot.name in cells else "value" if slot.name in frame_locals else "unbound" for slot in read_slots(code)]
    held = gc.get_referents(generator)
    held = held[max(place for place, item in enumerate(held) if item is code) + 1 :]
    slots = [None if kind == "unbound" else held.pop(0) for kind in bound]
    items = []
    for kind in stack:
        if kind != "null":
            items.append((kind, held.pop(0)))
    handled = [item for kind, item in items if kind == "previous"][1:] + held[-1:]
    objects = []
    for kind, item in items:
        if kind == "previous":
            objects.append(handled.pop(0))
        elif kind == "value":
            objects.append(item)
    shape = Shape(tuple(("lasti", item) if isinstance(kind, tuple) else kind for kind, item in _with_items(stack, items)), tuple(bound))
    return code, index, shape, [*slots[: argument_slots(code)], tuple(objects)]


def _resume_index(code: CodeType, lasti: int) -> int:
    """The RESUME behind the yield at which a frame is suspended; 3.13 names it by f_lasti, earlier versions the yield."""
    program = decode(code)
    index = program.index_at(lasti)
    return index if program.instructions[index].op == "RESUME" else index + 1


def _with_items(stack, items):
    items = iter(items)
    for kind in stack:
        yield (kind, None) if kind == "null" else next(items)


def _rebuilt(function: FunctionType, generator: GeneratorType) -> GeneratorType:
    code, index, shape, arguments = _stolen(generator)
    made = resume_code(code, index, shape)
    verify_code(made)
    rebuilt = FunctionType(made, function.__globals__, function.__name__, None, function.__closure__)(*arguments)
    assert inspect.getgeneratorstate(rebuilt) == inspect.GEN_CREATED
    assert next(rebuilt) is None
    return rebuilt


def _tried(action: Callable[[GeneratorType], Any], generator: GeneratorType) -> Any:
    try:
        return action(generator)
    except BaseException as error:
        code, lines = generator.gi_code, []
        tb = error.__traceback__
        while tb is not None:
            if tb.tb_frame.f_code.co_filename == __file__ and tb.tb_frame.f_code.co_name not in ("_tried", "<lambda>"):
                lines.append((tb.tb_frame.f_code.co_qualname, tb.tb_lineno))
            tb = tb.tb_next
        return type(error), str(error), type(error.__context__), lines, code.co_name


def _seen(generator: GeneratorType) -> Any:
    frame = generator.gi_frame
    return (
        inspect.getgeneratorstate(generator),
        generator.__name__,
        generator.__qualname__,
        type(generator.gi_yieldfrom),
        frame and (frame.f_lineno, dict(frame.f_locals).keys()),
    )


ACTIONS: dict[str, Callable[[GeneratorType], Any]] = {
    "next": next,
    "send": lambda generator: generator.send("sent"),
    "send a number": lambda generator: generator.send(5),
    "throw": lambda generator: generator.throw(ValueError("thrown")),
    "throw a KeyError": lambda generator: generator.throw(KeyError("thrown")),
    "throw a StopIteration": lambda generator: generator.throw(StopIteration("thrown")),
    "close": lambda generator: generator.close(),
}


def _advanced(function: FunctionType, steps: tuple[str, ...]) -> GeneratorType | None:
    generator = function(2)
    next(generator)
    for step in steps:
        if isinstance(_tried(ACTIONS[step], generator), tuple) and generator.gi_frame is None:
            return None
    return generator if generator.gi_frame is not None else None


STEPS = [(), ("next",), ("send",), ("throw",), ("throw a KeyError",), ("send", "next"), ("throw", "send"), ("next",) * 3, ("send a number",) * 2]


@pytest.mark.parametrize("function", GENERATORS, ids=lambda function: function.__name__)
def test_rebuilt_generators(function: FunctionType) -> None:
    compared = 0
    for steps in STEPS:
        for action in ACTIONS.values():
            original, source = _advanced(function, steps), _advanced(function, steps)
            if original is None or source is None:
                continue
            rebuilt = _rebuilt(function, source)
            assert _seen(rebuilt) == _seen(original)
            histories = []
            for generator in (original, rebuilt):
                LOG.clear()
                history = [_tried(action, generator), _seen(generator)]
                for _ in range(3):
                    history += [_tried(next, generator), _seen(generator)]
                histories.append((history, list(LOG)))
            for generator in (original, rebuilt, source):
                _tried(list, generator)
            assert histories[1] == histories[0], f"after {steps}"
            compared += 1
    assert compared >= len(ACTIONS)


async def _coroutine(n):
    got = await _Await()
    return got, n


class _Await:
    def __await__(self):
        got = yield "awaited"
        return got


def test_rebuilt_coroutine() -> None:
    source = _coroutine(3)
    assert source.send(None) == "awaited"
    index = _resume_index(_coroutine.__code__, source.cr_frame.f_lasti)
    made = resume_code(_coroutine.__code__, index, Shape(("value",), ("value", "unbound")))
    rebuilt = FunctionType(made, globals())(3, None, (source.cr_await,))
    assert rebuilt.send(None) is None
    assert rebuilt.cr_await is source.cr_await
    with pytest.raises(StopIteration) as stop:
        rebuilt.send("answer")
    assert stop.value.value == ("answer", 3)
    source.close()


async def _asynchronous(n):
    yield n


def test_only_yields_are_points_of_generators() -> None:
    program = decode(plain.__code__)
    with pytest.raises(ResumeError, match="not suspended"):
        resume_code(plain.__code__, program.start, Shape((), ("value", "unbound")))
    program = decode(_asynchronous.__code__)
    index = max(i for i, instruction in enumerate(program.instructions) if instruction.op == "RESUME")
    with pytest.raises(ResumeError, match="asynchronous"):
        resume_code(_asynchronous.__code__, index, Shape((), ("value",)))
