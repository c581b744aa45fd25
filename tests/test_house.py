"""The shape of the house: which room may import which, what is done in one place only, and what every row must have.

Each rule is read from the source of `src/frameloom` with `ast`; imports inside functions count like all others.
"""
from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from frameloom.diagnostics.breaks import BREAKS
from tests.messages import pages

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
PACKAGE = SRC / "frameloom"

# What each room may import: the rooms named, and all that those may.
BELOW = MappingProxyType({
    "config": (),
    "diagnostics": ("config",),
    "bytecode": ("diagnostics",),
    "symbolic": ("bytecode",),
    "interpreter": ("symbolic",),
    "codegen": ("symbolic",),
    "rules": ("interpreter",),
    "native": (),
    "compile": ("rules", "codegen", "native"),
    "pytorch": ("compile",),
    "report": ("compile",),
    "api": ("pytorch", "report"),
    "__init__": ("api",),
    "__main__": ("api",),
})
# `native` is for `compile` alone: nobody gets it by way of `compile`.  Some files of `symbolic` read instance dictionaries and
# other storages by it, which no Python code can without making a dictionary exist, running the user's code or moving an iterator.
PRIVATE = MappingProxyType({"native": frozenset({"compile", "native"})})
LEAVES = MappingProxyType({"symbolic/ahead.py": "native", "symbolic/instance_dict.py": "native", "symbolic/stored.py": "native"})

OBSERVERS = (
    "symbolic/values.py", "symbolic/observe.py", "symbolic/layouts/", "symbolic/source.py", "symbolic/guards.py", "pytorch/inputs.py",
    "pytorch/arrays/layouts.py",
)
NAMES_THAT_SAY_NOTHING = re.compile(r"(utils?|misc|common|helpers?)(_|$)|_(utils?|helpers?)$")


class Import(NamedTuple):
    """One name that a module imports: the dotted target, and the line."""

    target: str
    line: int


class Module(NamedTuple):
    """One source file: path below `src/frameloom`, dotted name, syntax tree."""

    path: str
    name: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The part of the house: the first step below `frameloom`, `__init__` for the root."""
        first = self.path.partition("/")[0]
        return first.removesuffix(".py")

    @property
    def package(self) -> str:
        return self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]


def modules_below(folder: Path, root: Path) -> list[Module]:
    """Every Python file of `folder` as a Module; names are dotted from `root`."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        found.append(Module(path.relative_to(folder).as_posix(), name, ast.parse(path.read_text(encoding="utf-8"))))
    return found


MODULES = modules_below(PACKAGE, SRC)
KNOWN = {module.name: module for module in MODULES}


def imports(module: Module, known: Iterable[str]) -> Iterator[Import]:
    """What `module` imports, by statement or by a call of import_module or __import__ with a constant."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                foreign = base.partition(".")[0] != "frameloom"
                yield Import(whole if foreign or whole in known else base, node.lineno)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Import(argument.value, node.lineno)


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def reachable(room: str) -> frozenset[str]:
    """The rooms that `room` may import, itself included."""
    return frozenset({room}).union(*(reachable(below) for below in BELOW[room]))


def order_faults(module: Module, known: Iterable[str]) -> list[str]:
    """Imports of `module` that go against the order of the rooms."""
    faults = []
    for target, line in imports(module, known):
        if target.partition(".")[0] != "frameloom":
            continue
        room = target.split(".")[1] if "." in target else "__init__"
        allowed = room in reachable(module.room) and module.room in PRIVATE.get(room, frozenset(BELOW))
        if not allowed and LEAVES.get(module.path) != room:
            faults.append(f"{module.path}:{line}: {module.room} must not import {target}")
    return faults


def cycles(modules: Iterable[Module]) -> list[list[str]]:
    """Groups of modules that import each other in a circle."""
    known = {module.name: module for module in modules}
    edges = {name: sorted({target for target, _ in imports(module, known) if target in known and target != name})
             for name, module in known.items()}
    return [sorted(group) for group in _strongly_connected(edges) if len(group) > 1]


def _strongly_connected(edges: dict[str, list[str]]) -> list[list[str]]:
    """Kosaraju's algorithm: order by finishing time, then walk the reversed edges."""
    finished: list[str] = []
    seen: set[str] = set()
    for start in edges:
        _walk(start, edges, seen, finished)
    back: dict[str, list[str]] = {name: [] for name in edges}
    for name, targets in edges.items():
        for target in targets:
            back[target].append(name)
    groups: list[list[str]] = []
    seen = set()
    for start in reversed(finished):
        group: list[str] = []
        _walk(start, back, seen, group)
        if group:
            groups.append(group)
    return groups


def _walk(start: str, edges: dict[str, list[str]], seen: set[str], out: list[str]) -> None:
    """Depth first from `start`; append each newly seen name once all below it are done."""
    if start in seen:
        return
    seen.add(start)
    stack = [(start, iter(edges[start]))]
    while stack:
        name, rest = stack[-1]
        following = next((target for target in rest if target not in seen), None)
        if following is None:
            out.append(name)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(edges[following])))


def is_torch(target: str) -> bool:
    return target.partition(".")[0] in ("torch", "transformers", "torchvision")


def is_dynamo(target: str) -> bool:
    return re.match(r"torch\._(C\._)?dynamo\b", target) is not None


def attributes(module: Module, *names: str) -> list[str]:
    """Where `module` reads or writes an attribute of one of these names, or imports one of them from elsewhere."""
    found = [f"{module.path}:{node.lineno}: .{node.attr}" for node in ast.walk(module.tree)
             if isinstance(node, ast.Attribute) and node.attr in names]
    found += [f"{module.path}:{node.lineno}: import {alias.name}" for node in ast.walk(module.tree)
              if isinstance(node, ast.ImportFrom) for alias in node.names if alias.name in names]
    return found


# The rules themselves.

@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.path)
def test_imports_go_down_the_house(module: Module) -> None:
    assert module.room in BELOW, f"{module.path} lies in no room of the house"
    assert order_faults(module, KNOWN) == []


def test_no_import_cycle() -> None:
    assert cycles(MODULES) == []


def test_torch_is_imported_by_its_frontend_only() -> None:
    assert [f"{module.path}:{line}: {target}" for module in MODULES if module.room != "pytorch"
            for target, line in imports(module, KNOWN) if is_torch(target)] == []


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "examples", "docs"])
def test_what_stands_beside_the_package_imports_no_torch_dynamo(folder: str) -> None:
    # By text: some files are in the syntax of a later Python.
    found = re.compile(r"^\s*(from|import)\s+torch\.(_C\.)?_dynamo\b|^\s*from\s+torch(\._C)?\s+import\s.*\b_dynamo\b", re.MULTILINE)
    assert [str(path) for path in sorted((SRC.parent / folder).rglob("*.py")) if found.search(path.read_text(encoding="utf-8"))] == []


def test_torch_dynamo_is_imported_by_the_backend_look_up_only() -> None:
    found = [f"{module.path}:{line}: {target}" for module in MODULES
             for target, line in imports(module, KNOWN) if is_dynamo(target)]
    outside = [place for place in found if not place.startswith("pytorch/backends/")]
    assert outside == []
    assert len(found) <= 1, f"one look-up by name, not {found}"


def test_versions_are_known_to_bytecode_and_native_only() -> None:
    assert [place for module in MODULES if module.room not in ("bytecode", "native")
            for place in attributes(module, "version_info", "hexversion", "python_version_tuple")] == []


def test_real_objects_are_looked_at_in_one_place() -> None:
    assert [place for module in MODULES if not module.path.startswith(OBSERVERS)
            for place in attributes(module, "object")] == []


def test_environment_is_read_by_config_only() -> None:
    assert [place for module in MODULES if module.path != "config.py"
            for place in attributes(module, "environ", "getenv", "environb")] == []


def unused_imports(module: Module, source: str) -> Iterator[str]:
    """Names that a module imports and does not use; a line that says `noqa: F401` imports for what importing does."""
    lines = source.splitlines()
    used = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    quoted = [node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    used.update(word for text in quoted if len(text) < 80 for word in re.findall(r"\w+", text))  # annotations in quotes, __all__
    for node in ast.walk(module.tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "module", None) == "__future__":
            continue
        if any("noqa: F401" in line for line in lines[node.lineno - 1 : node.end_lineno]):
            continue
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if name not in used and name != "*":
                yield f"{module.path}:{node.lineno}: {name}"


def test_no_import_is_unused() -> None:
    found = []
    for folder in (PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "examples"):
        paths = [path for path in sorted(folder.rglob("*.py")) if not {"cases", "corpus"} & set(path.parts)]
        for path in paths:
            text = path.read_text(encoding="utf-8")
            found += unused_imports(Module(path.relative_to(ROOT).as_posix(), path.stem, ast.parse(text)), text)
    assert not found


def test_an_unused_import_is_found() -> None:
    text = "import os.path\nfrom a import b, c as d\nimport e  # noqa: F401  registers\n\ndef f(x: 'b'): pass\n"
    assert list(unused_imports(Module("m.py", "m", ast.parse(text)), text)) == ["m.py:1: os", "m.py:2: d"]


def test_files_are_named_after_what_they_hold() -> None:
    assert [module.path for module in MODULES if NAMES_THAT_SAY_NOTHING.search(Path(module.path).stem)] == []


def test_every_package_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [str(folder.relative_to(SRC)) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


# Break kinds: a page, a program that shows the kind, the message it gives, and somebody who raises it.

def codes_used() -> dict[str, list[str]]:
    """Where the source outside the table names each FL code."""
    used: dict[str, list[str]] = {}
    for module in MODULES:
        if module.path == "diagnostics/breaks.py":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"FL\d{3}", node.value):
                used.setdefault(node.value, []).append(f"{module.path}:{node.lineno}")
    return used


def test_codes_that_are_used_are_in_the_table() -> None:
    assert {code: places for code, places in codes_used().items() if code not in BREAKS} == {}


def test_codes_of_the_table_are_used() -> None:
    unused = set(BREAKS) - set(codes_used())
    assert sorted(unused) == [], "break kinds that nothing raises"


@pytest.mark.parametrize("code", BREAKS)
def test_break_kind_has_its_page(code: str) -> None:
    page = pages.read(code)
    assert page.title == f"{code}: {BREAKS[code].title}"
    assert page.sections == ["What happened", "Smallest program", "Why", "What to do"]
    assert page.program, "the page shows no program"
    assert page.message(), "the page shows no message"
    assert page.message().splitlines()[0].split(":")[0].endswith(code), "the page shows a message of another kind"


def test_every_page_has_its_break_kind() -> None:
    assert {path.stem for path in pages.FOLDER.glob("*.md")} == set(BREAKS)


# Instructions.

def test_every_instruction_has_a_handler_or_a_refusal() -> None:
    for module in MODULES:
        if module.room == "interpreter":
            importlib.import_module(module.name)
    registry = importlib.import_module("frameloom.interpreter.registry")
    canonical = importlib.import_module("frameloom.bytecode.canonical")
    breaks = importlib.import_module("frameloom.interpreter.loop").refuse_unknown
    handled = {name for name, handler in registry.HANDLERS.items() if handler is not breaks}
    refused, known = set(registry.REFUSALS), set(canonical.OPCODES)
    assert sorted(map(str, handled & refused)) == [], "both handled and refused"
    assert sorted(map(str, known - handled - refused)) == [], "neither handled nor refused"
    assert sorted(map(str, (handled | refused) - known)) == [], "not an instruction"


# What must not be committed.

TEXT = frozenset({".py", ".md", ".c", ".h", ".toml", ".txt", ".yml", ".cfg", ".html", ".css", ".test", ""})
FORBIDDEN: dict[str, re.Pattern[str]] = {
    "a path of somebody's machine": re.compile(r"(?<![\w.:/-])/(?:work|farm|root|home/\w+|tmp/\w+)/"),
    "a host of a package registry": re.compile("|".join(("pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.(org|com)"))),
}


def tracked_texts() -> Iterator[Path]:
    """Every text file of the repository but what tools make."""
    skipped = {".git", "build", "dist", "__pycache__", "LICENSE", ".hypothesis", ".pytest_cache"}
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        made = any(part in skipped or part.startswith(".venv") or part.endswith(".egg-info") for part in parts)
        if not made and path.is_file() and path.suffix in TEXT and path != Path(__file__).resolve():
            yield path


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_of_a_machine_is_committed(what: str) -> None:
    found = [f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}" for path in tracked_texts()
             for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
             if FORBIDDEN[what].search(line)]
    assert found == []


# The rules find what they look for: each is shown a fault.

def module(path: str, text: str) -> Module:
    name = ".".join(["frameloom", *Path(path).with_suffix("").parts]).removesuffix(".__init__")
    return Module(path, name, ast.parse(text))


@pytest.mark.parametrize(("path", "text"), [
    ("symbolic/heap.py", "from frameloom.interpreter import frame"),
    ("symbolic/heap.py", "def f():\n    import frameloom.interpreter.frame"),
    ("codegen/emit.py", "from frameloom import interpreter"),
    ("codegen/emit.py", "from ..rules import list_"),
    ("rules/list_.py", "import frameloom"),
    ("rules/list_.py", "from frameloom import compile"),
    ("pytorch/domain.py", "from frameloom.report import html"),
    ("pytorch/domain.py", "from frameloom.native import _native"),
    ("bytecode/decode.py", "if TYPE_CHECKING:\n    from frameloom.symbolic.heap import Heap"),
    ("bytecode/decode.py", "import importlib\nimportlib.import_module('frameloom.symbolic')"),
])
def test_an_import_against_the_order_is_found(path: str, text: str) -> None:
    known = {"frameloom", "frameloom.interpreter", "frameloom.interpreter.frame", "frameloom.rules", "frameloom.rules.list_"}
    assert order_faults(module(path, text), known | {"frameloom.compile", "frameloom.symbolic"}) != []


@pytest.mark.parametrize(("path", "text"), [
    ("compile/hook.py", "from frameloom.native import _native"), ("codegen/emit.py", "from ..symbolic import heap"),
    ("api.py", "def f():\n    from frameloom.pytorch import domain"), ("report/html.py", "import json"),
])
def test_an_import_along_the_order_is_not(path: str, text: str) -> None:
    assert order_faults(module(path, text), {"frameloom.symbolic", "frameloom.symbolic.heap"}) == []


def test_a_cycle_is_found() -> None:
    circle = [module("symbolic/a.py", "from . import b"), module("symbolic/b.py", "def f():\n    from .c import x"),
              module("symbolic/c.py", "import frameloom.symbolic.a"), module("symbolic/d.py", "from . import a")]
    assert cycles(circle) == [["frameloom.symbolic.a", "frameloom.symbolic.b", "frameloom.symbolic.c"]]
    assert cycles(circle[1:]) == []


@pytest.mark.parametrize(("text", "check"), [
    ("import torch.nn as nn", is_torch), ("from torch import nn", is_torch), ("__import__('torch')", is_torch),
    ("import torch._dynamo", is_dynamo), ("from torch import _dynamo", is_dynamo), ("from torch._C import _dynamo", is_dynamo),
    ("import_module('torch._dynamo.backends.registry')", is_dynamo),
])
def test_an_import_of_torch_is_found(text: str, check: Callable[[str], bool]) -> None:
    assert any(check(target) for target, _ in imports(module("api.py", text), ()))


def test_uses_of_attributes_are_found() -> None:
    assert attributes(module("api.py", "import sys\nsys.version_info > (3,)"), "version_info") == ["api.py:2: .version_info"]
    assert attributes(module("api.py", "from sys import version_info"), "version_info") == ["api.py:1: import version_info"]


@pytest.mark.parametrize(("what", "line"), [
    ("a path of somebody's machine", "see /" + "work/main/x.py"), ("a path of somebody's machine", "cd /" + "tmp/w/venv"),
    ("a host of a package registry", "https://" + "pypi" + ".org/simple"),
])
def test_traces_of_a_machine_are_found(what: str, line: str) -> None:
    assert FORBIDDEN[what].search(line)
