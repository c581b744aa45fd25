"""`torch.compiler.is_compiling()` below a compiled callable (law 1).

Torch keeps the answer in a global of its module, which all threads share, and programs hold the function itself (`from
torch.compiler import is_compiling`).  So the function is given another code object: it also asks whether the calling thread is
below a compiled callable.  File, name and first line stay those of the original, which TorchScript reads the source by.
"""

from __future__ import annotations

import torch

from frameloom.compile.running import in_compiled

QUESTION = "_frameloom_in_compiled"


def _is_compiling() -> bool:
    if torch.jit.is_scripting():
        return False
    return _is_compiling_flag or _frameloom_in_compiled()  # noqa: F821  names of torch.compiler


def install() -> None:
    """Give `torch.compiler.is_compiling` its code; done once."""
    function = torch.compiler.is_compiling
    names = vars(torch.compiler)
    if QUESTION in names:
        return
    names[QUESTION] = in_compiled
    original = function.__code__
    function.__code__ = _is_compiling.__code__.replace(
        co_filename=original.co_filename,
        co_firstlineno=original.co_firstlineno,
        co_name=original.co_name,
        co_qualname=original.co_qualname,
    )


install()
