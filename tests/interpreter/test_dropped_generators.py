"""A generator that is dropped: quietly where its handlers only ask, at the right moment where they do something."""

from __future__ import annotations

from typing import Any

from frameloom.interpreter.iteration import dies_quietly, would_run_code

from .tracing import trace


def asks() -> Any:
    i = 0
    try:
        while True:
            yield i
            i += 1
    except IndexError:
        return


def catches() -> Any:
    try:
        yield 1
        yield 2
    except BaseException:
        return


def cleans(log: list) -> Any:
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")


def test_clauses_that_do_not_match_are_quiet() -> None:
    traced = trace(lambda: [pair for pair in zip(asks(), (1, 2))])
    (generator,) = traced.session.generators
    assert would_run_code(generator)
    assert dies_quietly(traced.session.machine, generator)
    assert generator.body.state == "closed"


def test_what_catches_everything_is_not() -> None:
    traced = trace(lambda: next(catches()))
    (generator,) = traced.session.generators
    assert not dies_quietly(traced.session.machine, generator)
    assert generator.body.state == "suspended"


def test_what_cleans_up_is_not() -> None:
    traced = trace(lambda: next(cleans([])))
    (generator,) = traced.session.generators
    assert not dies_quietly(traced.session.machine, generator)
    assert generator.body.state == "suspended"
