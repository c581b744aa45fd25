"""The module of a captured graph, as backends are given it."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx._lazy_graph_module import _LazyGraphModule


class CapturedModule(_LazyGraphModule):
    """The module that a backend is given.  It is none of the user's modules, so that the hooks which
    `register_module_forward_hook` and its kin set for all modules do not see it, however it is called."""

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if own_hooks(self):  # a backend's
            self.real_recompile()  # else the first call of `forward` is another call of the module
            return super()._call_impl(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _real_recompile(self) -> Any:
        """An exception in the graph is the program's, which may handle it: what torch.fx would print about it is left out."""
        code = super()._real_recompile()
        type(self).__call__ = torch.nn.Module.__call__
        return code


HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def own_hooks(module: torch.nn.Module) -> bool:
    """Whether somebody has set hooks on just this module."""
    return any(getattr(module, name) for name in HOOKS)
