"""The pages of break kinds, found in a checkout and in an installation alike."""
from __future__ import annotations

from importlib import metadata
from pathlib import Path

from frameloom.diagnostics.breaks import BREAKS
from frameloom.diagnostics.errors import UnknownCode


def page(code: str) -> str:
    """The text of the page of `code`; `fl201` and `201` are understood too.

    Raises UnknownCode for a code without row, and FileNotFoundError where the installation lacks its pages.
    """
    full = code.upper() if code.upper().startswith("FL") else f"FL{code}"
    if full not in BREAKS:
        raise UnknownCode(full)
    for path in _candidates(f"{full}.md"):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"the page of {full} is not installed")


def _candidates(name: str) -> list[Path]:
    """Where the page may be: beside the sources, and where the installed distribution put it."""
    places = [Path(__file__).resolve().parents[3] / "docs" / "breaks" / name]
    try:
        installed = metadata.files("frameloom") or []
    except metadata.PackageNotFoundError:
        installed = []
    places += [Path(str(file.locate())) for file in installed if file.name == name]
    return places
