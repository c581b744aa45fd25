"""What happens when no entry fits: recompiles and their reasons, limits, refusals, faults of the compiler."""
from __future__ import annotations

import contextvars
import logging
import sys
import types
from typing import Any

import pytest

from frameloom import config
from frameloom.compile import hook
from frameloom.compile.callables import compiled, reset
from frameloom.compile.hook import Settings
from frameloom.diagnostics import events
from frameloom.diagnostics.errors import GraphBreakError, InternalError
from frameloom.interpreter import registry
from frameloom.interpreter.registry import refuse
from frameloom.symbolic.domain import Domain
from tests.compile.calls import Compiled
from tests.toy.array import array
from tests.toy.domain import ToyDomain


def breaks() -> None:
    pass


refuse("FL401", "the test breaks here", breaks)


@pytest.fixture(autouse=True)
def fresh_counters():
    reset()
    yield
    reset()


def heard(kind: str, call: Any, *args: Any) -> list[dict]:
    """The events of one kind while a call runs."""
    found: list[dict] = []
    with events.listen(lambda name, data: found.append(data) if name == kind else None):
        call(*args)
    return found


# -- recompiles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second", "check", "path", "new"), [
    (1, 2, "EQUAL", "a", "2"),
    ([1], [1, 2], "LENGTH", "a", "2"),
    ([1], (1,), "TYPE", "a", "class tuple"),
    ({"n": 1}, {"m": 1}, "KEYS", "a", "['m']"),
    ({1: 1}, {True: 1}, "KEYS", "a", "[True]"),
    ({0.0: 1}, {-0.0: 1}, "KEYS", "a", "[-0.0]"),
    (int, str, "IS", "a", "class str"),
])
def test_a_recompile_says_what_changed(first, second, check, path, new) -> None:
    def function(a):
        return [x for x in a] if type(a) in (list, tuple, dict) else a

    call = Compiled(function)
    call(first)
    (data,) = heard("recompile", call, second)
    report = data["report"]
    assert (report.check, report.path, report.new) == (check, path, new)
    assert repr(call(first)) == repr(function(first)) and repr(call(second)) == repr(function(second))
    assert report.function.endswith("function")
    assert report.chain[0].lineno == function.__code__.co_firstlineno + 1
    assert events.stats().recompiles == {f"{check} {path}": 1}


def test_what_is_gone_is_said_to_be() -> None:
    def function(table):
        return table["a"] if "a" in table else None

    call = Compiled(function)
    call({"a": 1})
    (data,) = heard("recompile", call, {})
    assert data["report"].new == "not there"


def test_the_limit_of_entries_is_announced_and_the_call_runs(caplog) -> None:
    def function(a):
        return a + "1"

    call = Compiled(function)
    with config.patch(recompile_limit=3), caplog.at_level(logging.WARNING, "frameloom"):
        assert [call(text) for text in "abcdef"] == [text + "1" for text in "abcdef"]
        assert call("a") == "a1"
    assert len(call.captures) == 3
    assert events.stats().eager["FL902"] == 3
    assert [record.getMessage().count("FL902") > 0 for record in caplog.records] == [True]


def test_entries_within_the_limit_go_on_to_be_used() -> None:
    call = Compiled(lambda a: a + 1)
    with config.patch(recompile_limit=2):
        for n in range(5):
            call(n)
        hits = call.hits
        call(1)
    assert call.hits == hits + 1


# -- what is captured ----------------------------------------------------------------------------------------------------


def outer(a, function):
    return contextvars.Context().run(function, a)


def plain(a):
    return a


def adds(a):
    return a + a


def normal(function: Any, domain: Domain) -> Any:
    return compiled(function, Settings(domain))


def test_a_function_below_an_unknown_call_is_captured_where_it_has_operations() -> None:
    call = normal(outer, ToyDomain())
    with config.patch(strict=True):
        for _ in range(6):
            result = call(array(1.0, 2.0), adds)
    assert result.numbers() == [2.0, 4.0]
    assert len(call.engine.entries(adds.__code__)) == 1


def test_a_function_without_operations_is_given_up_after_a_few_captures() -> None:
    call = normal(outer, ToyDomain())
    names = []
    with config.patch(strict=True), events.listen(lambda kind, data: names.append(data.get("name")) if kind == "frame" else None):
        for _ in range(8):
            assert call(1, plain) == 1
    assert names.count("plain") == 3
    assert call.engine.entries(plain.__code__) == ()


def test_the_standard_library_is_no_root() -> None:
    import textwrap

    def function(text):
        return contextvars.Context().run(textwrap.dedent, text)

    call = normal(function, ToyDomain())
    assert call("  a") == "a"
    assert call.engine.entries(textwrap.dedent.__code__) == ()
    assert repr(call.engine.decision(textwrap.dedent.__code__)) == "SKIP"


# -- refusing ------------------------------------------------------------------------------------------------------------


def test_fullgraph_refuses_a_break_and_says_where() -> None:
    def inner(a):
        breaks()
        return a

    def function(a):
        return inner(a + a)

    call = compiled(function, Settings(ToyDomain(), fullgraph=True))
    for _ in range(2):
        with pytest.raises(GraphBreakError) as caught:
            call(array(1.0))
    report = caught.value.report
    assert (report.kind.code, report.captured) == ("FL401", 1)
    assert [location.lineno for location in report.chain] == [
        inner.__code__.co_firstlineno + 1, function.__code__.co_firstlineno + 1,
    ]
    assert caught.value.__context__ is None


def test_fullgraph_lets_the_users_exception_out() -> None:
    def function(a):
        b = a + a
        raise KeyError(b.size)

    call = compiled(function, Settings(ToyDomain(), fullgraph=True))
    for _ in range(2):
        with pytest.raises(KeyError):
            call(array(1.0))
    assert events.stats().user_exceptions == 1
    assert not events.stats().breaks


def test_an_unfit_moment_runs_eagerly() -> None:
    class Unfit(Domain):
        def unfit(self):
            return "FL910", "a mode is active"

    call = compiled(plain, Settings(Unfit()))
    assert [call(1), call(2)] == [1, 2]
    assert events.stats().eager == {"FL910": 2}
    assert call.engine.entries(plain.__code__) == ()


# -- faults ----------------------------------------------------------------------------------------------------------------


class Fault(Exception):
    """A fault of the compiler."""


def fails(*args: Any) -> Any:
    raise Fault("inside")


def test_a_fault_of_the_compiler_is_one_warning_and_an_eager_run(monkeypatch, caplog, tmp_path) -> None:
    monkeypatch.setattr(hook, "compile_frame", fails)
    call = compiled(plain, Settings(Domain()))
    with config.patch(strict=False, report_directory=str(tmp_path)), caplog.at_level(logging.WARNING, "frameloom"):
        assert [call(1), call(2)] == [1, 2]
    (record,) = caplog.records
    (report,) = tmp_path.iterdir()
    assert str(report) in record.getMessage()
    assert "Fault: inside" in report.read_text()
    assert events.stats().eager["FL901"] == 1


def test_strict_raises_the_fault(monkeypatch) -> None:
    monkeypatch.setattr(hook, "compile_frame", fails)
    call = compiled(plain, Settings(Domain()))
    with config.patch(strict=True), pytest.raises(InternalError, match="inside") as caught:
        call(1)
    assert type(caught.value.__cause__) is Fault


# -- marks -------------------------------------------------------------------------------------------------------------------


def test_compiled_callables_are_inlined_and_disabled_ones_break() -> None:
    import frameloom

    inner = compiled(adds, Settings(ToyDomain()))
    eager = frameloom.disable(adds)
    domain = ToyDomain()
    call = Compiled(lambda a: inner(a) + eager(a), domain)
    assert call(array(1.0)).numbers() == [4.0]
    assert len(domain.graphs) == 2
    assert events.stats().breaks == {"FL402": 1}


def test_questions_and_requests() -> None:
    import frameloom

    def function(a):
        b = a + a
        asked = frameloom.is_compiling()
        frameloom.graph_break()
        return (b + a).numbers(), asked, frameloom.is_compiling()

    domain = ToyDomain()
    call = Compiled(function, domain)
    assert call(array(1.0)) == ([3.0], True, True)
    assert not frameloom.is_compiling()
    assert events.stats().breaks["FL401"] == 1


def asked() -> bool:
    import frameloom

    return frameloom.is_compiling()


def test_what_runs_eagerly_below_knows_that_it_is_below() -> None:
    import frameloom

    call = Compiled(lambda: frameloom.disable(asked)())
    assert call() is True
    assert not asked()


def test_operation_and_constant_result() -> None:
    import frameloom

    seen = []

    @frameloom.assume_constant_result
    def setting(name):
        seen.append(name)
        return len(name)

    call = Compiled(lambda: setting("abc") + 1)
    assert [call(), call()] == [4, 4]
    assert seen == ["abc"]
    with pytest.raises(TypeError):
        frameloom.assume_constant_result(len)


# -- reset ---------------------------------------------------------------------------------------------------------------------


def test_reset_forgets_entries() -> None:
    call = Compiled(plain)
    call(1)
    assert call.compiler.engine.entries(plain.__code__)
    from frameloom.compile import callables

    callables.COMPILERS.add(call.compiler)
    reset()
    assert call.compiler.engine.entries(plain.__code__) == ()
    assert call(1) == 1
    assert len(call.captures) == 2


# -- what is too much ------------------------------------------------------------------------------------------------------


def steps(n):
    done = 0
    for _ in range(n):
        done += 1
    return done


def test_a_trace_that_grows_too_long_is_cut_once_and_its_rest_runs_as_it_is() -> None:
    call = normal(steps, ToyDomain())
    with config.patch(strict=True, trace_limit=500):
        assert [call(1000) for _ in range(3)] == [1000] * 3
    assert events.stats().breaks == {"FL007": 1}
    assert events.stats().frames == 1


def closed_over(n):
    done = 0

    def count(by, given):
        nonlocal done
        done += by if given > -1 else 0

    for at in range(n):
        count(1, at)
    return done


@pytest.mark.parametrize("limit", range(400, 450))
def test_a_trace_is_cut_where_its_frames_can_be_left(limit: int) -> None:
    call = normal(closed_over, ToyDomain())
    with config.patch(strict=True, trace_limit=limit):
        assert call(100) == 100
    assert events.stats().breaks == {"FL007": 1}


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def test_calls_are_inlined_no_deeper_than_the_stack_allows() -> None:
    call = normal(deep, ToyDomain())
    with config.patch(strict=True):
        assert call(400) == 400
    assert events.stats().breaks["FL006"] >= 1 and set(events.stats().breaks) == {"FL006"}


def test_too_deep_in_a_recursion_nothing_is_captured(caplog) -> None:
    call = normal(steps, ToyDomain())

    def descend(n):
        return call(3) if n == 0 else descend(n - 1)

    with config.patch(strict=True), caplog.at_level(logging.WARNING, "frameloom"):
        assert descend(sys.getrecursionlimit() - 300) == 3
    assert call.engine.counters()["stack"] == 1 and call.engine.counters()["captures"] == 0
    assert ["FL905" in record.getMessage() for record in caplog.records] == [True]
    assert call(3) == 3 and call.engine.counters()["captures"] == 1


def test_a_call_below_a_capture_runs_eagerly_and_is_counted() -> None:
    inner = normal(steps, ToyDomain())

    class Curious(ToyDomain):
        def finish(self, session: Any, outputs: list) -> Any:
            assert inner(3) == 3
            return super().finish(session, outputs)

    with config.patch(strict=True):
        normal(adds, Curious())(array(1.0))
    assert inner.engine.counters()["busy"] == 1 and inner.engine.counters()["captures"] == 0


def test_a_refused_module_breaks_under_its_own_kind(monkeypatch) -> None:
    module = types.ModuleType("refused_by_a_test")
    exec("def inside(x):\n    return x + x\n\ndef exempt(x):\n    return x\n", vars(module))
    monkeypatch.setattr(registry, "REFUSED_MODULES", dict(registry.REFUSED_MODULES))
    monkeypatch.setattr(registry, "_kinds", {})
    registry.refuse_module("FL315", "refused_by_a_test", but=(module.exempt,))

    def function(x):
        return module.inside(module.exempt(x))

    call = normal(function, ToyDomain())
    with config.patch(strict=True):
        assert call(array(1.0)).numbers() == [2.0]
    assert events.stats().breaks == {"FL315": 1}
    assert registry.kind_of_module("refused_by_a_test.below") == "FL315" and registry.kind_of_module("refused_by_a_tester") is None


def anything(x):
    if isinstance(x, (tuple, list)):
        return x[0] + 1
    return x.get("a") if isinstance(x, dict) else x


def test_what_an_argument_of_another_class_does_not_have_is_not_asked() -> None:
    call = Compiled(anything)
    with config.patch(strict=True):
        assert [call(x) for x in ((1, 2), 5, {"a": 3}, [4], None, (7,), {}, "text")] == [2, 5, 3, 5, None, 8, None, "text"]


def total(numbers):
    found = 0
    for number in numbers:
        found += number
    return found


def test_a_trace_is_cut_where_its_guards_become_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    from frameloom.symbolic import session

    monkeypatch.setattr(session, "MOST_GUARDS", 50)
    call = Compiled(total)
    with config.patch(strict=True):
        assert [call(list(range(200))) for _ in range(2)] == [19900] * 2
    assert set(events.stats().breaks) == {"FL007"}


def test_as_many_guards_as_are_made_fit_into_a_guard_program() -> None:
    numbers = list(range(40_000))
    call = Compiled(total)
    with config.patch(strict=True):
        assert [call(numbers) for _ in range(2)] == [sum(numbers)] * 2


def same(first, second):
    return first == second


def test_two_arguments_of_other_classes_at_once() -> None:
    call = Compiled(same)
    pairs = [([1, 2], [1, 2]), (1, 2), ("a", [1]), ({"a": 1}, {"a": 1}), ((1,), (1,)), (None, 3), ([1], 5), (slice(1), slice(1))]
    with config.patch(strict=True, recompile_limit=20):
        assert [call(a, b) for a, b in pairs] == [a == b for a, b in pairs]


def test_a_guard_on_a_number_with_very_many_digits_can_be_told() -> None:
    call = Compiled(anything)
    with config.patch(strict=True):
        assert [call(number) for number in (10**5000, 10**5001, -(10**5002))] == [10**5000, 10**5001, -(10**5002)]
