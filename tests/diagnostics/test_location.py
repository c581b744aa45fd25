"""Excerpts stand at the user's line, with carets below what a terminal shows."""
from __future__ import annotations

import linecache
import os
import textwrap
import unicodedata

import pytest
from hypothesis import given, strategies as st

from frameloom.diagnostics import location as places
from frameloom.diagnostics.location import MOST_LINES, Location, definition, excerpt, header, shorten, users_first


def written(monkeypatch: pytest.MonkeyPatch, text: str, name: str = "program.py") -> str:
    lines = [line + "\n" for line in text.split("\n")]
    monkeypatch.setitem(linecache.cache, name, (len(text), None, lines, name))
    return name


def shown(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def test_span_within_one_line(monkeypatch) -> None:
    name = written(monkeypatch, "class Block:\n    def forward(self):\n        if scores.max() > 0.5:\n            pass")
    location = Location(name, 3, 11, 3, 29, "Block.forward")
    assert "\n".join(excerpt(location, "this bool comes from a tensor")) == shown("""
          |
        3 |     if scores.max() > 0.5:
          |        ^^^^^^^^^^^^^^^^^^ this bool comes from a tensor
          |
    """)


def test_span_over_several_lines(monkeypatch) -> None:
    name = written(monkeypatch, "def f():\n    y = g(a,\n          b)\n")
    assert "\n".join(excerpt(Location(name, 2, 8, 3, 12, "f"), "here")) == shown("""
          |
        2 |     y = g(a,
          |         ^^^^
        3 |           b)
          |           ^^ here
          |
    """)


def test_long_span_is_cut_in_the_middle(monkeypatch) -> None:
    name = written(monkeypatch, "f(\n" + "  a,\n" * 40 + ")")
    rows = excerpt(Location(name, 1, 0, 42, 1), "here")
    assert sum("..." in row for row in rows) == 1
    assert len([row for row in rows if row.split("|")[0].strip()]) == MOST_LINES - 1
    assert rows[-3].startswith("42 |     )") and rows[-2].endswith("^ here")


def test_carets_stand_below_wide_characters_and_after_tabs(monkeypatch) -> None:
    line = '\tx = "日本" + broken(é)'
    name = written(monkeypatch, line)
    start, end = line.encode().index(b"broken"), len(line.encode())
    _, code, carets, _ = excerpt(Location(name, 1, start, 1, end))
    assert code == '1 |     x = "日本" + broken(é)'
    before_carets = carets.index("^") - len("  |     ")
    assert before_carets == len('x = "') + 4 + len('" + ')
    assert carets.count("^") == len("broken(é)")


@given(st.text("ab\té日e\u0301", min_size=1, max_size=20), st.data())
def test_carets_cover_the_cells_of_the_span(text: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    name = "cells.py"
    linecache.cache[name] = (len(text), None, ["x" + text + "\n"], name)
    offset = lambda count: len(("x" + text[:count]).encode())
    _, code, carets, _ = excerpt(Location(name, 1, offset(first), 1, offset(last)))

    def cells(count: int) -> int:
        total = 0
        for character in "x" + text[:count]:
            if character == "\t":
                total += 4 - total % 4
            elif not unicodedata.combining(character):
                total += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        return total

    margin = len("  |     ")
    assert carets.index("^") - margin == cells(first)
    assert carets.count("^") == max(cells(last) - cells(first), 1)
    assert "\t" not in code


def test_missing_source_gives_no_excerpt() -> None:
    assert excerpt(Location("<string>", 3, 0, 3, 4, "f"), "label") == []
    assert excerpt(Location("program.py", None)) == []


def test_header_names_the_frames_it_was_inlined_into() -> None:
    inner, outer = Location("model.py", 42, 7, 42, 9, "Block.forward"), Location("model.py", 77, 0, 77, 9, "Net.forward")
    assert header((inner,)) == ["  --> model.py:42:8   in Block.forward"]
    assert header((inner, outer)) == ["  --> model.py:42:8   in Block.forward, inlined from model.py:77 in Net.forward"]
    three = header((inner, outer, outer))
    assert three == ["  --> model.py:42:8   in Block.forward"] + ["      inlined from model.py:77 in Net.forward"] * 2


def test_header_of_a_deep_chain_stays_short_and_keeps_the_ends() -> None:
    chain = tuple(Location("m.py", line, 0, line, 1, f"f{line}") for line in range(1, 101))
    lines = header(chain)
    assert len(lines) == 7
    assert "m.py:1:1" in lines[0] and "m.py:100 in f100" in lines[-1] and "94 more callers" in lines[-2]


def test_columns_count_characters(monkeypatch) -> None:
    name = written(monkeypatch, "é = f(x)")
    assert header((Location(name, 1, len("é = ".encode()), 1, 9),)) == ["  --> program.py:1:5"]


def test_file_names_are_short_but_findable(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shorten(str(tmp_path / "model.py")) == "model.py"
    assert shorten("/venv/lib/python3.11/site-packages/torch/nn/modules/module.py") == "torch/nn/modules/module.py"
    assert shorten("/elsewhere/model.py") == "/elsewhere/model.py"
    assert shorten("<frozen abc>") == "<frozen abc>"


def test_of_a_compound_statement_the_first_line_is_shown(monkeypatch) -> None:
    name = written(monkeypatch, "with lock:  # held\n    work()\n    more()\n")
    assert "\n".join(excerpt(Location(name, 1, 0, 3, 10), "here")) == shown("""
          |
        1 |     with lock:  # held
          |     ^^^^^^^^^^^^^^^^^^ here
          |
    """)


@pytest.mark.parametrize(("text", "line", "column"), [
    ("def f():\n    pass\n", 1, 0),
    ("@decorate\ndef f():\n    pass\n", 2, 0),
    ("@decorate(\n    option,\n)\n@again\nasync def f():\n    pass\n", 5, 0),
    ("    @decorate\n    def f(self):\n        pass\n", 2, 4),
    ("f = lambda: 1\n", 1, None),
    ("", 1, None),
])
def test_a_function_is_at_its_def(monkeypatch, text: str, line: int, column: int | None) -> None:
    found = definition(written(monkeypatch, text), 1, "f")
    assert (found.lineno, found.col, found.qualname) == (line, column, "f")


OWN = Location("program.py", 3, 4, 3, 8, "f")
STANDARD = Location(os.__file__, 10, 0, 10, 3, "g")
INSTALLED = Location("/env/lib/python3.11/site-packages/torch/nn/modules/module.py", 9, 0, 9, 3, "Module.__call__")
FROZEN = Location("<frozen os>", 5, 0, 5, 3, "h")
STANDS_IN = Location(places.__file__, 5, 0, 5, 3, "sorted")


def test_the_users_line_is_told_from_library_code() -> None:
    assert not OWN.of_library
    assert all(place.of_library for place in (STANDARD, INSTALLED, FROZEN, STANDS_IN))
    assert STANDS_IN.of_this_package and not STANDARD.of_this_package
    assert users_first((FROZEN, STANDARD, OWN, INSTALLED)) == ((FROZEN, STANDARD), (OWN, INSTALLED))
    assert users_first((FROZEN, INSTALLED)) == ((), (FROZEN, INSTALLED))
    assert users_first(()) == ((), ())


def test_library_files_are_named_from_where_they_are_installed() -> None:
    assert shorten(STANDARD.filename) == "os.py"
    assert shorten(INSTALLED.filename) == "torch/nn/modules/module.py"


def test_the_text_of_a_span_is_one_line(monkeypatch) -> None:
    name = written(monkeypatch, "y = g(é,\n      b) + 1\n")
    assert Location(name, 1, 4, 2, 8).text == "g(é, b)"
    assert Location("nowhere.py", 1, 0, 1, 2).text == ""
