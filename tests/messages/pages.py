"""The pages of break kinds: each shows the smallest program of its kind and the message that this program gives.

So a page is the test of its kind: `test_pages.py` runs the program and compares the message with the page's text.  Texts
that differ between Pythons stand in blocks of their own, marked with the version: a fence of ```text 3.12.
"""
from __future__ import annotations

import re
from pathlib import Path

from tests.golden import OLDEST, VERSION

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "breaks"
FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<version>\S+))?\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)


class Page:
    """One page: its title, the headings of its sections, the program and the messages by version ("" for all)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.title = text.partition("\n")[0].removeprefix("# ")
        self.sections = re.findall(r"^## (.+)$", FENCE.sub("", text), re.MULTILINE)
        blocks = list(FENCE.finditer(text))
        self.program = next((block["text"] for block in blocks if block["kind"] == "python"), "")
        self.messages = {block["version"] or "": block["text"].rstrip("\n") for block in blocks if block["kind"] == "text"}

    def message(self) -> str:
        """The message for the running Python, empty where the page shows none."""
        return self.messages.get(VERSION, self.messages.get("", ""))

    def with_message(self, message: str) -> Page:
        """The page with `message` for the running Python; the text of the oldest Python holds for all that agree."""
        messages = {version: text for version, text in self.messages.items() if version != VERSION}
        if VERSION == OLDEST or "" not in messages:
            messages[""] = message
        elif messages[""] != message:
            messages[VERSION] = message
        bare = FENCE.sub(lambda block: "" if block["kind"] == "text" else block[0], self.text)
        bare = re.sub(r"\n{3,}(?=## )", "\n\n", bare)
        shown = "".join(f"\n```{' '.join(('text', version)).rstrip()}\n{messages[version]}\n```\n" for version in sorted(messages))
        program = next(block for block in FENCE.finditer(bare) if block["kind"] == "python")
        return Page(bare[: program.end()] + shown + bare[program.end():])


def path(code: str) -> Path:
    return FOLDER / f"{code}.md"


def read(code: str) -> Page:
    """The page of the break kind `code`.  Raises FileNotFoundError where there is none."""
    return Page(path(code).read_text(encoding="utf-8"))
