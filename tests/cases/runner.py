"""Run the cases of a folder eagerly and compiled, each in a process of its own, and compare what they observe.

    python -m tests.cases.runner cells [--only c01,c02] [--jobs 2] [--json out.json]

A case is a file that has
  AREA, BUG   a label, and what a compiler got wrong here;  REF  the public report, if there is one
  make()      gives (function, arguments) or (function, arguments, observe): fresh state at every call; arguments() gives
              the positional arguments, or (arguments, keywords); observe() what a side effect should have changed
  CALLS       how often the function is called, 2 where it is not given: the second call goes through the guards
  drive(compile), check(eager, compiled)   where the case calls, or compares, in its own way
`_common.graph_break()` inside a case is a graph break of the engine.  What plain Python does is right.

Verdicts: same; different (silently wrong); refused (a frameloom error where Python raises none); error (another exception
there); crash; timeout.  `graphs` counts calls of the backend, `ops` the call nodes in what it got; `full` is the verdict
with fullgraph=True.
"""
from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import logging
import os
import random
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import frameloom
from frameloom.diagnostics.errors import FrameloomError
from tests.cases.picture import picture

HERE = Path(__file__).resolve().parent
Compile = Callable[[Callable], Callable]


@dataclasses.dataclass
class Result:
    """What came of one case."""

    name: str
    verdict: str
    full: str = "-"
    graphs: int = 0
    ops: int = 0
    message: str = ""
    full_message: str = ""
    expected: str = ""
    got: str = ""

    def __str__(self) -> str:
        line = f"{self.name:<44} {self.verdict:<10} graphs={self.graphs:<3} ops={self.ops:<4} full={self.full:<10} {self.message}"
        detail = f"\n    expected {self.expected}\n    got      {self.got}" if self.verdict == "different" else ""
        return line.rstrip() + detail


class Run:
    """One drive of a case with one way of compiling: what it observed, and the exceptions on the way."""

    def __init__(self, case: ModuleType, compile: Compile) -> None:
        self.errors: list[BaseException] = []
        seed()
        try:
            self.observed: tuple[str, Any] = ("done", self._drive(case, compile))
        except Exception as error:
            self.errors.append(error)
            self.observed = ("raised", type(error).__name__)

    def _drive(self, case: ModuleType, compile: Compile) -> Any:
        if hasattr(case, "drive"):
            return case.drive(compile)
        function, arguments, *rest = case.make()
        observe = rest[0] if rest else lambda: None
        compiled = compile(function)
        return [self._call(compiled, arguments(), observe) for _ in range(getattr(case, "CALLS", 2))]

    def _call(self, function: Callable, arguments: tuple, observe: Callable[[], Any]) -> tuple:
        args, keywords = arguments, {}
        if len(arguments) == 2 and isinstance(arguments[0], tuple) and isinstance(arguments[1], dict):
            args, keywords = arguments
        try:
            outcome = "returned", picture(function(*args, **keywords))
        except Exception as error:
            self.errors.append(error)
            outcome = "raised", type(error).__name__
        return *outcome, picture(list(arguments)), picture(observe())


class CountingBackend:
    """A backend that runs the graph as it is, and counts."""

    def __init__(self) -> None:
        self.graphs = 0
        self.ops = 0

    def __call__(self, gm, example_inputs) -> Callable:
        self.graphs += 1
        self.ops += sum(node.op.startswith("call_") for node in gm.graph.nodes)
        return gm.forward


def seed() -> None:
    random.seed(1234)
    torch.manual_seed(1234)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(1234)


def load(path: Path) -> ModuleType:
    """The case at `path` as a module, with the engine's graph break behind `_common`."""
    sys.path.insert(0, str(path.parent))
    import _common

    _common.graph_break = frameloom.graph_break
    spec = importlib.util.spec_from_file_location(path.stem, path)
    case = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = case
    spec.loader.exec_module(case)
    return case


def judge(path: Path) -> Result:
    """Run one case eagerly, compiled, and compiled with fullgraph."""
    case = load(path)
    eager = Run(case, lambda function: function)
    result = Result(path.stem, "")
    backend, run = compiled(case, fullgraph=False)
    result.verdict, result.message = verdict(case, eager, run)
    result.graphs, result.ops = backend.graphs, backend.ops
    result.expected, result.got = repr(eager.observed)[:600], repr(run.observed)[:600]
    _, run = compiled(case, fullgraph=True)
    result.full, result.full_message = verdict(case, eager, run)
    return result


def compiled(case: ModuleType, fullgraph: bool) -> tuple[CountingBackend, Run]:
    backend = CountingBackend()
    frameloom.reset()
    return backend, Run(case, lambda function: frameloom.compile(function, backend=backend, fullgraph=fullgraph))


def verdict(case: ModuleType, eager: Run, run: Run) -> tuple[str, str]:
    """The verdict and, where it is not `same`, the first line of the exception that tells why."""
    if is_same(case, eager, run):
        return "same", ""
    ours = [error for error in run.errors if isinstance(error, FrameloomError)]
    if ours:
        return "refused", first_line(ours[0])
    if run.errors and not eager.errors:
        return "error", first_line(run.errors[-1])
    return "different", first_line(run.errors[-1]) if run.errors else ""


def is_same(case: ModuleType, eager: Run, run: Run) -> bool:
    if hasattr(case, "check") and eager.observed[0] == run.observed[0]:
        return bool(case.check(eager.observed[1], run.observed[1]))
    return eager.observed == run.observed


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:140] if lines else ''}"


def isolated(path: Path, timeout: float) -> Result:
    """Judge a case in a forked process, so that neither a crash nor its state reaches the others."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _judge_and_leave(path, writing)
    os.close(writing)
    late = not select.select([reading], [], [], timeout)[0]
    if late:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, encoding="utf-8") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if late:
        return Result(path.stem, "timeout")
    return Result(**json.loads(text)) if text else Result(path.stem, "crash", message=f"wait status {status}")


def _judge_and_leave(path: Path, writing: int) -> None:
    """Write the result to the pipe and end the process, whatever happens."""
    try:
        text = json.dumps(dataclasses.asdict(judge(path)))
        with os.fdopen(writing, "w", encoding="utf-8") as file:
            file.write(text)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def case_files(folder: str, only: str = "") -> list[Path]:
    """The cases of a folder; only: beginnings of names, separated by commas."""
    wanted = tuple(only.split(",")) if only else ("",)
    return [path for path in sorted((HERE / folder).glob("[a-z][0-9][0-9]_*.py")) if path.name.startswith(wanted)]


def run(paths: list[Path], timeout: float) -> Iterator[Result]:
    """Judge the cases one after another."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for path in paths:
        yield isolated(path, timeout)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run cases eagerly and compiled, and compare.")
    parser.add_argument("folder", choices=["cells", "reports"])
    parser.add_argument("--only", default="", help="beginnings of case names, separated by commas")
    parser.add_argument("--timeout", type=float, default=90, help="seconds for one case")
    parser.add_argument("--json", default="", help="also write the results to this file")
    arguments = parser.parse_args()
    started = time.perf_counter()
    results = []
    for result in run(case_files(arguments.folder, arguments.only), arguments.timeout):
        results.append(result)
        print(result, flush=True)
    print(f"\nverdicts   {dict(Counter(result.verdict for result in results))}")
    print(f"fullgraph  {dict(Counter(result.full for result in results))}")
    print(f"{len(results)} cases in {time.perf_counter() - started:.0f} s")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([dataclasses.asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    main()
