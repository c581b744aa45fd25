"""A million of everything: memory does not grow."""

import gc
import os
import resource
import sys
import weakref
from pathlib import Path

import pytest

from frameloom import native
from frameloom.native import SKIP, Callable, Engine, Entry, GuardProgram, Slot, Tail

# The address sanitizer keeps freed memory for a while: under it these only look for wrong accesses, in fewer rounds.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
MILLION = 20_000 if SANITIZED else 1_000_000


def resident():
    """Resident memory in KiB, now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def grows_less_than(kib, work, times):
    """Runs work(n) to warm up, then for real; both references and memory may not grow."""
    work(times // 20)
    gc.collect()
    before, blocks = resident(), sys.getallocatedblocks()
    work(times)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500
    assert SANITIZED or resident() - before < kib


def user(x, *rest, key=None, **names):
    return x


def plain_entry(x, key, rest, names):
    return x


def tail_entry(x, key, rest, names):
    return Tail(user_tail, x)


def user_tail(x):
    return [x]


def int_guard(value):
    return GuardProgram([("LOCAL", 0, 0, 0, 0), ("EQ_INT", 0, 0, 0, 1)], (value,))


def test_hits():
    f = Callable(user, Engine(lambda *_: Entry(plain_entry.__code__, int_guard(5))))

    def work(n):
        for _ in range(n):
            f(5, 1, 2, key=3, other=4)

    grows_less_than(2048, work, MILLION)


def test_tails():
    def compile(function, code, *_):
        return Entry(tail_entry.__code__) if code is user.__code__ else SKIP

    f = Callable(user, Engine(compile))

    def work(n):
        for _ in range(n):
            f([])

    grows_less_than(2048, work, MILLION // 2)


def test_misses():
    f = Callable(user, Engine(lambda *_: None))

    def work(n):
        for _ in range(n):
            f([], key=[])

    grows_less_than(2048, work, MILLION)


def test_failing_guards_and_exceptions():
    engine = Engine(lambda *_: None)
    engine.install(user.__code__, Entry(plain_entry.__code__, int_guard(5)))
    f = Callable(user, engine)

    def compile(*_):
        raise ValueError

    g = Callable(user, Engine(compile))

    def work(n):
        for _ in range(n):
            f(6)
            try:
                g([])
            except ValueError:
                pass

    grows_less_than(2048, work, MILLION // 4)


@pytest.mark.parametrize("how", ["reset", "invalidate", "engine"])
def test_entries_come_and_go(how):
    def make():
        return Engine(lambda *_: Entry(plain_entry.__code__, int_guard(5), ((Slot(), [1]),), ["info"]))

    def work(n):
        engine = make()
        for _ in range(n):
            f = Callable(user, engine)
            f(5)
            if how == "reset":
                native.reset()
            elif how == "invalidate":
                engine.entries(user.__code__)[0].invalidate()
            else:
                engine = make()

    grows_less_than(2048, work, MILLION // 5)


def test_code_objects_come_and_go():
    source = "def f(x):\n    return x\ndef g(x):\n    return x + 1"
    compiled = compile(source, "<leak>", "exec")
    engine = Engine(lambda function, code, *_: Entry(made["g"].__code__))
    made = {}

    def work(n):
        for _ in range(n):
            exec(compiled, made)
            for name in "fg":
                made[name] = type(made[name])(made[name].__code__.replace(co_firstlineno=2), made)
            assert Callable(made["f"], engine)(1) == 2
        made.clear()

    grows_less_than(2048, work, MILLION // 20)


def test_the_engine_dies_before_the_code_and_after():
    space = {}
    exec("def one(): return 1", space)
    one = space.pop("one")
    engine = Engine(lambda *_: Entry((lambda: 2).__code__))
    assert Callable(one, engine)() == 2
    (entry,) = engine.entries(one.__code__)
    died = weakref.ref(entry)
    del engine, entry
    gc.collect()
    assert died() is None and one() == 1
    engine = Engine(lambda *_: Entry((lambda: 3).__code__))
    assert Callable(one, engine)() == 3
    died = weakref.ref(engine.entries(one.__code__)[0])
    del one
    gc.collect()
    assert died() is None
    engine.reset()
