"""The program at the top of the README prints what the README says; its times alone may differ."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden

pytestmark = pytest.mark.torch

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLE = re.compile(r"```python\n(?P<program>.*?)```\n\n(?P<before>[^`]*)```text\n(?P<output>.*?)```\n", re.DOTALL)
SECONDS = re.compile(r"\b\d+\.\d+ s\b")


def printed(program: str, folder: Path) -> str:
    """What `program` prints when it is run as a script of its own."""
    script = folder / "clip.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, script.name], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    example = EXAMPLE.search(text)
    output = printed(example["program"], tmp_path)
    same = SECONDS.sub("", output) == SECONDS.sub("", example["output"])
    if golden.updating and not same:
        README.write_text(text[: example.start("output")] + output + text[example.end("output") :], encoding="utf-8")
        return
    assert SECONDS.sub("", output) == SECONDS.sub("", example["output"])
    assert "graph break FL201" in output
