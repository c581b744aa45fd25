"""Frames, entries and tail records, with entries written by hand as plain functions."""

import gc
import sys
import threading
import traceback
import types
import warnings
import weakref

import pytest

from frameloom import native
from frameloom.native import SKIP, SKIP_BELOW, Callable, Engine, Entry, Slot, Tail


class Thing:
    """Something with a weak reference."""


def stand_in(entry, name="user"):
    """A function that must not run: it has the parameters and the closure of the entry made for it."""
    code = entry.__code__
    space = {}
    exec(f"def {name}({', '.join(code.co_varnames[:code.co_argcount])}): raise AssertionError('it ran')", space)
    code = space[name].__code__.replace(co_freevars=code.co_freevars)
    return types.FunctionType(code, globals(), name, None, entry.__closure__)


class Compiler:
    """An engine whose entries are functions given beforehand, by the code they stand for."""

    def __init__(self, entries=None, otherwise=None, keep=False):
        self.keep = keep
        self.entries = {function.__code__: entry for function, entry in (entries or {}).items()}
        self.otherwise = otherwise
        self.asked = []
        self.notices = []
        self.engine = Engine(self.compile, self.notices.append)

    def compile(self, function, code, arguments, misses):
        self.asked.append((function.__name__, arguments if self.keep else len(arguments), misses))
        entry = self.entries.get(code, self.otherwise)
        if callable(entry):
            entry = Entry(entry.__code__)
        return entry

    def names(self):
        return [name for name, _, _ in self.asked]

    def __call__(self, function):
        return Callable(function, self.engine)


def test_entry_runs_in_place_of_the_function():
    def user(a, b=2, *rest, c, d=4, **names):
        raise AssertionError("the user's code must not run")

    def entry(a, b, c, d, rest, names):
        return a, b, c, d, rest, names

    compiler = Compiler({user: entry}, keep=True)
    f = compiler(user)
    assert f(1, c=3) == (1, 2, 3, 4, (), {})
    assert f(1, 5, 6, 7, c=3, z=1) == (1, 5, 3, 4, (6, 7), {"z": 1})
    assert compiler.asked == [("user", (1, 2, 3, 4, (), {}), ())]
    assert compiler.engine.counters()["hits"] == 1
    assert compiler.engine.counters()["captures"] == 1
    (made,) = compiler.engine.entries(user.__code__)
    assert made.hits == 2 and made.listed


def test_longer_and_shorter_entries():
    def user(a):
        return None

    def longer(a):
        b, c, d = a, a + 1, a + 2
        e = [b, c, d, *[x * 2 for x in range(d)]]
        return sum([b, c, d, len(e), *e, *e, *e])

    def other_user(a, b, c, d, e):
        f = g = h = i = j = k = 1
        return [f, g, h, i, j, k, [a, [b, [c, [d, [e]]]]]]

    def shorter(a, b, c, d, e):
        return e

    compiler = Compiler({user: longer, other_user: shorter})
    assert [compiler(user)(n) for n in range(5)] == [longer(n) for n in range(5)]
    assert compiler(other_user)(1, 2, 3, 4, 5) == 5


def test_closure_and_cells():
    def outer(start):
        total = start

        def user(step):
            nonlocal total
            raise AssertionError

        def entry(step):
            nonlocal total
            total += step
            return lambda: (step, total)

        return user, entry, lambda: total

    user, entry, read = outer(10)
    compiler = Compiler({user: entry})
    made = compiler(user)(5)
    assert made() == (5, 15) and read() == 15
    # One code object serves many closures.
    other, _, other_read = outer(100)
    assert compiler(other)(1)() == (1, 101)
    assert (read(), other_read()) == (15, 101)
    assert compiler.names() == ["user"]


def test_globals_are_the_functions_own():
    space = {"__builtins__": {"len": lambda x: "mine"}, "g": 1}
    exec("def user():\n    return None\ndef entry():\n    return g, len('')", space)
    compiler = Compiler({space["user"]: space["entry"]})
    assert compiler(space["user"])() == (1, "mine")


def test_f_back_and_depth():
    def frames():
        names, frame = [], sys._getframe(1)
        while frame is not None and frame.f_code.co_name != "test_f_back_and_depth":
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return names

    def entry():
        return frames()

    def first():
        return Tail(second)

    def second():
        return Tail(third, 1)

    def third(x):
        return frames()

    user = stand_in(entry)
    assert Compiler({user: entry})(user)() == ["entry"]
    user = stand_in(first)
    assert Compiler({user: first})(user)() == ["third"]

    def eager():
        return user()

    compiler = Compiler({user: first})
    assert compiler(eager)() == ["third", "eager"]


def test_a_temporary_argument_dies_at_del():
    alive = []

    def entry(x):
        reference = weakref.ref(x)
        del x
        alive.append(reference() is not None)

    user = stand_in(entry)

    def first():
        return Tail(rest, Thing(), [Thing()])

    start = stand_in(first, "start")

    def rest(x, y):
        references = weakref.ref(x), weakref.ref(y[0])
        del x, y
        alive.append(any(reference() is not None for reference in references))

    compiler = Compiler({start: first, user: entry})
    compiler(start)()
    assert alive == [False]
    # Through the trampoline an entry for the function itself loses nothing either.
    alive.clear()

    def before():
        return Tail(user, Thing())

    start = stand_in(before, "start")
    compiler = Compiler({start: before, user: entry})
    compiler(start)()
    assert alive == [False]
    assert compiler.engine.counters()["captures"] == 2


def test_locals_of_a_finished_entry_die_before_the_tail_call():
    alive = []

    def first():
        thing = Thing()
        return Tail(rest, weakref.ref(thing))

    start = stand_in(first, "start")

    def rest(reference):
        alive.append(reference() is not None)

    compiler = Compiler({start: first})
    compiler(start)()

    def caller():
        start()

    compiler(caller)()
    assert alive == [False, False]


def test_a_million_tails_use_constant_stack():
    def entry(n):
        return Tail(resume, iter(range(n)), 0)

    user = stand_in(entry)

    def resume(iterator, total):
        for x in iterator:
            return Tail(resume, iterator, total + x)
        return total

    compiler = Compiler({user: entry}, otherwise=SKIP)
    assert compiler(user)(1_000_000) == sum(range(1_000_000))
    assert compiler.engine.counters()["tails"] == 1_000_001


def test_tails_that_are_captured_themselves():
    def entry(n):
        return Tail(resume, n, 0)

    user = stand_in(entry)

    def resume_entry(n, total):
        return Tail(resume, n - 1, total + n) if n else total

    resume = stand_in(resume_entry, "resume")

    compiler = Compiler({user: entry, resume: resume_entry})
    assert compiler(user)(10_000) == 50_005_000
    assert compiler.names() == ["user", "resume"]
    assert compiler.engine.counters()["hits"] == 10_000


def test_tail_calls_of_other_callables():
    class Object:
        def method(self, n):
            return self, n

    thing = Object()

    def entry(n):
        return Tail(max, n, 3) if n else Tail(thing.method, n)

    user = stand_in(entry)
    compiler = Compiler({user: entry}, SKIP)
    assert compiler(user)(7) == 7
    assert compiler(user)(0) == (thing, 0)
    assert compiler.names() == ["user", "method"]


def test_generators_run_as_they_are():
    def helper(x):
        return x

    def helper_entry(x):
        return -x

    def generator(n):
        for i in range(n):
            yield helper(i)

    def user(n):
        return list(generator(n))

    compiler = Compiler({helper: helper_entry})
    assert compiler(user)(3) == [0, -1, -2]
    assert compiler.names() == ["user", "helper"]
    made = compiler(generator)(2)
    assert made.gi_code is generator.__code__ and list(made) == [0, 1]

    async def coroutine():
        return helper(1)

    with pytest.raises(StopIteration) as stop:
        compiler(coroutine)().send(None)
    assert stop.value.value == 1


def test_throw_and_close_pass():
    log = []

    def generator():
        try:
            yield 1
        except ValueError:
            log.append("thrown")
            yield 2
        finally:
            log.append("closed")

    def user():
        made = generator()
        next(made)
        made.throw(ValueError)
        made.close()
        return log

    assert Compiler()(user)() == ["thrown", "closed"]


def test_module_and_class_bodies_are_not_captured():
    def user():
        exec("x = 1\ndef g(): return 2\ny = g()", {})
        eval("1 + 1")

        class Local:
            z = [i for i in range(2)]

        return Local.z

    compiler = Compiler()
    assert compiler(user)() == [0, 1]
    assert "<module>" not in compiler.names() and "Local" not in compiler.names()
    assert compiler.names()[:2] == ["user", "g"]


def test_exec_of_function_code_is_not_captured():
    def body():
        return 1

    def user():
        exec(body.__code__, {}, {"a": 1})

    compiler = Compiler()
    compiler(user)()
    assert compiler.names() == ["user"]


def test_exceptions_through_entries():
    def entry(x):
        return {}[x]

    user = stand_in(entry)

    def catching(x):
        try:
            return user(x)
        except KeyError as error:
            return error

    compiler = Compiler({user: entry})
    with pytest.raises(KeyError) as caught:
        compiler(user)("missing")
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)][1:] == ["entry"]
    error = compiler(catching)("gone")
    assert error.args == ("gone",)
    assert [f.name for f in traceback.extract_tb(error.__traceback__)] == ["catching", "entry"]
    assert native.state() == "idle" and not native.hook_is_in()


def test_exception_in_a_tail():
    def entry(x):
        return Tail(rest, x)

    user = stand_in(entry)

    def rest(x):
        raise ValueError(x)

    compiler = Compiler({user: entry})
    with pytest.raises(ValueError, match="boom"):
        compiler(user)("boom")
    assert native.state() == "idle" and not native.hook_is_in()


def test_the_compile_callback_raises():
    def user(x):
        return x

    def compile(function, code, arguments, misses):
        raise OSError("callback")

    thing = Thing()
    reference = weakref.ref(thing)
    with pytest.raises(OSError, match="callback"):
        Callable(user, Engine(compile))(thing)
    del thing
    gc.collect()
    assert reference() is None
    assert native.state() == "idle"


@pytest.mark.parametrize("answer", [1, "entry", Entry])
def test_wrong_answers(answer):
    with pytest.raises(TypeError, match="compile callback returned"):
        Callable(lambda: 1, Engine(lambda *_: answer))()


def test_entries_that_do_not_fit():
    def user(a, b):
        return a

    for wrong in (lambda a: a, lambda *a: a, lambda a, *, b: a):
        with pytest.raises(ValueError):
            Compiler({user: wrong})(user)(1, 2)


def test_none_asks_again_and_skip_does_not():
    def user():
        return 1

    compiler = Compiler(otherwise=None)
    f = compiler(user)
    assert [f(), f()] == [1, 1]
    assert compiler.names() == ["user", "user"]
    compiler = Compiler(otherwise=SKIP)
    f = compiler(user)
    assert [f(), f()] == [1, 1]
    assert compiler.names() == ["user"]
    assert compiler.engine.decision(user.__code__) is SKIP
    assert compiler.engine.counters()["eager"] == 2


def test_skip_looks_below_and_skip_below_does_not():
    def inner():
        return native.state()

    def user():
        return native.state(), inner()

    compiler = Compiler(otherwise=SKIP)
    assert compiler(user)() == ("open", "open")
    assert compiler.names() == ["user", "inner"]
    compiler = Compiler(otherwise=SKIP_BELOW)
    assert compiler(user)() == ("disabled", "disabled")
    assert compiler.names() == ["user"]


def test_callback_code_is_never_hooked():
    states = []

    def helper():
        return native.state()

    class Watching(Compiler):
        def compile(self, function, code, arguments, misses):
            states.append((helper(), native.hook_is_in()))
            return super().compile(function, code, arguments, misses)

    compiler = Watching(otherwise=SKIP)
    compiler(lambda: 1)()
    assert states == [("capturing", False)]
    assert compiler.names() == ["<lambda>"]


def test_inside_an_entry_nothing_is_hooked_until_it_opens():
    def inner():
        return native.state(), native.hook_is_in()

    def entry():
        before = inner()
        native.open_scope()
        during = inner()
        native.close_scope()
        return before, during, inner()

    user = stand_in(entry)

    compiler = Compiler({user: entry}, SKIP)
    assert compiler(user)() == (("replaying", False), ("open", True), ("replaying", False))
    assert compiler.names() == ["user", "inner"]
    assert native.open_scope() is None and native.state() == "idle"


def test_a_scope_ends_with_its_entry():
    def inner():
        return native.state()

    def entry():
        native.open_scope()
        return Tail(rest)

    user = stand_in(entry)

    def rest():
        return native.state(), inner()

    def entry_without_end():
        native.open_scope()
        return inner()

    compiler = Compiler({user: entry}, SKIP)
    assert compiler(user)() == ("open", "open")

    def caller():
        user()
        return native.state()

    user = stand_in(entry_without_end)
    compiler = Compiler({user: entry_without_end}, SKIP)
    assert compiler(user)() == "open"
    assert native.state() == "idle"


def test_unknown_calls_that_capture_nothing_are_given_up():
    def inner():
        return native.hook_is_in()

    def entry():
        native.open_scope()
        return inner()

    user = stand_in(entry)
    compiler = Compiler({user: entry}, SKIP)
    f = compiler(user)
    assert all(f() for _ in range(1000))
    assert not any(f() for _ in range(10))
    assert compiler.notices == ["given_up"]
    compiler.engine.reset()
    assert f()


def test_frames_far_below_do_not_close_a_site():
    """A thousand frames below one eager call are one call without a capture."""

    def leaf():
        return None

    def inner():
        for _ in range(1500):
            leaf()
        return native.hook_is_in()

    def entry():
        native.open_scope()
        return inner()

    user = stand_in(entry)
    compiler = Compiler({user: entry}, SKIP)
    f = compiler(user)
    assert f() and f()
    assert compiler.notices == []


def test_captures_keep_a_scope_open():
    def inner_entry():
        return None

    inner = stand_in(inner_entry, "inner")

    def other():
        return native.hook_is_in()

    def entry():
        native.open_scope()
        return inner() or other()

    user = stand_in(entry)

    compiler = Compiler({user: entry, inner: inner_entry}, SKIP)
    f = compiler(user)
    assert all(f() for _ in range(3000))
    assert compiler.notices == []


def test_an_eager_root_is_given_up():
    def inner():
        return native.hook_is_in()

    def user():
        return inner()

    compiler = Compiler(otherwise=SKIP)
    f = compiler(user)
    assert all(f() for _ in range(1000))
    assert not any(f() for _ in range(10))
    assert compiler.notices == ["given_up"]


def test_a_capture_far_below_keeps_everything_above_open():
    def deep_entry():
        return native.hook_is_in()

    deep = stand_in(deep_entry, "deep")

    def inner(n):
        return deep() if n == 0 else None

    def user(n):
        inner(n)
        return native.hook_is_in()

    compiler = Compiler({deep: deep_entry}, SKIP)
    f = compiler(user)
    assert all(f(n % 900) for n in range(4000))
    assert compiler.notices == []


def test_one_long_run_without_captures_is_given_up():
    def leaf():
        return None

    def user():
        for _ in range(99_999):
            leaf()
        before = native.hook_is_in()
        leaf()
        return before, native.hook_is_in()

    compiler = Compiler(otherwise=SKIP)
    f = compiler(user)
    assert f() == (True, False) == f()
    assert "given_up" in compiler.notices


def test_objects_that_lead_to_no_capture_are_given_up():
    class Object:
        def __call__(self):
            return native.hook_is_in()

    compiler = Compiler(otherwise=SKIP)
    f = compiler(Object())
    assert all(f() for _ in range(1000))
    assert not any(f() for _ in range(10))


def test_disabled():
    def inner():
        return native.state()

    compiler = Compiler(otherwise=SKIP)
    disabled = Callable(inner, None)

    def user():
        return disabled(), native.call_disabled(inner), inner()

    assert compiler(user)() == ("disabled", "disabled", "open")
    assert compiler.names() == ["user", "inner"]
    # A compiled callable below is compiled again.
    compiler = Compiler({inner: lambda: 5})
    assert native.call_disabled(compiler(inner)) == 5


def test_in_compiled():
    def user():
        return native.in_compiled(), Callable(native.in_compiled, None)()

    assert native.in_compiled() is False
    assert Compiler(otherwise=SKIP_BELOW)(user)() == (True, True)
    assert Compiler(otherwise=SKIP)(user)() == (True, True)
    seen = []

    def threads():
        thread = threading.Thread(target=lambda: seen.append(native.in_compiled()))
        thread.start()
        thread.join()

    Compiler()(threads)()
    assert seen == [False] and native.in_compiled() is False


def test_other_threads_pass():
    def inner():
        return "user"

    def inner_entry():
        return "entry"

    results = {}
    started, go_on = threading.Event(), threading.Event()

    def holds_the_hook():
        started.set()
        assert go_on.wait(30)
        return inner()

    compiler = Compiler({inner: inner_entry})

    def run():
        results["hooked"] = compiler(holds_the_hook)()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(30)
    assert native.hook_is_in()
    results["other"] = inner()
    go_on.set()
    thread.join()
    assert results == {"hooked": "entry", "other": "user"}
    assert not native.hook_is_in()


def test_tracing_means_eager_and_is_said_once():
    def user():
        return "user"

    compiler = Compiler({user: lambda: "entry"})
    f = compiler(user)
    sys.settrace(lambda *args: None)
    try:
        assert [f(), f()] == ["user", "user"]
    finally:
        sys.settrace(None)
    assert compiler.notices == ["tracing"]
    assert compiler.engine.counters()["tracing"] == 2
    assert f() == "entry"


def test_profiling_keeps_compiled_code():
    def user():
        return "user"

    def entry():
        return "entry"

    events = []
    f = Compiler({user: entry})(user)
    f()
    sys.setprofile(lambda frame, event, arg: events.append((event, frame.f_code.co_name)))
    try:
        result = f()
    finally:
        sys.setprofile(None)
    assert result == "entry"
    assert ("call", "entry") in events and ("return", "entry") in events
    assert ("call", "user") not in events


def recurse(n):
    return 0 if n == 0 else 1 + recurse(n - 1)


def recurse_opening(n):
    native.open_scope()
    return 0 if n == 0 else 2 + recurse(n - 1)


def room():
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return sys.getrecursionlimit() - depth


def test_recursion_as_deep_as_without_hook():
    compiler = Compiler(otherwise=SKIP)
    compiler.engine.decide(recurse.__code__, SKIP)
    depth = room() - 10
    assert compiler(recurse)(depth) == depth
    with pytest.raises(RecursionError):
        compiler(recurse)(depth + 20)
    compiler = Compiler({recurse: recurse_opening})
    assert compiler(recurse)(depth) == 2 * depth
    with pytest.raises(RecursionError):
        compiler(recurse)(depth + 20)
    assert native.state() == "idle" and not native.hook_is_in()


@pytest.mark.parametrize("entry", [None, recurse_opening])
def test_deep_recursion_steps_aside(entry):
    compiler = Compiler({recurse: entry} if entry else {})
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        result = compiler(recurse)(60_000)
    finally:
        sys.setrecursionlimit(limit)
    assert 60_000 <= result <= 120_000
    assert compiler.notices[-1:] == ["stack"] or "given_up" in compiler.notices
    if entry:
        assert 60_000 < result < 120_000 and compiler.notices == ["stack"]


def test_small_thread_stacks():
    compiler = Compiler({recurse: recurse_opening})
    results = []
    size = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(compiler(recurse)(900)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert 900 < results[0] <= 1800


def test_entry_at_every_depth_of_the_data_stack():
    """Where a chunk of the data stack ends, the entry runs as a function."""

    def entry(a, b):
        reference = weakref.ref(b)
        c, d, e, f, g, h = range(6)
        frame = sys._getframe(1).f_code.co_name
        del b
        return a, frame, reference() is None, [c, d, e, f, g, h, (a, (a, (a, (a, a))))]

    def breaking(a, b):
        c, d, e, f, g, h = range(6)
        return Tail(rest, weakref.ref(b), [c, d, e, f, g, h, (a, (a, (a, (a, a))))])

    def rest(reference, b):
        return sys._getframe(1).f_code.co_name, reference() is None, b

    whole, broken = stand_in(entry), stand_in(breaking)

    def before(function):
        return Tail(function, 7, Thing())

    start = stand_in(before, "start")

    def at_depth(n, function):
        return at_depth(n - 1, function) if n else start(function)

    compiler = Compiler({start: before, whole: entry, broken: breaking}, SKIP)
    f = compiler(at_depth)
    rests = [0, 1, 2, 3, 4, 5, (7, (7, (7, (7, 7))))]
    for depth in range(300):
        assert f(depth, whole) == (7, "at_depth", True, rests)
        assert f(depth, broken) == ("at_depth", True, rests)
    assert compiler.notices == []
    assert compiler.engine.counters()["as_function"] > 0


def test_bridges():
    """A break two frames deep: outermost first, each parent goes on by a tail of its own."""
    log = []

    def entry(x):
        log.append(("entry", native.state()))
        return native.trampoline(outer_bridge, x)

    user = stand_in(entry)

    def outer_bridge(x):
        try:
            value = native.trampoline(inner_bridge, x)
        except ValueError:
            value = "handled"
        log.append(("outer", native.state()))
        return Tail(outer_rest, value)

    def inner_bridge(x):
        native.open_scope()
        return Tail(inner_rest, unknown(x))

    def unknown(x):
        log.append(("unknown", native.state()))
        if x < 0:
            raise ValueError(x)
        return x + 1

    def inner_rest(x):
        log.append(("inner_rest", native.state()))
        return x * 10

    def outer_rest(x):
        log.append(("outer_rest", native.state()))
        return [x]

    compiler = Compiler({user: entry}, SKIP)
    assert compiler(user)(3) == [40]
    assert log == [
        ("entry", "replaying"),
        ("unknown", "open"),
        ("inner_rest", "open"),
        ("outer", "replaying"),
        ("outer_rest", "open"),
    ]
    assert compiler.names() == ["user", "unknown", "inner_rest", "outer_rest"]
    assert compiler(user)(-1) == ["handled"]


def test_resume_function_and_globals():
    space = {"native": native, "Tail": Tail}
    source = (
        "def outer():\n"
        "    y = 5\n"
        "    def user(x):\n        return y\n"
        "    def rest(x):\n        return x, y, native.frame_globals() is globals()\n"
        "    def entry(x):\n        y\n        return Tail(native.resume_function(code), x)\n"
        "    return user, entry, rest\n"
    )
    exec(source, space)
    user, entry, rest = space["outer"]()
    space["code"] = rest.__code__
    assert Compiler({user: entry})(user)(3) == (3, 5, True)
    made = native.make_function(rest.__code__, space, rest.__closure__)
    assert made(1) == (1, 5, True) and made.__globals__ is space
    with pytest.raises(ValueError):
        native.make_function(rest.__code__, space)
    with pytest.raises(TypeError):
        native.make_function(rest.__code__, space, (1,))
    with pytest.raises(TypeError):
        native.make_function(rest.__code__, [], rest.__closure__)


def code_with_constant(source, value):
    """The code of a lambda whose constant 7777 is replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = eval(source).__code__
    return code.replace(co_consts=tuple(value if constant == 7777 else constant for constant in code.co_consts))


def test_slots():
    def user(x):
        raise AssertionError

    def called(x, how):
        return x, how

    slot, other = Slot(), Slot()
    code = code_with_constant("lambda x: 7777(x, 'how')", slot)
    entry = Entry(code, slots=((slot, called), (other, 7)), info="note")
    engine = Engine(lambda *_: entry)
    f = Callable(user, engine)
    assert f(1) == (1, "how")
    assert slot.get() is called and other.get() == 7 and entry.info == "note"
    with pytest.raises(ValueError):
        Entry(code, slots=((slot, 1),))
    with pytest.raises(TypeError):
        Entry(code, slots=(slot,))
    del f, engine, entry
    gc.collect()
    with pytest.raises(RuntimeError):
        slot()
    with pytest.raises(RuntimeError):
        other.get()


def test_a_model_that_reaches_its_own_code_is_collected():
    def make():
        class Model:
            def forward(self):
                raise AssertionError

            def graph(self):
                return "graph"

        model = Model()
        slot = Slot()
        code = code_with_constant("lambda self: 7777()", slot)
        engine = Engine(lambda *_: Entry(code, slots=((slot, model.graph),)))
        model.compiled = Callable(Model.forward, engine)
        assert model.compiled(model) == "graph"
        return weakref.ref(model), weakref.ref(Model)

    references = make()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_reset_during_a_call():
    def entry(n):
        native.reset()
        gc.collect()
        return Tail(rest, n)

    user = stand_in(entry)

    def rest(n):
        return n + 1

    compiler = Compiler({user: entry})
    f = compiler(user)
    assert f(1) == 2
    assert compiler.engine.entries(user.__code__) == ()
    assert f(2) == 3
    assert compiler.names() == ["user", "rest", "user", "rest"]


def test_invalidate():
    def user():
        raise AssertionError

    compiler = Compiler({user: lambda: 1})
    f = compiler(user)
    assert f() == 1
    (entry,) = compiler.engine.entries(user.__code__)
    entry.invalidate()
    entry.invalidate()
    assert not entry.listed
    assert f() == 1
    assert compiler.names() == ["user", "user"]


def test_engines_are_apart():
    def user():
        raise AssertionError

    one, two = Compiler({user: lambda: 1}), Compiler({user: lambda: 2})
    assert (one(user)(), two(user)(), one(user)(), two(user)()) == (1, 2, 1, 2)
    assert one.names() == two.names() == ["user"]
    one.engine.reset()
    assert two(user)() == 2 and two.names() == ["user"]


def test_install():

    def user(x):
        raise AssertionError

    engine = Engine(lambda *_: None)
    entry = Entry((lambda x: x + 1).__code__)
    engine.install(user.__code__, entry)
    assert Callable(user, engine)(1) == 2
    with pytest.raises(ValueError):
        Engine(lambda *_: None).install(user.__code__, entry)


def test_callable_is_a_good_wrapper():
    class Class:
        def method(self, x):
            return self, x

        compiled = Callable(method, Engine(lambda *_: SKIP))

    thing = Class()
    assert thing.compiled(1) == (thing, 1)
    assert Class.compiled.__wrapped__ is Class.method
    f = Callable(recurse, Engine(lambda *_: SKIP))
    f.attribute = 5
    f.__name__ = "recurse"
    assert f.attribute == 5 and f.__dict__ == {"attribute": 5, "__name__": "recurse"}
    assert weakref.ref(f)() is f
    assert "compiled" in repr(f) and "disabled" in repr(Callable(recurse, None))
    with pytest.raises(TypeError):
        Callable(1, Engine(lambda *_: SKIP))
    with pytest.raises(TypeError):
        Callable(recurse, "engine")

    class Sub(Callable):
        extra = 1

    sub = Sub(recurse, Engine(lambda *_: None))
    assert sub(3) == 3 and sub.extra == 1


def test_callables_of_other_kinds():
    def call_entry(self, x):
        return "entry", x

    def make_entry(self, x):
        return Tail(finish, self, x)

    def finish(self, x):
        self.x = -x

    Object = type("Object", (), {"__call__": stand_in(call_entry, "__call__")})
    Made = type("Made", (), {"__init__": stand_in(make_entry, "__init__")})
    compiler = Compiler({Object.__call__: call_entry, Made.__init__: make_entry}, SKIP)
    assert compiler(Object())(1) == ("entry", 1)
    assert compiler(Object().__call__)(1) == ("entry", 1)
    assert compiler(Made)(4).x == -4
    assert compiler(len)([1]) == 1
    assert compiler.names() == ["__call__", "__init__", "finish"]


def test_a_frame_object_of_an_entry_survives():
    def entry(x):
        y = x + 1
        return Tail(rest, sys._getframe())

    user = stand_in(entry)

    def rest(frame):
        return frame

    frame = Compiler({user: entry}, SKIP)(user)(3)
    assert frame.f_code.co_name == "entry"
    assert {**frame.f_locals, "rest": rest} == {"x": 3, "y": 4, "rest": rest}


def test_no_leak_in_hits_misses_and_resets():
    def eager(x):
        return x

    def direct(x):
        return x

    def tail(x):
        return Tail(eager, x)

    def caller(x):
        return eager(x)

    hit, tailed = stand_in(direct), stand_in(tail)
    compiler, tails = Compiler({hit: direct}), Compiler({tailed: tail}, SKIP)
    f, g, h = compiler(hit), tails(tailed), compiler(caller)
    thing = Thing()

    def one_round():
        for _ in range(200):
            f(thing)
            g(thing)
            h(thing)
        compiler.asked.clear()
        tails.asked.clear()
        compiler.engine.reset()
        tails.engine.reset()

    def census():
        gc.collect()
        return len(gc.get_objects()), sys.getallocatedblocks()

    one_round()
    references = sys.getrefcount(thing), sys.getrefcount(direct.__code__)
    objects, blocks = census()
    for _ in range(50):
        one_round()
    assert (sys.getrefcount(thing), sys.getrefcount(direct.__code__)) == references
    # Other threads of the process make objects as well; what is lost in a round is lost fifty times.
    objects_now, blocks_now = census()
    assert objects_now - objects < 25 and blocks_now - blocks < 100


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_monitoring_sees_the_entry_and_nothing_else():
    def entry():
        a = b = c = d = e = f = g = h = i = j = k = m = 1
        return Tail(rest, (a, (b, (c, (d, (e, (f, (g, (h, (i, (j, (k, m))))))))))))

    def rest(value):
        return value

    user = stand_in(entry)

    def at_depth(n):
        return at_depth(n - 1) if n else user()

    compiler = Compiler({user: entry}, SKIP)
    compiled, events = compiler(at_depth), []
    monitoring = sys.monitoring
    monitoring.use_tool_id(3, "test")
    try:
        for event in (monitoring.events.PY_START, monitoring.events.PY_RETURN, monitoring.events.PY_UNWIND):
            monitoring.register_callback(3, event, lambda code, *_: events.append(code.co_name))
        monitoring.set_events(3, monitoring.events.PY_START | monitoring.events.PY_RETURN | monitoring.events.PY_UNWIND)
        for depth in range(150):
            compiled(depth)
            seen, wanted = list(events), ["at_depth"] * (depth + 1) + ["entry"] * 2 + ["rest"] * 2 + ["at_depth"] * (depth + 1)
            events.clear()
            if depth:
                assert seen == wanted
    finally:
        monitoring.set_events(3, 0)
        monitoring.free_tool_id(3)
    assert compiler.engine.counters()["as_function"] > 0


def test_a_foreign_thread_of_compiled_callables():
    """Threads that run compiled code at once do not disturb each other."""

    def entry(n):
        native.open_scope()
        return Tail(rest, helper(n))

    def helper(n):
        return n + 1

    def rest(n):
        return n * 2

    user = stand_in(entry)
    compiler = Compiler({user: entry}, SKIP)
    f = compiler(user)
    failures = []

    def run(start):
        for n in range(start, start + 3000):
            if f(n) != (n + 1) * 2:
                failures.append(n)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run, args=(i * 10_000,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == [] and not native.hook_is_in()


def test_going_on_empties_a_tuple_that_nobody_else_has() -> None:
    class Mortal:
        pass

    def inner(mortal):
        seen = weakref.ref(mortal)
        del mortal
        return seen() is None

    kept = (inner, Mortal())
    assert not native.go_on(kept) and type(kept[1]) is Mortal
    assert Callable(lambda: native.go_on((inner, Mortal())), Engine(lambda *frame: None))()
    for wrong in ((), [inner], None):
        with pytest.raises(TypeError, match="a tuple of a function"):
            native.go_on(wrong)
