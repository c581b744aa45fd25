"""Settings: values, the environment, patches and their reach."""
from __future__ import annotations

import dataclasses
import threading

import pytest

from frameloom import config
from frameloom.config import Config


def test_defaults_are_the_settings_in_force() -> None:
    assert Config() == config.from_environment({})
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.current().strict = True


@pytest.mark.parametrize(("variable", "text", "field", "value"), [
    ("FRAMELOOM_STRICT", "1", "strict", True),
    ("FRAMELOOM_STRICT", "no", "strict", False),
    ("FRAMELOOM_LOGS", "breaks, graph", "logs", frozenset({"breaks", "graph"})),
    ("FRAMELOOM_LOGS", "all", "logs", frozenset(config.LOG_CHANNELS)),
    ("FRAMELOOM_LOGS", "", "logs", frozenset()),
    ("FRAMELOOM_RECOMPILE_LIMIT", "3", "recompile_limit", 3),
    ("FRAMELOOM_EVENTS", "events.jsonl", "events", "events.jsonl"),
    ("FRAMELOOM_EVENTS", "", "events", None),
])
def test_environment(variable, text, field, value) -> None:
    assert getattr(config.from_environment({variable: text, "OTHER": "1"}), field) == value


@pytest.mark.parametrize(("variable", "text"), [
    ("FRAMELOOM_STRICT", "maybe"), ("FRAMELOOM_LOGS", "brakes"), ("FRAMELOOM_RECOMPILE_LIMIT", "many"),
    ("FRAMELOOM_RECOMPILE_LIMIT", "0"),
])
def test_environment_that_is_not_understood_is_refused_by_name(variable, text) -> None:
    with pytest.raises(ValueError, match="FRAMELOOM_|config.logs: no channel 'brakes'|config.recompile_limit"):
        config.from_environment({variable: text})


def test_patch_holds_inside_and_nests() -> None:
    with config.patch(recompile_limit=2) as outer:
        with config.patch(strict=True, logs=["graph"]) as inner:
            assert inner == dataclasses.replace(outer, strict=True, logs=frozenset({"graph"})) == config.current()
        assert config.current() == outer
    assert config.current().recompile_limit == Config().recompile_limit


def test_patch_takes_channels_as_the_environment_has_them() -> None:
    with config.patch(logs="graph, breaks") as inner:
        assert inner.logs == {"graph", "breaks"}
    with pytest.raises(ValueError, match="no channel 'brakes'; there are breaks"):
        config.patch(logs="brakes")
    with pytest.raises(TypeError, match="frozenset"):
        config.patch(logs=3)


def test_patch_ends_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), config.patch(strict=not config.current().strict):
        1 / 0
    assert config.current() == config.from_environment(__import__("os").environ)


def test_patch_as_decorator_serves_every_call() -> None:
    @config.patch(recompile_limit=2)
    def limits(depth: int) -> list[int]:
        return [config.current().recompile_limit, *(limits(depth - 1) if depth else [])]

    assert limits(3) == limits(3) == [2] * 4


def test_patch_is_not_seen_by_other_threads() -> None:
    seen = []
    with config.patch(recompile_limit=2):
        thread = threading.Thread(target=lambda: seen.append(config.current().recompile_limit))
        thread.start()
        thread.join()
    assert seen == [Config().recompile_limit]


@pytest.mark.parametrize(("changes", "error"), [
    ({"speed": 1}, TypeError), ({"strict": 1}, TypeError), ({"recompile_limit": True}, TypeError),
    ({"recompile_limit": -1}, ValueError), ({"logs": ["brakes"]}, ValueError), ({"logs": "brakes"}, ValueError), ({"logs": 3}, TypeError),
    ({"events": 3}, TypeError),
])
def test_wrong_settings_are_refused_before_anything_changes(changes, error) -> None:
    before = config.current()
    with pytest.raises(error):
        config.patch(**changes)
    assert config.current() is before
