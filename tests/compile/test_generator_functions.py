"""Generators, coroutines and asynchronous generators that are compiled themselves: they are what the user's are, and what they call
is captured in every section, from where they go on to where they stop."""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import threading
import traceback
import types
import weakref

import pytest

from frameloom import native
from frameloom.codegen.sections import code_in_sections
from frameloom.compile import callables
from frameloom.compile.hook import Settings
from frameloom.symbolic.domain import Domain

CAPTURED: list = []


@pytest.fixture(autouse=True)
def _fresh():
    CAPTURED.clear()
    yield
    assert not native.hook_is_in() and native.state() == "idle" and not native.in_compiled()


def compiled(function):
    return callables.compiled(function, Settings(Domain(), replay=True, on_capture=CAPTURED.append))


def names():
    return [capture.trace.program.code.co_name for capture in CAPTURED]


def double(x):
    return x * 2


def failing(x):
    raise KeyError(x)


# -- generators ------------------------------------------------------------------------------------------------------


def counting(n, *rest, step=1, **named):
    for i in range(n):
        yield double(i), rest, step, named
    return "done"


def echo(x):
    got = []
    while len(got) < 3:
        got.append((yield double(len(got)), sys.exc_info()[0]))
    return got


def handling(x):
    log = []
    while True:
        try:
            log.append((yield double(x)))
        except ValueError as error:
            log.append((str(error), sys.exc_info()[0].__name__))
            yield double(10), list(log)
        except GeneratorExit:
            double(5)
            raise
        finally:
            log.append("finally")


def delegating(x):
    inner = counting(2)
    found = yield from inner
    other = yield from [double(x), 7]
    return found, other


def raising(x):
    yield double(x)
    failing(x)


def stopping(x):
    yield double(x)
    raise StopIteration(x)


def comprehending(x):
    for row in [[double(k) for k in range(x)] for _ in range(2)]:
        yield from row
    yield {k: double(k) for k in range(2)}, sorted(name for name in locals())


def closing_over(x):
    cell = x

    def inner(y):
        nonlocal cell
        cell += y
        return cell

    yield inner(1)
    yield inner(2), cell
    del x
    yield sorted(locals())


def everything(generator):
    """All that a consumer can see of a generator as it goes on."""
    seen = [type(generator), generator.__name__, generator.__qualname__, inspect.getgeneratorstate(generator), generator.gi_yieldfrom]
    try:
        while True:
            seen.append((next(generator), inspect.getgeneratorstate(generator), generator.gi_frame.f_lineno))
            seen.append((type(generator.gi_yieldfrom), sorted(generator.gi_frame.f_locals)))
    except BaseException as error:
        seen.append(told(error))
    return [*seen, generator.gi_frame, inspect.getgeneratorstate(generator)]


def told(error):
    """An exception with its lines, those of this file's consumers left out."""
    lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    return type(error), error.args, [line for line in lines if line[0] not in CONSUMERS], error.__cause__ and told(error.__cause__)


def sent(generator):
    seen = [next(generator)]
    try:
        for value in ("a", "b", "c", "d"):
            seen.append(generator.send(value))
    except StopIteration as error:
        seen.append(error.value)
    return seen


def thrown(generator):
    seen = [next(generator), generator.send(3), generator.throw(ValueError("v")), next(generator), next(generator)]
    generator.close()
    return seen, generator.gi_frame


def thrown_before_the_start(generator):
    with pytest.raises(KeyError) as caught:
        generator.throw(KeyError("early"))
    return told(caught.value), generator.gi_frame, list(generator)


def stopped_before_the_start(generator):
    try:
        generator.throw(StopIteration("early"))
    except BaseException as error:
        return told(error)


def thrown_through(generator):
    seen = [next(generator)]
    try:
        generator.throw(KeyError("k"))
    except KeyError as error:
        seen.append(told(error))
    return seen, list(generator)


def left(generator):
    seen = [next(generator)]
    gone = weakref.ref(generator)
    del generator
    gc.collect()
    return seen, gone()


CONSUMERS = {consumer.__name__ for consumer in (everything, sent, thrown, thrown_before_the_start, stopped_before_the_start, thrown_through)}


@pytest.mark.parametrize("function, arguments, consume", [
    (counting, (3, 8), everything),
    (counting, (2,), sent),
    (echo, (0,), sent),
    (echo, (0,), everything),
    (handling, (1,), thrown),
    (handling, (1,), thrown_through),
    (delegating, (4,), everything),
    (delegating, (4,), thrown_through),
    (raising, (4,), everything),
    (stopping, (4,), everything),
    (comprehending, (2,), everything),
    (closing_over, (2,), everything),
    (counting, (2,), thrown_before_the_start),
    (counting, (2,), stopped_before_the_start),
    (counting, (2,), left),
])
def test_generators_are_what_they_are(function, arguments, consume):
    expected = consume(function(*arguments))
    call = compiled(function)
    for _ in range(2):
        found = consume(call(*arguments))
        assert found == expected


def test_arguments_are_bound_as_the_function_binds_them():
    call = compiled(counting)
    assert list(call(1, 2, 3, step=4, other=5)) == [(0, (2, 3), 4, {"other": 5})]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        call()
    counting.__kwdefaults__["step"] = 9
    try:
        assert list(call(1)) == [(0, (), 9, {})]
    finally:
        counting.__kwdefaults__["step"] = 1


def test_what_every_section_calls_is_captured():
    assert sent(compiled(echo)(0))[:3] == [(0, None), (2, None), (4, None)]
    assert set(names()) == {"double"}


def test_a_section_behind_a_handler_is_captured():
    generator = compiled(handling)(1)
    next(generator)
    generator.throw(ValueError("v"))
    assert set(names()) == {"double"}
    assert native.state() == "idle"
    next(generator)
    assert CAPTURED
    generator.close()


def test_another_code_is_called_as_it_is():
    def first():
        yield double(1)

    def second():
        yield double(2), 0

    call = compiled(first)
    first.__code__ = second.__code__
    assert list(call()) == [(4, 0)]


def test_names_that_the_program_gave():
    def made():
        yield double(1)

    call = compiled(made)
    made.__name__, made.__qualname__ = "other", "a.other"
    generator = call()
    assert (generator.__name__, generator.__qualname__) == ("other", "a.other")
    assert list(generator) == [2]


def test_generators_that_run_inside_each_other():
    outer_call = inner_call = None

    def inner(n):
        for i in range(n):
            yield double(i)

    def outer(n):
        for value in inner_call(n):
            yield double(value)

    inner_call, outer_call = compiled(inner), compiled(outer)
    assert list(zip(outer_call(3), inner_call(3))) == [(0, 0), (4, 2), (8, 4)]


def test_a_generator_that_goes_on_in_another_thread():
    generator = compiled(echo)(0)
    seen = [next(generator)]
    thread = threading.Thread(target=lambda: seen.append((generator.send(1), native.state())))
    thread.start()
    thread.join()
    assert seen == [(0, None), ((2, None), "idle")]


def test_a_tracer_sees_the_lines_of_the_user():
    def lines(make):
        seen = []

        def tracer(frame, event, argument):
            if frame.f_code.co_name == "closing_over":
                seen.append((event, frame.f_lineno))
            return tracer

        sys.settrace(tracer)
        try:
            list(make(2))
        finally:
            sys.settrace(None)
        return seen

    assert lines(compiled(closing_over)) == lines(closing_over)


def test_a_compiler_that_is_gone():
    function = types.FunctionType(echo.__code__.replace(), globals(), "echo")
    generator = compiled(function)(0)
    assert next(generator) == (0, None)
    gc.collect()
    assert generator.send(1) == (2, None)


def test_the_copy_has_what_the_user_sees():
    copy = code_in_sections(counting.__code__, None, native.open_section, native.close_section)
    for name in ("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_flags", "co_varnames", "co_cellvars", "co_freevars",
                 "co_argcount", "co_kwonlyargcount"):
        assert getattr(copy, name) == getattr(counting.__code__, name)


# -- coroutines and asynchronous generators --------------------------------------------------------------------------


class Manager:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return double(3)

    async def __aexit__(self, *raised):
        await asyncio.sleep(0)
        return raised[0] is KeyError


async def numbers(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            got = yield double(i)
            if got:
                yield got
    finally:
        await asyncio.sleep(0)
        double(n)


async def working(x):
    async with Manager() as entered:
        x += entered
        failing(x)
    listed = [value async for value in numbers(3)]
    several = await asyncio.gather(double_later(1), double_later(2))
    return x, listed, several, double(x)


async def double_later(x):
    await asyncio.sleep(0)
    return double(x)


async def failing_later(x):
    await double_later(x)
    failing(x)


@types.coroutine
def old_style(x):
    yield
    return double(x)


def run(make):
    try:
        return asyncio.run(make())
    except KeyError as error:
        lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        return error.args, [line for line in lines if line[0].startswith("failing")]


async def consumed(make):
    made = make(3)
    seen = [type(made), made.__name__, await anext(made), await made.asend(9), await anext(made)]
    await made.aclose()
    return [*seen, [value async for value in made]]


async def thrown_later(make):
    made = make(3)
    seen = [await anext(made)]
    try:
        await made.athrow(KeyError("k"))
    except KeyError as error:
        seen.append(error.args)
    return seen


@pytest.mark.parametrize("function", [working, double_later, failing_later])
def test_coroutines_are_what_they_are(function):
    call = compiled(function)
    assert run(lambda: call(2)) == run(lambda: function(2))
    assert "double" in names()


@pytest.mark.parametrize("consume", [consumed, thrown_later])
def test_asynchronous_generators_are_what_they_are(consume):
    call = compiled(numbers)
    assert run(lambda: consume(call)) == run(lambda: consume(numbers))
    assert "double" in names()


def test_old_coroutines_are_what_they_are():
    async def waits(make):
        return await make(4)

    call = compiled(old_style)
    assert run(lambda: waits(call)) == run(lambda: waits(old_style)) == 8
    assert set(names()) == {"double"}


def test_tasks_that_take_turns():
    call = compiled(double_later)

    async def many():
        return await asyncio.gather(*[call(n) for n in range(20)])

    assert run(many) == [double(n) for n in range(20)]
    assert set(names()) == {"double"}
