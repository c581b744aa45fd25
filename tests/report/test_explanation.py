"""Explanations as data, text and page."""
from __future__ import annotations

import builtins
import html.parser
import linecache
import textwrap

import pytest

from frameloom.diagnostics.errors import MissingDependency
from frameloom.diagnostics.location import Location
from frameloom.diagnostics.reports import BreakReport
from frameloom.report import html as html_page
from frameloom.report.explanation import Explanation
from frameloom.report.frames import Check, FrameExplanation, SourceLine, counted, source_lines

SOURCE = ["def forward(self, x):", "    y = self.scale(x)", "    if y.max() > 0.5:", "        return y < 2", "    return y"]
BREAK = BreakReport.of("FL201", (Location("model.py", 12, 7, 12, 20, "Net.forward"),), "this bool comes from a tensor", 2)
INLINED = BreakReport.of("FL101", (Location("other.py", 3, 0, 3, 4, "scale"), Location("model.py", 11, 8, 11, 21, "Net.forward")),
                         "_C.<unknown> has no rule")
FAR = BreakReport.of("FL401", (Location("third.py", 1, 0, 1, 4, "far"),))


@pytest.fixture
def explanation(monkeypatch) -> Explanation:
    monkeypatch.setitem(linecache.cache, "model.py", (0, None, ["\n"] * 9 + [line + "\n" for line in SOURCE], "model.py"))
    frame = FrameExplanation(
        name="Net.forward", filename="model.py", source=tuple(SourceLine(10 + i, line) for i, line in enumerate(SOURCE)),
        checks=(Check("type of x is Tensor", Location("model.py", 11)), Check("grad mode is off"),
                Check("Net.scale is a function", Location("model.py", 11), detail=True)),
        graph="a = mul(x, 2)\nb = amax(a)", operations=2, effects="self.step = 4", exit="break FL201",
        breaks=(BREAK, INLINED, FAR), seconds=0.25)
    rest = FrameExplanation(name="Net.forward, resumed at model.py:13", filename="model.py", exit="return b")
    return Explanation("Net.forward", (frame, rest), result=3)


def test_summaries_count(explanation: Explanation) -> None:
    assert explanation.graphs == 1 and explanation.breaks == (BREAK, INLINED, FAR)
    assert explanation.summary == "2 frames, 1 graph, 2 operations, 3 breaks, captured in 0.25 s"
    assert explanation.frames[0].place == "model.py:10" and explanation.frames[1].place == "model.py"
    assert counted(0, "graph") == "0 graphs"


def test_text_shows_every_part(explanation: Explanation) -> None:
    shown = str(Explanation("Net.forward", (explanation.frames[0],)))
    assert shown.startswith(textwrap.dedent("""\
        Net.forward: 1 frame, 1 graph, 2 operations, 3 breaks, captured in 0.25 s

        Net.forward  model.py:10
          2 operations, 3 checks, 3 breaks, captured in 0.25 s
          checks
            type of x is Tensor  model.py:11
            grad mode is off
            and 1 check of classes, functions, modules and what look-ups pass by
          graph
            a = mul(x, 2)
            b = amax(a)
          effects
            self.step = 4
          exit
            break FL201
          graph break FL201: branch depends on tensor data
            --> model.py:12:8   in Net.forward
        """))
    assert "  12 |     if y.max() > 0.5:\n     |        ^^^^^^^^^^^^^ this bool comes from a tensor" in shown


class Reader(html.parser.HTMLParser):
    """Collects tags that are left open, addresses, and the visible text by class of the element around it."""

    VOID = {"meta", "link", "br"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.addresses: list[str] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag, attrs) -> None:
        values = dict(attrs)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append((tag, values.get("class", "")))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data) -> None:
        if data.strip():
            self.texts.append((" ".join(name for _, name in self.open if name), data))


def page(explanation: Explanation) -> str:
    return html_page.render(explanation.title, explanation.summary, explanation.frames)


def read(explanation: Explanation) -> Reader:
    reader = Reader()
    reader.feed(page(explanation))
    assert reader.open == []
    return reader


def test_page_is_well_formed_and_self_contained(explanation: Explanation) -> None:
    reader = read(explanation)
    assert reader.addresses == ["#frame-1", "#frame-2"]


def test_page_shows_breaks_and_checks_at_the_lines_of_the_user(explanation: Explanation) -> None:
    texts = read(explanation).texts
    broken = [data for where, data in texts if "broken" in where and where.endswith("text")]
    assert broken == ["    y = self.scale(x)", "    if y.max() > 0.5:"]
    loose = [data for where, data in texts if "loose" in where]
    assert loose[0] == FAR.title
    marks = [data for where, data in texts if where.endswith("mark")]
    assert marks == ["✓ 1"]
    whole = "\n".join(data for _, data in texts)
    for part in ("_C.<unknown> has no rule", "return y < 2", "b = amax(a)", "self.step = 4", "grad mode is off", "return b", "Net.scale is a function"):
        assert part in whole


def test_page_is_written_to_a_file(explanation: Explanation, tmp_path) -> None:
    path = tmp_path / "explanation.html"
    explanation.html(str(path))
    assert path.read_text(encoding="utf-8") == page(explanation)


def test_page_without_jinja_says_what_to_install(explanation: Explanation, monkeypatch) -> None:
    real = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependency, match=r"pip install 'frameloom\[report\]'"):
        explanation.html("explanation.html")


def test_source_lines_are_those_of_the_function() -> None:
    def outer(x):
        def inner():
            return [
                x
            ]
        return inner

    lines = source_lines(outer.__code__)
    assert lines[0] == SourceLine(outer.__code__.co_firstlineno, "    def outer(x):")
    assert [line.text.strip() for line in lines] == ["def outer(x):", "def inner():", "return [", "x", "]", "return inner"]
    namespace: dict = {}
    exec("def f(): pass", namespace)
    assert source_lines(namespace["f"].__code__) == ()
