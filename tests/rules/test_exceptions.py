"""Exceptions and generators."""

from __future__ import annotations

import contextlib
import gc
import sys

import pytest

from frameloom.symbolic.domain import Domain

from tests.differential.compiled import Compiled
from tests.rules.running import breaks, compared, reasons, whole


class Problem(Exception):
    """With an `__init__` of its own."""

    def __init__(self, code, text="none"):
        super().__init__(text)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {super().__str__()}"


class Plain(ValueError):
    pass


def construction():
    made = [ValueError(), KeyError("k"), Plain(1, 2), Problem(3), Problem(4, text="t"), Exception, StopIteration(5)]
    made += [AttributeError("a", name="n", obj=3), NameError("x", name="y"), ImportError("i", name="m"), SystemExit(2)]
    return made, made[6].value, made[7].name, made[7].obj, made[8].name, made[9].msg, made[9].name, made[10].code


def made_again():
    error = ImportError("first", name="n", path="p")
    error.__init__("second")
    other = AttributeError("first", name="n", obj=1)
    other.__init__("second", name="m")
    return error.name, error.path, error.msg, other.name, other.obj, other.args


def text():
    made = [ValueError(), ValueError("v"), ValueError(1, "2"), KeyError("k"), KeyError(1, 2), Problem(3, "p"), ImportError("i")]
    return [str(each) for each in made], [repr(each) for each in made], f"{made[1]}"


def keywords():
    try:
        ValueError(x=1)
    except TypeError as error:
        return error.args


def links():
    first, second = ValueError("first"), KeyError("second")
    first.__cause__ = second
    first.__context__ = first.__cause__
    first.extra = [1]
    first.args = (1, 2)
    second.__suppress_context__ = True
    second.add_note("note")
    return first, second.__notes__, first.__suppress_context__, first.__cause__ is second, first.__traceback__


def wrong_links():
    found = []
    for name, value in (("__cause__", 3), ("__context__", "x"), ("__traceback__", 1), ("args", 3)):
        try:
            setattr(ValueError(), name, value)
        except TypeError as error:
            found.append(error.args)
    return found


def contexts():
    try:
        try:
            raise ValueError("inner")
        except ValueError:
            raise KeyError("outer")
    except KeyError as error:
        first = error.__context__.args, error.__cause__, error.__suppress_context__
    try:
        try:
            raise ValueError("inner")
        except ValueError as cause:
            raise KeyError("outer") from cause
    except KeyError as error:
        return first, error.__cause__ is error.__context__, error.__suppress_context__


def handled_information():
    before = sys.exc_info(), sys.exception()
    try:
        raise Plain("x")
    except Plain as error:
        kind, value, traceback = sys.exc_info()
        inside = kind is Plain, value is error, traceback is error.__traceback__, sys.exception() is error
    return before, inside, sys.exc_info()


def tracebacks():
    try:
        raise Plain("x")
    except Plain as error:
        kept = error.__traceback__
        error.__traceback__ = kept
        again = error.with_traceback(kept) is error
        error.__traceback__ = None
        return again, error.__traceback__


def looking_into_a_traceback():
    try:
        raise Plain("x")
    except Plain as error:
        return error.__traceback__.tb_lineno > 0


def details():
    found = []
    for action in (lambda: int("x"), lambda: [][1], lambda: {}["k"], lambda: nothing, lambda: "a".nope, lambda: 1 / 0):
        try:
            action()
        except Exception as error:
            found.append((type(error), getattr(error, "name", None), error.args))
    return found


def nested_handlers(n):
    log = []
    for i in range(3):
        try:
            try:
                if i == n:
                    raise Plain(i)
                log.append(i)
            finally:
                log.append("finally")
        except Plain as error:
            log.append(error.args)
            continue
        else:
            log.append("else")
    return log


def leaves():
    raise Problem(7, text="leaves")


@pytest.mark.parametrize(
    "function",
    [construction, made_again, text, keywords, links, wrong_links, contexts, handled_information, tracebacks, details, leaves],
)
def test_exceptions(function):
    whole(function)


def test_nested_handlers():
    whole(nested_handlers, lambda: 1)


def test_tracebacks_break():
    breaks("FL005", looking_into_a_traceback)


# -- generators ------------------------------------------------------------------------------------------------------


def counting(log, n=3):
    try:
        for i in range(n):
            got = yield i
            log.append(got)
    except Plain as error:
        yield ("caught", error.args)
    finally:
        log.append("closed")
    return "result"


def protocol():
    log = []
    made = counting(log)
    found = [next(made), made.send("a"), made.throw(Plain("p")), made.gi_suspended, made.gi_running, made.__name__]
    made.close()
    found += [list(made), next(made, "over"), made.gi_frame, made.gi_code is counting.__code__]
    return found, log


def results():
    log = []
    made = counting(log, 1)
    next(made)
    try:
        made.send(None)
    except StopIteration as error:
        first = error.value, error.args
    try:
        next(made)
    except StopIteration as error:
        return first, error.value, error.args


def delegation():
    log = []

    def outer():
        result = yield from counting(log, 2)
        yield result
        yield from [7, 8]

    return [*outer()], log


def throwing_into_delegates():
    log = []

    def outer():
        try:
            yield from counting(log)
        except KeyError:
            log.append("outer")
            yield "handled"

    made = outer()
    found = [next(made), made.gi_yieldfrom is not None, made.throw(Plain(1))]
    try:
        found.append(made.throw(KeyError("k")))
    except KeyError:
        found.append("escaped")
    return found, log


def closing_delegates():
    log = []

    def outer():
        yield from counting(log)

    made = outer()
    next(made)
    made.close()
    return log


def unstarted():
    log = []
    made = counting(log)
    made.close()
    found = [list(made)]
    made = counting(log)
    try:
        made.throw(Plain("early"))
    except Plain as error:
        found.append(error.args)
    made = counting(log)
    try:
        made.send(1)
    except TypeError as error:
        found.append(error.args)
    return found, log


def stubborn():
    def ignores():
        try:
            yield
        except GeneratorExit:
            yield "again"

    made = ignores()
    next(made)
    try:
        made.close()
    except RuntimeError as error:
        return error.args


def stop_inside():
    def stops():
        yield 1
        raise StopIteration("inside")

    made = stops()
    next(made)
    try:
        next(made)
    except RuntimeError as error:
        return error.args, type(error.__cause__), error.__cause__.args


def closing_gives():
    def returning():
        try:
            yield
        except GeneratorExit:
            return 5

    made = returning()
    next(made)
    return made.close()


def by_class():
    log = []
    made = counting(log)
    next(made)
    return made.throw(Plain), list(made), log


def dropped():
    log = []
    made = counting(log)
    next(made)
    del made
    return log


def lazy_expressions(items):
    made = (x * 2 for x in items)
    first = next(made)
    items.append(9)
    return first, list(made), any(x > 5 for x in items), sum(x for x in items), tuple(made)


def escaping(items):
    made = (x + 1 for x in items)
    next(made)
    return made


def consumed(items):
    made = escaping(items)
    return list(made)


@pytest.mark.parametrize(
    "function",
    [
        protocol,
        results,
        delegation,
        throwing_into_delegates,
        closing_delegates,
        unstarted,
        stop_inside,
        closing_gives,
        by_class,
    ],
)
def test_generators(function):
    whole(function)


def test_generator_that_ignores_its_closing():
    whole(stubborn)


def test_generator_that_is_dropped_under_a_handler_breaks():
    compiler = Compiled(Domain(), replay=True)
    run = compiler.of(dropped)
    log = run()
    assert reasons(compiler)[0].startswith("FL503")
    compiler.captures.clear()  # they hold what the frame held
    gc.collect()
    assert log == run() == ["closed"]


@pytest.mark.parametrize("function", [lazy_expressions, consumed])
def test_generator_expressions(function):
    whole(function, lambda: [1, 2, 3])


# -- context managers ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def managed(log, swallow=()):
    log.append("in")
    try:
        yield log
    except swallow as error:
        log.append(error.args)
    finally:
        log.append("out")


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append((kind, value and value.args, traceback is None))
        return kind is Plain

    def close(self):
        self.log.append("close")


def with_blocks():
    log = []
    with managed(log) as given, Manager(log) as manager:
        log.append((given is log, manager.log is log))
    with managed(log, Plain), Manager(log):
        raise Plain("swallowed by the inner one")
    with managed(log, (Plain, KeyError)):
        raise KeyError("swallowed")
    try:
        with managed(log, Plain):
            raise ValueError("through")
    except ValueError as error:
        log.append((error.args, error.__context__))
    return log


def standard_managers():
    log = []
    with contextlib.suppress(KeyError, IndexError):
        {}["k"]
    with contextlib.nullcontext(4) as given:
        log.append(given)
    with contextlib.closing(Manager(log)):
        log.append("inside")
    return log


@managed([])
def decorated(x):
    return x + 1


def decorators():
    return decorated(1), decorated(2)


def returns_from_within():
    log = []

    def inner():
        with managed(log):
            return "value"

    return inner(), log


def replaced_inside():
    log = []
    try:
        with managed(log):
            try:
                raise Plain("first")
            except Plain:
                raise KeyError("second")
    except KeyError as error:
        return log, error.__context__.args


@pytest.mark.parametrize("function", [with_blocks, standard_managers, decorators, returns_from_within, replaced_inside])
def test_context_managers(function):
    whole(function)


def exit_stacks():
    log = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(managed(log, Plain))
        stack.callback(log.append, "callback")
        stack.push(Manager(log))
        log.append("body")
        raise Plain("p")
    return log


def test_exit_stacks():
    compared(exit_stacks, (), 2, tuple)


def substitutes(substitute):
    return substitute("x", "a-b"), substitute.__name__


def test_methods_of_patterns_are_c_functions_of_a_class_of_their_own():
    import re

    compared(substitutes, (lambda: re.compile("-").sub,), 2, tuple)


class Refusing(type):
    def __subclasscheck__(cls, other):
        raise AssertionError("asked")


class Refused(Exception, metaclass=Refusing):
    def __add__(self, other):
        return "left"


class RefusedToo(Refused):
    def __radd__(self, other):
        return "right"


def matches_by_bases():
    try:
        raise KeyError(1)
    except (Refused, Plain):
        return "refused"
    except KeyError:
        return "key", Refused() + RefusedToo(), Refused() + 1


def test_handlers_and_operators_ask_no_metaclass():
    whole(matches_by_bases)
