"""The public names, and what importing them costs."""
from __future__ import annotations

import inspect
import json
import subprocess
import sys

import frameloom
import pytest

NAMES = {
    "allow_in_graph", "assume_constant_result", "compile", "config", "disable", "errors", "explain", "graph_break",
    "is_compiling", "list_backends", "mark_dynamic", "mark_static", "mark_static_address",
    "mark_unbacked", "maybe_mark_dynamic", "register_backend", "reset", "set_stance", "stats",
}
IMPORT_SECONDS = 0.15


def after_import(statement: str) -> dict:
    """Seconds that `import frameloom` takes behind `statement` in a new process, and the modules it brings."""
    program = (f"{statement}\nimport json, sys, time\nbefore = set(sys.modules)\nstart = time.perf_counter()\n"
               "import frameloom\nseconds = time.perf_counter() - start\n"
               "print(json.dumps({'seconds': seconds, 'modules': sorted(set(sys.modules) - before)}))")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def test_names() -> None:
    assert set(frameloom.__all__) == NAMES
    assert all(hasattr(frameloom, name) for name in NAMES)


@pytest.mark.parametrize("name", sorted(NAMES - {"config", "errors"}))
def test_functions_are_documented(name: str) -> None:
    assert inspect.getdoc(getattr(frameloom, name))


def test_compile_takes_what_it_should() -> None:
    parameters = inspect.signature(frameloom.compile).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert defaults == {"model": None, "fullgraph": False, "dynamic": None, "backend": "inductor", "mode": None,
                        "options": None, "disable": False, "dynamic_shapes": None}
    assert [name for name, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY] == ["model"]


def test_import_is_quick_and_brings_no_torch() -> None:
    runs = [after_import("") for _ in range(3)]
    assert not [name for name in runs[0]["modules"] if name.partition(".")[0] in ("torch", "jinja2", "transformers")]
    assert min(run["seconds"] for run in runs) <= IMPORT_SECONDS


@pytest.mark.torch
def test_import_is_quick_beyond_torch_and_brings_no_backend() -> None:
    runs = [after_import("import torch") for _ in range(3)]
    assert not [name for name in runs[0]["modules"] if name.startswith(("torch._inductor", "torch._functorch"))]
    assert min(run["seconds"] for run in runs) <= IMPORT_SECONDS


def test_without_torch_compiling_says_what_to_install_in_one_line() -> None:
    program = "import sys\nsys.modules['torch'] = None\nimport frameloom\nframeloom.compile(lambda x: x)(1)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last = result.stderr.splitlines()[-1]
    assert last.startswith("frameloom.diagnostics.errors.MissingDependency: ")
    assert last.endswith("needs torch, which is not installed: pip install 'frameloom[torch]'")
