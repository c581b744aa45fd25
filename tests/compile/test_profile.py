"""What was found to vary, kept in a file: other processes begin where this one ended."""

from __future__ import annotations

import json
import logging
import pathlib

import pytest

from frameloom import config
from frameloom.compile import profile
from tests.compile.calls import Compiled


def used(n, holder):
    return n * 2 + holder["rate"][0]


CALLS = [(3, {"rate": [0.5]}), (4, {"rate": [0.25]}), (7, {"rate": [1.5]})]


def captures() -> int:
    """How often a compiler that knows nothing but the file captures."""
    profile.forget()
    call = Compiled(used)
    for args in CALLS:
        assert call(*args) == used(*args)
    return len(call.captures)


@pytest.fixture
def path(tmp_path) -> pathlib.Path:
    found = tmp_path / "profile.json"
    with config.patch(profile_path=str(found)):
        yield found
    profile.forget()


def test_it_is_used_again(path) -> None:
    assert captures() == 2
    assert captures() == 1
    (found,) = json.loads(path.read_text())["functions"].values()
    assert len(found["numbers"]) == 2 and not found["decisions"]
    assert not [each for each in path.parent.iterdir() if each != path]


def test_nothing_is_kept_where_nothing_varies(path) -> None:
    Compiled(used)(*CALLS[0])
    assert not path.exists()


def test_it_is_of_the_function_as_it_was(path) -> None:
    captures()
    content = json.loads(path.read_text())
    ((key, found),) = content["functions"].items()
    content["functions"] = {key[:-1] + ("0" if key[-1] != "0" else "1"): found}
    path.write_text(json.dumps(content))
    assert captures() == 2
    assert len(json.loads(path.read_text())["functions"]) == 2


DAMAGED = {
    "no JSON": ("{", "it is no JSON"),
    "deep": ("[" * 100_000, "it is no JSON"),
    "of others": ('{"a": 1}', "not written by frameloom"),
    "a list": ("[1]", "not written by frameloom"),
    "of a later version": ('{"form": "frameloom profile", "version": 99, "functions": {}}', "version 99, and this is 1"),
    "damaged": ('{"form": "frameloom profile", "version": 1, "functions": {"f": 3}}', "contents are damaged"),
    "damaged inside": ('{"form": "frameloom profile", "version": 1, "functions": {"f": {"decisions": 3, "numbers": []}}}', "damaged"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_that_is_not_understood_is_told_of_once_and_left_alone(name, path, caplog) -> None:
    text, message = DAMAGED[name]
    path.write_text(text)
    with caplog.at_level(logging.WARNING, "frameloom"):
        assert captures() == 2
    told = [record.getMessage() for record in caplog.records if record.name == "frameloom"]
    assert len(told) == 1 and str(path) in told[0] and message in told[0] and told[0].endswith("are learnt anew")
    assert path.read_text() == text


def test_bytes_that_are_no_text(path, caplog) -> None:
    path.write_bytes(b"\xff\xfe\x00")
    with caplog.at_level(logging.WARNING, "frameloom"):
        assert captures() == 2
    assert "is not used" in caplog.text and path.read_bytes() == b"\xff\xfe\x00"


@pytest.mark.parametrize("damage", [
    [["local", ["is", "n"]], ["no step", ["is", 1]]], [["local"]], [3], [["local", ["module", "no.such"]]], [["local", ["is", [1]]]], [["item", ["class", 3]]], [],
])
def test_what_is_of_objects_that_are_not_here_is_passed_by(damage, path) -> None:
    captures()
    content = json.loads(path.read_text())
    for found in content["functions"].values():
        found["numbers"].append(damage)
        found["decisions"].append(["x", "y"])
    path.write_text(json.dumps(content))
    assert captures() == 1


def test_a_directory_that_is_not_there(tmp_path, caplog) -> None:
    with config.patch(profile_path=str(tmp_path / "none" / "file")), caplog.at_level(logging.WARNING, "frameloom"):
        assert captures() == 2
        assert "is not written" in caplog.text
    profile.forget()


def test_what_others_wrote_meanwhile_stays(path) -> None:
    profile.forget()
    call = Compiled(used)
    call(*CALLS[0])
    other = {"decisions": [], "numbers": [[["local", ["is", "m"]]]]}
    path.write_text(json.dumps({"form": profile.FORM, "version": profile.VERSION, "functions": {"other": other}}))
    call(*CALLS[1])
    functions = json.loads(path.read_text())["functions"]
    assert functions.pop("other") == other and len(functions) == 1
