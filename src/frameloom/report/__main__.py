"""The command line: `frameloom explain FL201`, also `python -m frameloom`."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata

from frameloom.diagnostics.breaks import BREAKS
from frameloom.diagnostics.errors import UnknownCode
from frameloom.report import pages


def _explain(arguments: argparse.Namespace) -> int:
    if not arguments.codes:
        for kind in BREAKS.values():
            print(f"{kind.code}  {kind.title}")
        return 0
    try:
        texts = [pages.page(code) for code in arguments.codes]
    except (UnknownCode, FileNotFoundError) as error:
        print(f"frameloom: {error}", file=sys.stderr)
        return 2
    print("\n\n".join(text.strip() for text in texts), flush=True)
    return 0


COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {"explain": _explain}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status: 0, or 2 for what is not understood."""
    parser = argparse.ArgumentParser(prog="frameloom", description="A frame-evaluation graph compiler front end for PyTorch.")
    parser.add_argument("--version", action="version", version=f"frameloom {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    explain = commands.add_parser("explain", help="print the page of a graph break; without a code, list all of them")
    explain.add_argument("codes", nargs="*", metavar="CODE", help="such as FL201")
    parsed = parser.parse_args(arguments)
    try:
        return COMMANDS[parsed.command](parsed)
    except BrokenPipeError:
        _close_quietly()
        return 0


def _close_quietly() -> None:
    """The reader (`| head`) has seen enough: keep the interpreter from complaining when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version() -> str:
    try:
        return metadata.version("frameloom")
    except metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
