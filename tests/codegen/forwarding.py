"""An interpreter that only forwards: it stops a function before instructions of choice and goes on by what codegen makes.

Every frame takes over from the one before it by a tail record, in plain Python.
"""
from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from frameloom.bytecode.decode import decode
from frameloom.bytecode.slots import read_slots
from frameloom.bytecode.verify import verify_code
from frameloom.codegen.exits import Runtime, break_code
from frameloom.codegen.resume import Shape, State, argument_slots, state_of
from tests.corpus import LOG

#: Asked for each tail record: whether the next frame stops before its first instruction too.
Stops = Callable[[State], bool]


class Tail(tuple):
    """A tail record: a function and its arguments; `caught` says whether an exception's traceback keeps the frame that left it."""

    caught = False

    def __new__(cls, function: Any, *arguments: Any) -> Tail:
        return tuple.__new__(cls, (function, *arguments))


def caught(function: Any, *arguments: Any) -> Tail:
    """A record of a frame that an exception's traceback keeps."""
    record = Tail(function, *arguments)
    record.caught = True
    return record


class Forwarding:
    """Runs functions, stopping where `stops` says. `steps` counts the tail records; `seen` has the states they led to."""

    def __init__(self, stops: Stops) -> None:
        self.stops = stops
        self.steps = 0
        self.seen: list[State] = []

    def run(self, function: FunctionType, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call `function` so."""
        _RUNNING.append(self)
        try:
            return trampoline(*self.begin(function, arguments, keywords))
        finally:
            _RUNNING.pop()

    def begin(self, function: FunctionType, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Tail:
        """The record that goes on with a call of `function` behind its prefix."""
        state, slots = start(function, arguments, keywords)
        return Tail(remade(self.stopping(state), function), *slots, ())

    def stopping(self, state: State) -> CodeType:
        """Code that runs one group of the user's code at `state`."""
        code = break_code(*state, RUNTIME)
        verified(code)
        return code

    def follow(self, function: FunctionType, arguments: list[Any]) -> tuple[FunctionType, list[Any]]:
        """What to run in the place of a tail record."""
        self.steps += 1
        state = state_of(function.__code__)
        assert state is not None, function
        verified(function.__code__)
        self.seen.append(state)
        if self.stops(state):
            function = remade(self.stopping(state), function)
        return function, arguments


_RUNNING: list[Forwarding] = []


def trampoline(function: Any, *arguments: Any) -> Any:
    """Call, and follow tail records to a result. A record may stand for function and arguments."""
    if type(function) is Tail:
        function, *arguments = function
    result = function(*arguments)
    while type(result) is Tail:
        function, *arguments = result
        del result
        function, arguments = _RUNNING[-1].follow(function, arguments)
        result = function(*arguments)
        del arguments
    return result


def enter(record: Tail) -> Any:
    """Make the call of a record, and give what comes, perhaps another record."""
    return record[0](*record[1:])


def go_on(items: tuple) -> Any:
    """The same for a tuple of a function and its arguments."""
    return trampoline(*items)


class Joint:
    """Codes that wait, by the code of the inner frame."""

    def __init__(self, make: Callable[[CodeType], CodeType | None]) -> None:
        self.make = make
        self.known: dict[int, CodeType | None] = {}

    def __call__(self, record: Tail) -> CodeType | None:
        inner = record[0].__code__
        if id(inner) not in self.known:
            self.known[id(inner)] = self.make(inner)
        return self.known[id(inner)]


RUNTIME = Runtime(Tail, caught, trampoline, enter, go_on, tuple, Joint)

_VERIFIED: dict[int, CodeType] = {}


def verified(code: CodeType) -> None:
    """Verify, once for each code object; keeps it, so that it is not made again."""
    if id(code) not in _VERIFIED:
        verify_code(code)
        _VERIFIED[id(code)] = code


def remade(code: CodeType, function: FunctionType) -> FunctionType:
    """A function like another, of another code."""
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def start(function: FunctionType, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[State, list[Any]]:
    """The state of a call of `function` behind its prefix, and what its slots hold there."""
    code = function.__code__
    bound = inspect.signature(function).bind(*arguments, **keywords)
    bound.apply_defaults()
    values = [bound.arguments[name] for name in _in_slot_order(bound.signature)]
    values += [None] * (argument_slots(code) - len(values))
    kinds = []
    for index, slot in enumerate(read_slots(code)[: len(values)]):
        if slot.kind == "cell":
            values[index] = CellType(values[index]) if slot.is_argument else CellType()
            kinds.append("cell")
        else:
            kinds.append("value" if slot.is_argument else "unbound")
    return State(code, decode(code).start, Shape((), tuple(kinds))), values


_KINDS = {inspect.Parameter.POSITIONAL_ONLY: 0, inspect.Parameter.POSITIONAL_OR_KEYWORD: 0, inspect.Parameter.KEYWORD_ONLY: 1}


def _in_slot_order(signature: inspect.Signature) -> list[str]:
    """Names of parameters as a frame has them: *args and **kwargs last."""
    return sorted(signature.parameters, key=lambda name: _KINDS.get(signature.parameters[name].kind, 2))


Outcome = dict[str, Any]


def outcome(function: FunctionType, run: Callable[[], Any]) -> Outcome:
    """All that a call shows: its result or its exception with the places in its traceback, and the log."""
    LOG.clear()
    try:
        found: Outcome = {"result": _plain(run())}
    except Exception as error:
        found = {"raised": _exception(error, function.__code__.co_filename)}
    return {**found, "log": _plain(list(LOG)), "handled": sys.exception()}


def _exception(error: BaseException | None, filename: str, depth: int = 0) -> Any:
    if error is None or depth > 3:
        return None
    places = []
    frames = traceback.walk_tb(error.__traceback__)
    for (frame, line), tb in zip(frames, _tracebacks(error)):
        if frame.f_code.co_filename == filename:
            positions = [*frame.f_code.co_positions()][tb.tb_lasti // 2]
            places.append((frame.f_code.co_name, frame.f_code.co_qualname, line, positions))
    parts = [_exception(part, filename, depth + 1) for part in getattr(error, "exceptions", ())]
    causes = [_exception(other, filename, depth + 1) for other in (error.__cause__, error.__context__)]
    return type(error), str(error), places, parts, causes, error.__suppress_context__


def _tracebacks(error: BaseException) -> Iterator[Any]:
    tb = error.__traceback__
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _plain(value: Any) -> Any:
    """A comparable form: objects without an equality of their own become their type and attributes."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return [(_plain(key), _plain(item)) for key, item in value.items()]
    if type(value).__eq__ is object.__eq__ and not isinstance(value, type) and not callable(value):
        return type(value), str(getattr(value, "__dict__", ""))
    return value
