"""Stances, and what happens where a function was captured as often as the settings allow."""
from __future__ import annotations

import threading

import pytest
import torch

import frameloom
from frameloom.diagnostics.errors import RecompileError, RecompileLimitReached, WrongOption

pytestmark = pytest.mark.torch


def compiled(function=lambda x, name="a": x * len(name), **options):
    return frameloom.compile(function, backend="eager", **options)


def test_force_eager_runs_no_entry_and_captures_nothing():
    seen = []

    def backend(gm, examples):
        return lambda *args: (seen.append(1), gm(*args))[1]

    double = frameloom.compile(lambda x: x * 2, backend=backend)
    x = torch.ones(2)
    double(x)
    with frameloom.set_stance("force_eager"):
        assert torch.equal(double(x), x * 2)
        assert torch.equal(double(torch.ones(3)), torch.ones(3) * 2)
    assert len(seen) == 1 and frameloom.stats().entries == 1
    double(x)
    assert len(seen) == 2
    assert frameloom.stats().eager["FL916"] == 1


def test_force_eager_inside_of_a_compiled_function():
    seen = []

    def backend(gm, examples):
        return lambda *args: (seen.append(1), gm(*args))[1]

    def inner(x):
        return x + 1

    def outer(x):
        x = x * 2
        with frameloom.set_stance("force_eager"):
            x = inner(x)
        return x * 3

    function = frameloom.compile(outer, backend=backend)
    for _ in range(3):
        assert torch.equal(function(torch.ones(2)), torch.full((2,), 9.0))
    assert torch.equal(frameloom.compile(inner, backend=backend)(torch.ones(2)), torch.full((2,), 2.0))


def test_eager_on_recompile_goes_on_with_what_is_there():
    function = compiled()
    function(torch.ones(2), "a")
    with frameloom.set_stance("eager_on_recompile"):
        function(torch.ones(2), "a")
        assert torch.equal(function(torch.ones(2), "ab"), torch.full((2,), 2.0))
        assert torch.equal(compiled(lambda x: x + 1)(torch.ones(2)), torch.full((2,), 2.0))
    assert frameloom.stats().entries == 1
    assert frameloom.stats().eager["FL916"] == 2
    function(torch.ones(2), "ab")
    assert frameloom.stats().entries == 2


@pytest.mark.parametrize("make", [lambda: frameloom.set_stance("fail_on_recompile"), lambda: frameloom.config.patch(error_on_recompile=True)])
def test_a_recompile_is_an_error(make):
    function = compiled()
    with make():
        function(torch.ones(2), "a")  # a first capture is none
        function(torch.ones(2), "a")
        with pytest.raises(RecompileError) as caught:
            function(torch.ones(2), "ab")
    assert caught.value.report.old == "'a'" and caught.value.report.new == "'ab'"
    assert "test_stances_and_limits.py" in str(caught.value)
    assert frameloom.stats().entries == 1
    assert torch.equal(function(torch.ones(2), "ab"), torch.full((2,), 2.0))


def test_a_stance_as_decorator_and_as_statement():
    function = compiled()

    @frameloom.set_stance("force_eager")
    def eagerly(x):
        """Doubles."""
        return function(x, "ab")

    assert eagerly.__doc__ == "Doubles."
    eagerly(torch.ones(2))
    assert frameloom.stats().entries == 0
    function(torch.ones(2))
    assert frameloom.stats().entries == 1
    frameloom.set_stance("eager_on_recompile")
    try:
        function(torch.ones(2), "abc")
        assert frameloom.stats().entries == 1
    finally:
        frameloom.set_stance("default")
    function(torch.ones(2), "abc")
    assert frameloom.stats().entries == 2


def test_a_stance_is_given_back_after_an_exception_and_can_be_entered_again():
    function, stance = compiled(), frameloom.set_stance("force_eager")
    for _ in range(2):
        with pytest.raises(KeyError), stance:
            raise KeyError
        function(torch.ones(2))
    assert frameloom.stats().entries == 1


def test_other_threads_do_not_see_a_stance():
    function, found = compiled(), []
    with frameloom.set_stance("force_eager"):
        thread = threading.Thread(target=lambda: found.append(function(torch.ones(2))))
        thread.start()
        thread.join()
    assert frameloom.stats().entries == 1 and len(found) == 1


def test_an_unknown_stance():
    with pytest.raises(WrongOption, match="force_eager"):
        frameloom.set_stance("eager")


NAMES = ("a", "ab", "abc", "abcd", "abcde")


def test_at_the_limit_calls_are_eager_or_an_error():
    function = compiled()
    with frameloom.config.patch(recompile_limit=2):
        for name in NAMES:
            assert torch.equal(function(torch.ones(2), name), torch.full((2,), float(len(name))))
        assert frameloom.stats().entries == 2 and frameloom.stats().eager["FL902"] == 3
        with frameloom.config.patch(fail_on_recompile_limit=True), pytest.raises(RecompileLimitReached, match="FL902"):
            function(torch.ones(2), "abc")


def test_at_the_limit_an_entry_can_be_replaced():
    function = compiled()
    with frameloom.config.patch(recompile_limit=2, at_limit="replace"):
        for name in NAMES:
            for _ in range(3):
                assert torch.equal(function(torch.ones(2), name), torch.full((2,), float(len(name))))
        assert frameloom.stats().entries == len(NAMES) and not frameloom.stats().eager
        function(torch.ones(2), NAMES[-1])
        function(torch.ones(2), NAMES[-2])
        assert frameloom.stats().entries == len(NAMES)


def test_callees_are_captured_where_the_caller_is_at_its_limit():
    def callee(x):
        return x + 1

    def caller(x, name):
        return callee(x) * len(name)

    function = compiled(caller)
    with frameloom.config.patch(recompile_limit=1):
        for name in NAMES:
            assert torch.equal(function(torch.ones(2), name), torch.full((2,), 2.0 * len(name)))
    assert frameloom.stats().entries == 2


def test_the_accumulated_limit_counts_all_that_is_captured():
    def first(x, name):
        return x * len(name)

    def both(x, name):
        return first(x, name) + 1

    function = compiled(both)
    with frameloom.config.patch(accumulated_recompile_limit=3, at_limit="replace", recompile_limit=2):
        for name in NAMES + ("abcdef", "abcdefg"):
            assert torch.equal(function(torch.ones(2), name), torch.full((2,), 1.0 + len(name)))
    assert frameloom.stats().recompiles.total() == 3
    assert frameloom.stats().eager["FL902"]
    frameloom.reset()
    function(torch.ones(2), "a")
    assert frameloom.stats().entries == 1


def test_a_recompile_tells_which_it_is_and_what_is_done(caplog):
    def function(x, n, name):
        return x * n * len(name)

    call = compiled(function)
    with frameloom.config.patch(logs="recompiles"), caplog.at_level("INFO", "frameloom.recompiles"):
        call(torch.ones(3), 2, "a")
        call(torch.ones(4), 3, "a")
        call(torch.ones(5), 4, "ab")
    first, second = [record.getMessage() for record in caplog.records]
    assert "recompile 1: sizes that differ become symbolic and numbers that differ are read at run time" in " ".join(first.split())
    assert "recompile 2: an entry of its own for what this call has" in second
    assert "was: 'a'" in second and "now: 'ab'" in second
