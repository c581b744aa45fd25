"""What rules may be given for."""

from __future__ import annotations

import functools

import pytest

from frameloom.interpreter.registry import CODE_RULES, rule


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def test_a_rule_for_a_closure_is_refused() -> None:
    """Its code is that of everything that was wrapped in the same way."""
    wrapped = wrapping(len)
    with pytest.raises(TypeError, match="is a closure"):
        rule(wrapped)(lambda m: None)
    assert wrapped.__code__ not in CODE_RULES


class Base:
    def method(self):
        return super().__init__()


def test_a_rule_for_a_method_that_calls_super() -> None:
    try:
        rule(Base.method)(len)
        assert CODE_RULES[Base.method.__code__] is len
    finally:
        CODE_RULES.pop(Base.method.__code__, None)
