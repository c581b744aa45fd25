"""The report file of an internal error: everything that is needed to find the fault, and nothing of the program's data."""
from __future__ import annotations

import io
import os
import platform
import tempfile
import traceback
from collections.abc import Mapping
from types import CodeType

from frameloom import config
from frameloom.diagnostics.location import Location


def write_report(error: BaseException, code: CodeType, chain: tuple[Location, ...] = (),
                 sections: Mapping[str, str] | None = None) -> str:
    """Write the report of `error`, met while `code` was captured, and give the path of the file.

    chain: where in the program, innermost first.  sections: further texts by title, such as the instructions and the plan.
    Raises OSError where no file can be written.
    """
    handle, path = tempfile.mkstemp(prefix=f"frameloom-{code.co_name.strip('<>')}-", suffix=".txt",
                                    dir=config.current().report_directory)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(_text(error, code, chain, sections or {}))
    return path


def _text(error: BaseException, code: CodeType, chain: tuple[Location, ...], sections: Mapping[str, str]) -> str:
    out = io.StringIO()
    out.write(f"internal error of frameloom: {type(error).__name__}: {error}\n\n")
    out.write(f"python    {platform.python_implementation()} {platform.python_version()} on {platform.platform()}\n")
    out.write(f"function  {code.co_qualname} ({code.co_filename}:{code.co_firstlineno})\n")
    out.writelines(f"at        {location}\n" for location in chain)
    out.write(f"settings  {config.current()}\n")
    parts = {"traceback": "".join(traceback.format_exception(error)), **sections}
    for title, text in parts.items():
        out.write(f"\n{title}\n{'-' * len(title)}\n{text.rstrip()}\n")
    return out.getvalue()
