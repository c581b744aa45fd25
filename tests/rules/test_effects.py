"""print, logging and warnings: ordered effects of an entry."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import warnings

import pytest

from tests.rules.running import breaks, compared, reasons, whole

LOGGER = logging.getLogger("frameloom.test.effects")
LOGGER.setLevel(logging.INFO)
LOGGER.propagate = False
HANDLER = logging.StreamHandler(io.StringIO())
HANDLER.setFormatter(logging.Formatter("%(levelname)s %(funcName)s:%(lineno)d %(message)s"))
LOGGER.addHandler(HANDLER)


class Speaking:
    def __init__(self, log):
        self.log = log

    def __str__(self):
        self.log.append("asked")
        return "speaking"


@pytest.fixture
def written(monkeypatch):
    """What the program wrote since it was last asked."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    HANDLER.stream = io.StringIO()

    def take():
        found = stream.getvalue(), HANDLER.stream.getvalue()
        for each in (stream, HANDLER.stream):
            each.seek(0)
            each.truncate()
        return found

    return take


def printing(items):
    print("start", 1, 2.5, None)
    items.append(1)
    print(items, {"k": (1, [2])}, sep="-", end="!\n")
    items.append(2)
    print(items, flush=True)
    print()
    return items


def print_elsewhere():
    stream = io.StringIO
    print("x", file=None)
    return stream is io.StringIO


def print_an_object():
    log = []
    print(Speaking(log))
    return log


class Shouting(io.StringIO):
    def write(self, text):
        return super().write(text.upper())


def print_to_a_stream_of_the_program():
    print("quiet", file=SHOUTING)
    return SHOUTING.getvalue()


SHOUTING = Shouting()


def inner():
    LOGGER.info("from inside %s %d", "x", 3)


def logs():
    LOGGER.debug("not enabled %s", "x")
    inner()
    LOGGER.warning("plain")
    LOGGER.error("items %s", [1, 2])
    LOGGER.log(logging.CRITICAL, "two levels", stacklevel=1)
    return LOGGER.isEnabledFor(logging.DEBUG)


def logs_with_an_exception():
    try:
        raise ValueError("x")
    except ValueError:
        LOGGER.exception("caught")


def test_print(written):
    whole(printing, list, state=written)


def test_print_in_order_with_writes_to_an_existing_list(written):
    whole(printing, lambda: ["given"], state=written)


def test_print_to_none(written):
    whole(print_elsewhere, state=written)


def test_print_of_an_object(written):
    whole(print_an_object, state=written)


def test_print_to_a_stream_of_the_program_breaks():
    SHOUTING.seek(0)
    SHOUTING.truncate()
    compiler = compared(print_to_a_stream_of_the_program, (), 1, clear)
    assert reasons(compiler)[0].startswith("FL105")


def clear():
    SHOUTING.seek(0)
    SHOUTING.truncate()


def alone():
    """The test runner gives handlers of its own to every logger."""
    LOGGER.handlers[:] = [HANDLER]


def test_logging(written):
    alone()
    whole(logs, state=written)


def test_logging_with_a_handler_of_the_program_breaks(written):
    class Recorder(logging.Handler):
        def emit(self, record):
            records.append(record.getMessage())

    records = []
    handler = Recorder()
    LOGGER.addHandler(handler)
    try:
        breaks("FL105", logs, state=lambda: (written(), list(records), records.clear()))
    finally:
        LOGGER.removeHandler(handler)


def test_logging_notices_a_handler_added_later(written):
    alone()
    compiler = whole(logs, state=written)
    run = compiler.of(logs)
    other = logging.StreamHandler(io.StringIO())
    LOGGER.addHandler(other)
    try:
        run()
    finally:
        LOGGER.removeHandler(other)
    assert "plain" in other.stream.getvalue()


def test_exceptions_are_logged_by_running_code(written):
    compared(logs_with_an_exception, (), 1, tuple)


def warns():
    warnings.warn("careful")
    warned_from_inside()
    return 1


def warned_from_inside():
    warnings.warn("old", DeprecationWarning, stacklevel=2)


class Own(UserWarning):
    def __init__(self, text):
        super().__init__(text + "!")


def own_warning():
    warnings.warn("x", Own)


def caught():
    try:
        warnings.warn("an error")
    except UserWarning as error:
        return error.args


def seen_warnings(run):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        stream, sys.stderr = sys.stderr, io.StringIO()
        try:
            run(), run()
            return sys.stderr.getvalue()
        finally:
            sys.stderr = stream
            globals().pop("__warningregistry__", None)


def test_warnings():
    program = (
        "import sys; sys.path[:0] = {path!r}\n"
        "from tests.rules import test_effects as t\n"
        "from tests.rules.running import compared, reasons\n"
        "expected = t.seen_warnings(t.warns)\n"
        "assert 'careful' in expected and 'old' in expected and expected.count('test_effects.py') == 4, expected\n"
        "compiler = compared(t.warns, (), 1, tuple)\n"
        "assert reasons(compiler) == [], reasons(compiler)\n"
        "t.__dict__.pop('__warningregistry__', None)\n"
        "assert t.seen_warnings(compiler.of(t.warns)) == expected\n"
    )
    subprocess.run([sys.executable, "-c", program.format(path=sys.path)], check=True, capture_output=True, timeout=120)


def test_warning_with_code_of_its_own_breaks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        breaks("FL105", own_warning)


def test_warning_that_is_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        breaks("FL105", caught)
