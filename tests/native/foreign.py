"""Extensions that stand for other engines, built from one C file where they are needed."""
from __future__ import annotations

import functools
import importlib.util
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType


@functools.cache
def build(source: Path) -> ModuleType:
    """The extension module of a C file, built once a process with the compiler that the package itself is built with."""
    folder = Path(tempfile.mkdtemp(prefix="frameloom-foreign-"))
    target = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(target)], check=True)
    spec = importlib.util.spec_from_file_location(source.stem, target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
