"""Golden texts: what a stage printed when a person last read it and found it right.

A `.test` file holds cases.  A case is a program and what stages make of it, each in a section of its own:

    [case add]
    def f(x):
        return x + 1
    [graph]
    add(x, 1)
    [graph 3.12]
    what 3.12 prints, where it differs

A section without a version is CPython 3.11's, and holds for every version that has none of its own.  A line of text that
would look like a heading is written with a backslash before it.  `pytest --update-goldens` writes what differs.
"""
from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

HEADING = re.compile(r"\[(?P<name>[a-z][a-z _-]*?)(?: (?P<rest>\S+))?\]\s*")
OLDEST = "3.11"
VERSION = "{}.{}".format(*sys.version_info)

updating = False
"""Whether differences are written instead of reported; set from the option `--update-goldens`."""


class Case:
    """One case of a golden file.

    path: of the file.  name: of the case, unique in it.  sections: texts by (section, version), version "" where none is
    given; the program stands under ("program", "").
    """

    def __init__(self, path: Path, name: str, sections: dict[tuple[str, str], str]) -> None:
        self.path = path
        self.name = name
        self.sections = sections

    @property
    def program(self) -> str:
        return self.sections["program", ""]

    def expected(self, section: str) -> str | None:
        """The text of `section` that holds for the running Python, None if the case has none."""
        return self.sections.get((section, VERSION), self.sections.get((section, "")))

    def check(self, section: str, actual: str) -> None:
        """Compare `actual` with the golden text, or write it where goldens are being updated.

        Raises AssertionError with a difference, and for a section that is missing.
        """
        actual = _trimmed(actual)
        expected = self.expected(section)
        if actual == expected:
            return
        if updating:
            self._write(section, actual)
            return
        heading = f"{self.path.name}: [case {self.name}] [{section}]"
        assert expected is not None, f"{heading} has no text for Python {VERSION}; run with --update-goldens\n{actual}"
        raise AssertionError(f"{heading} differs (run with --update-goldens if the change is meant)\n"
                             + difference(expected, actual))

    def _write(self, section: str, actual: str) -> None:
        general = VERSION == OLDEST or (section, "") not in self.sections
        self.sections.pop((section, VERSION), None)
        if general:
            self.sections[section, ""] = actual
        elif self.sections[section, ""] != actual:
            self.sections[section, VERSION] = actual
        others = [self if case.name == self.name else case for case in cases(self.path)]
        self.path.write_text(_comment(self.path) + "\n".join(_printed(case) for case in others), encoding="utf-8")


def cases(path: Path) -> list[Case]:
    """The cases of one file.  Raises ValueError for a file that is not understood."""
    found: list[Case] = []
    key: tuple[str, str] | None = None
    texts: dict[tuple[str, str], list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        heading = HEADING.fullmatch(line)
        if heading and heading["name"] == "case":
            if heading["rest"] in [case.name for case in found]:
                raise ValueError(f"{path}: two cases are named {heading['rest']}")
            texts = {}
            found.append(Case(path, heading["rest"], texts))
            key = ("program", "")
            texts[key] = []
        elif heading and found:
            key = (heading["name"], heading["rest"] or "")
            if key in texts:
                raise ValueError(f"{path}: case {found[-1].name} has two sections {line}")
            texts[key] = []
        elif key is not None:
            texts[key].append(line.removeprefix("\\") if line.startswith("\\[") else line)
        elif line.strip() and not line.startswith("--"):
            raise ValueError(f"{path}: text before the first case: {line!r}")
    for case in found:
        case.sections = {key: _trimmed("\n".join(lines)) for key, lines in case.sections.items()}
    return found


def parametrize(folder: Path, pattern: str = "*.test") -> pytest.MarkDecorator:
    """Run a test for every case of the golden files in `folder`, as its argument `case`."""
    found = [case for path in sorted(folder.glob(pattern)) for case in cases(path)]
    assert found, f"no golden cases match {folder / pattern}"
    return pytest.mark.parametrize("case", found, ids=[f"{case.path.stem}-{case.name}" for case in found])


def difference(expected: str, actual: str) -> str:
    """A unified difference of two texts."""
    return "\n".join(difflib.unified_diff(expected.splitlines(), actual.splitlines(), "golden", "actual", lineterm=""))


def _printed(case: Case) -> str:
    order = sorted(case.sections.items(), key=lambda item: _place(case, item[0]))
    lines = [f"[case {case.name}]"]
    for (section, version), text in order:
        if section != "program":
            lines.append(f"[{section} {version}]" if version else f"[{section}]")
        lines += _escaped(text.splitlines())
    return "\n".join(lines) + "\n"


def _place(case: Case, key: tuple[str, str]) -> tuple[int, str]:
    """Sections keep their order; the versions of one stand together."""
    names = list(dict.fromkeys(section for section, _ in case.sections))
    return names.index(key[0]), key[1]


def _escaped(lines: Iterable[str]) -> list[str]:
    return [f"\\{line}" if HEADING.fullmatch(line) or line.startswith("\\[") else line for line in lines]


def _comment(path: Path) -> str:
    head = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("[case "):
            break
        head.append(line)
    return "\n".join(head) + "\n" if head else ""


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
