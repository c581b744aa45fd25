"""Pages are read and written without loss."""
from __future__ import annotations

import pytest

from tests.messages import pages
from tests.messages.pages import Page

TEXT = """\
# FL000: nothing

## What happened

Text.

## Smallest program

```python
x = 1
```

## Why

Because.
"""


def test_reading() -> None:
    page = Page(TEXT)
    assert page.title == "FL000: nothing"
    assert page.sections == ["What happened", "Smallest program", "Why"]
    assert (page.program, page.message()) == ("x = 1\n", "")


@pytest.mark.parametrize(("version", "expected"), [
    ("3.11", {"": "new\n  message"}), ("3.12", {"": "old", "3.12": "new\n  message"})])
def test_a_message_is_written_for_the_running_python(monkeypatch, version, expected) -> None:
    old = Page(TEXT).with_message("old")
    assert old.messages == {"": "old"}
    monkeypatch.setattr(pages, "VERSION", version)
    new = old.with_message("new\n  message")
    assert new.messages == expected and new.message() == "new\n  message"
    assert (new.title, new.sections, new.program) == (old.title, old.sections, old.program)
    assert new.with_message("old").text == old.text


def test_a_message_stands_behind_the_program() -> None:
    text = Page(TEXT).with_message("message").text
    assert "x = 1\n```\n\n```text\nmessage\n```\n\n## Why\n" in text
