"""What the guards of a tree of modules cost a call, on the running Python, without torch.

    python -m benchmarks.trees

A toy module has what `torch.nn.Module` has: a `__dict__` that exists, dicts of parameters, buffers and modules, hooks, a flag.  Every
module of a chain is looked at as a trace looks at it when it calls one.
"""
from __future__ import annotations

import builtins
import platform
import statistics
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from frameloom.compile.guard_program import Lowered, lower
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.layouts import dict_
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.session import Session
from frameloom.symbolic.values import Const, Obj

SIZES = (10, 100, 1000)
TURNS = 15
TURN = 0.01  # seconds
DICTS = ("_parameters", "_buffers", "_modules")
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class ToyModule:
    def __init__(self, number: int) -> None:
        own = vars(self)
        own["training"] = False
        own |= {name: {} for name in DICTS}
        own |= {name: OrderedDict() for name in HOOKS}
        own["_parameters"] |= {"weight": float(number), "bias": 0.5}


def chain(length: int) -> ToyModule:
    """A module with so many others."""
    root = ToyModule(0)
    root.__dict__["_modules"] |= {str(number): ToyModule(number) for number in range(length)}
    return root


def look(session: Session, module: Obj) -> None:
    """Read of a module what calling it reads, and of those that it has."""
    body = DictBody(False, module.real, "attribute")
    for name in ("training", "forward"):
        dict_.get(session, body, name, Const(name))
    for name in HOOKS:
        dict_.length(session, dict_.get(session, body, name, Const(name)).body)
    for name in DICTS:
        found = dict_.get(session, body, name, Const(name))
        for key, value in dict_.entries(session, found.body):
            value = session.observe.resolve(value)
            if name == "_modules":
                look(session, value)


def call(module: Any) -> None:
    """Its code gives the module its slot."""


def guards_of(root: ToyModule) -> Lowered:
    session = Session(Domain())
    look(session, session.observe.wrap(root, session.sources.local("module")))
    return lower(session.guards.values(), call.__code__)


def seconds(program: Any, root: ToyModule) -> Iterator[float]:
    """Seconds of the processor that one evaluation takes, a figure a turn."""
    scope = ((root,), None, globals(), vars(builtins))
    for _ in range(TURNS):
        times, start = 0, time.process_time()
        while time.process_time() - start < TURN:
            for _ in range(10):
                program.check(*scope)
            times += 10
        yield (time.process_time() - start) / times


def main() -> None:
    print(f"guards of a chain of modules, {platform.python_implementation()} {platform.python_version()}")
    for length in SIZES:
        root = chain(length)
        program = guards_of(root).program
        if program.check((root,), None, globals(), vars(builtins)) != -1:
            raise RuntimeError("the guards do not hold")
        median = statistics.median(seconds(program, root))
        print(f"{length:5} modules {median * 1e6:9.2f} us {median / length * 1e9:7.1f} ns a module  {len(program)} rows, snapshots {program.snapshots}")


if __name__ == "__main__":
    main()
