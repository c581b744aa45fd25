"""What every test shares: options, Hypothesis profiles, and which tests an environment without torch can run."""
from __future__ import annotations

import ast
import importlib.util
import os
from pathlib import Path

# An internal error is a failure here, not an eager run with a warning; tests of the latter patch the setting.
os.environ.setdefault("FRAMELOOM_STRICT", "1")
# Every entry's code is checked before it runs; programs do without, for it takes a twentieth of a capture.
os.environ.setdefault("FRAMELOOM_VERIFY", "1")

import hypothesis
import pytest

from tests import differential, golden
from tests.cpython import modules

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = frozenset({"torch", "transformers"})

hypothesis.settings.register_profile("push", max_examples=50, deadline=None, derandomize=True)
hypothesis.settings.register_profile("all", max_examples=500, deadline=None)
hypothesis.settings.register_profile("fuzz", max_examples=20_000, deadline=None)
hypothesis.settings.load_profile("push")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true",
                     help="write golden texts anew where they differ, instead of failing")
    parser.addoption("--programs", type=int, metavar="N",
                     help="how many programs tests/differential generates, all its tests together")


def pytest_configure(config: pytest.Config) -> None:
    golden.updating = config.getoption("--update-goldens")
    differential.asked = config.getoption("--programs")


def pytest_report_header(config: pytest.Config) -> str:
    number = modules.quarter_of_commit()
    return f"CPython's tests: quarter {number} of 4 (QUARTER={number} repeats it): {', '.join(modules.quarter(number, modules.HELD))}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without torch, leave out the test modules that import it; None lets pytest decide as usual."""
    if not HAS_TORCH and collection_path.suffix == ".py" and _imports(collection_path) & NEEDS_TORCH:
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without torch, deselect the tests that are marked as needing it (pytest prints how many)."""
    if HAS_TORCH:
        return
    without = [item for item in items if item.get_closest_marker("torch")]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in set(without)]


def _imports(path: Path) -> set[str]:
    """The top-level packages that the module at `path` imports when it is loaded."""
    found = set()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:  # a corpus of a later Python; whoever imports it on this one is told so
        return set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found
