"""The code objects of the running Python's standard library."""
from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

ROOT = Path(sysconfig.get_path("stdlib"))


def files() -> list[Path]:
    """Every source file, in a fixed order."""
    return sorted(path for path in ROOT.rglob("*.py") if "site-packages" not in path.parts)


def code_of(path: Path) -> CodeType | None:
    """The module's code object, None for the files that are no valid source on purpose (tests of the parser)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, UnicodeError):
        return None


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object and all those among its constants."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def codes(step: int = 1) -> Iterator[CodeType]:
    """The code objects of every `step`-th file."""
    for path in files()[::step]:
        code = code_of(path)
        if code is not None:
            yield from nested(code)
