"""What is being handled when a captured function is called is part of what it sees."""

from __future__ import annotations

import sys

import pytest

from frameloom.symbolic.domain import Domain

from tests.differential.compiled import Compiled
from tests.rules.running import compared, whole


def asked():
    return sys.exception(), sys.exc_info()[:2]


def caught():
    try:
        {}["missing"]
    except KeyError as error:
        return error.__context__, error.args


def raised_again():
    try:
        raise
    except BaseException as error:
        return type(error), error.__context__


def around():
    first = ValueError(1)
    try:
        try:
            raise first
        except ValueError:
            try:
                raise KeyError(2)
            except KeyError:
                raise first
    except ValueError as error:
        second = error.__context__
        return error is first, type(second), second.__context__


def in_callers(function):
    try:
        raise OSError("handled by the caller")
    except OSError:
        return function()


@pytest.mark.parametrize("function", [asked, caught, around])
def test_nothing_is_handled(function):
    whole(function)


@pytest.mark.parametrize("function", [asked, caught, raised_again, around])
def test_callers_handle_something(function):
    compiler = Compiled(Domain(), replay=True)
    run = compiler.of(function)
    for call in (lambda each: each(), in_callers, lambda each: each(), in_callers):
        assert repr(call(run)) == repr(call(function))
    assert not compiler.faults


def test_handlers_of_the_trace_hide_those_of_callers():
    compared(lambda: in_callers(raised_again), (), 2, tuple)


def fail():
    raise ValueError


def frame_of_a_traceback():
    try:
        fail()
    except ValueError as error:
        traceback = error.__traceback__
    return traceback.tb_frame is sys._getframe(), traceback.tb_next.tb_frame is traceback.tb_frame


def calls_what_asks():
    found = frame_of_a_traceback()
    return found, [str(each) for each in found]


@pytest.mark.parametrize("function", [frame_of_a_traceback, calls_what_asks])
def test_a_function_that_asks_for_its_frame_has_one(function):
    compared(function, (), 2, tuple)


def names_settrace():
    events = []
    sys.settrace(lambda frame, event, argument: events.append((event, frame.f_code.co_name)))
    one()
    sys.settrace(None)
    return events


def names_setprofile():
    events = []
    sys.setprofile(lambda frame, event, argument: events.append((event, frame.f_code.co_name)))
    one()
    sys.setprofile(None)
    return events


def one():
    return 1


def calls(function):
    return [str(event) for event in function()], function.__name__


@pytest.mark.parametrize("function", [names_settrace, names_setprofile])
def test_a_function_that_sets_a_tracer_does_not_begin_again(function):
    compared(calls, (lambda: function,), 2, tuple)
