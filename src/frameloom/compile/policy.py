"""Which frames are captured."""

from __future__ import annotations

import sysconfig
import types
from enum import Enum
from typing import Any

from frameloom.codegen.resume import HIDDEN, origin_of
from frameloom.compile.reruns import runs_again
from frameloom.interpreter.registry import kind_of_module


class Verdict(Enum):
    """CAPTURE the frame; PASS: this code runs as it is, what it calls is looked at; LEAVE: nor is what it calls."""

    CAPTURE = "capture"
    PASS = "pass"
    LEAVE = "leave"


LEFT_MODULES = (
    "importlib",
    "_frozen_importlib",
    "frameloom",
    "torch._dynamo",
    "torch._inductor",
    "torch._functorch",
    "torch.fx",
    "torch._subclasses",
    "torch._guards",
    "torch.jit",
    "torch.nn.modules.lazy",
    "torch.testing",
    "torch.utils._sympy",
    "torch.export",
    "sympy",
    "pytest",
    "_pytest",
    "hypothesis",
)
"""Modules that do the work of a compiler, a tracer or a test runner, or what is done once in the life of an object: neither they nor what
they call is captured."""

PASSED_MODULES = ("torch",)
"""Modules whose own functions run as they are where a break has called them; what they call back is captured.  So do those of
modules that are refused."""

CAPTURED_MODULES = ("torch.nn", "torch.optim", "torch.distributions", "torch.functional")
"""Modules below those whose functions are captured all the same: they do what a user's code would."""

CHANGED_IN_PLACE = frozenset({"_pylong"})
"""Modules whose functions CPython calls for a new number, of which it then changes the sign: an entry would give it the same one again."""

STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"]
SITE_PACKAGES = (sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"])


def is_made(code: types.CodeType) -> bool:
    """Whether the compiler made the code to run as it is: bridges, frames that begin with the instruction that broke, and frames
    whose graph failed."""
    return HIDDEN in code.co_varnames and origin_of(code) is None or runs_again(code)


def verdict(function: types.FunctionType, code: types.CodeType, asked_for: bool) -> Verdict:
    """What to do with a frame; `asked_for` says that the user asked for just this function, or for every one."""
    if is_made(code):
        return Verdict.PASS
    if function.__globals__.get("__name__") in CHANGED_IN_PLACE:
        return Verdict.LEAVE
    if asked_for:
        return Verdict.CAPTURE
    module = function.__globals__.get("__name__")
    if isinstance(module, str) and _is_below(module, LEFT_MODULES):
        return Verdict.LEAVE
    if isinstance(module, str) and _runs_as_it_is(module):
        return Verdict.PASS
    filename = code.co_filename
    if filename.startswith("<frozen "):
        return Verdict.LEAVE
    if filename.startswith(STANDARD_LIBRARY) and not filename.startswith(SITE_PACKAGES):
        return Verdict.PASS
    return Verdict.CAPTURE


def _runs_as_it_is(module: str) -> bool:
    passed = _is_below(module, PASSED_MODULES) and not _is_below(module, CAPTURED_MODULES)
    return passed or kind_of_module(module) is not None


def _is_below(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def is_fruitless(plan: Any) -> bool:
    """Whether an entry would do nothing that running the frame as it is would not do as well."""
    return plan.graph is None and not plan.has_break


MOST_FRUITLESS = 3
"""After so many fruitless captures in a row a code object is not captured any more."""
