"""The programs on the page about sizes and numbers that vary do what it says."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "dynamic_shapes.md"


@pytest.mark.torch
def test_the_programs_run(tmp_path) -> None:
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(programs) == 8
    path = tmp_path / "page.py"  # a file, so that messages have lines to show
    path.write_text("\n".join(programs))
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
