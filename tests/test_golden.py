"""The machinery of golden files: reading, comparing, writing back, versions."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests import golden

TEXT = """\
-- how a stage prints

[case one]
a = 1
\\[graph]
[graph]
first

  second
[graph 3.99]
other

[case two]
b = [2]
[graph]
x
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stage.test"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_reading_keeps_programs_and_sections_apart(file: Path) -> None:
    one, two = golden.cases(file)
    assert (one.name, one.program) == ("one", "a = 1\n[graph]")
    assert one.sections["graph", ""] == "first\n\n  second"
    assert one.sections["graph", "3.99"] == "other"
    assert (two.program, two.expected("graph")) == ("b = [2]", "x")
    assert two.expected("plan") is None


def test_a_difference_is_an_error_that_shows_it(file: Path) -> None:
    _, two = golden.cases(file)
    two.check("graph", "x\n")
    with pytest.raises(AssertionError, match=r"(?s)\[case two\] \[graph\].*-x.*\+y"):
        two.check("graph", "y")
    with pytest.raises(AssertionError, match="no text for Python"):
        two.check("plan", "y")


@pytest.mark.parametrize(("version", "written"), [("3.11", {("graph", ""): "new"}),
                                                  ("3.12", {("graph", ""): "x", ("graph", "3.12"): "new"})])
def test_updating_writes_what_differs_and_nothing_else(file, monkeypatch, version, written) -> None:
    monkeypatch.setattr(golden, "updating", True)
    monkeypatch.setattr(golden, "VERSION", version)
    one, two = golden.cases(file)
    two.check("graph", "new")
    one_again, two_again = golden.cases(file)
    assert one_again.sections == one.sections
    assert two_again.sections == {("program", ""): "b = [2]", **written}
    assert file.read_text().startswith("-- how a stage prints\n")


def test_a_version_that_agrees_again_loses_its_section(file, monkeypatch) -> None:
    monkeypatch.setattr(golden, "updating", True)
    monkeypatch.setattr(golden, "VERSION", "3.99")
    golden.cases(file)[0].check("graph", "first\n\n  second")
    assert golden.cases(file)[0].sections == {("program", ""): "a = 1\n[graph]", ("graph", ""): "first\n\n  second"}


@pytest.mark.parametrize("text", ["stray\n[case a]\n", "[case a]\n[case a]\n", "[case a]\n[graph]\n[graph]\n"])
def test_a_file_that_is_not_understood_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.test"
    path.write_text(text)
    with pytest.raises(ValueError, match="bad.test"):
        golden.cases(path)
