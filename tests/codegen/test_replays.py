"""Every kind of operation that a trace logs can be replayed."""
from __future__ import annotations

import ast
from pathlib import Path

from frameloom.compile import trace  # imports the layouts and the rules, which register themselves
from frameloom.symbolic.layouts import REPLAYS

SOURCE = Path(trace.__file__).resolve().parents[1]


def logged_kinds() -> dict[str, str]:
    """The kinds that calls of `operation` and `effect` name, with a place of each."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        if "pytorch" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_log = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("operation", "effect") and node.args
            if is_log and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                found[node.args[0].value] = f"{path.name}:{node.lineno}"
    return found


def test_every_kind_has_a_replay() -> None:
    kinds = logged_kinds()
    assert {"attribute.set", "list.append", "dict.set", "cell.set", "call"} <= set(kinds)
    assert {kind: place for kind, place in kinds.items() if kind not in REPLAYS} == {}
