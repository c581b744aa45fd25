"""The default backend: torch's inductor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._inductor import config as inductor_config
from torch._inductor import list_mode_options
from torch._inductor.compile_fx import compile_fx

from frameloom.diagnostics.errors import WrongOption
from frameloom.pytorch.backends.aot import made_by
from frameloom.pytorch.backends.fake_inputs import fake_inputs, share_storage

DEFAULTS = {"fallback_random": True}
"""So that dropout and its kin draw the numbers that eager draws, unless the program's own options differ."""


def inductor(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any], mode: str | None = None, options: Mapping[str, Any] | None = None
) -> Callable:
    """Compile with inductor.  `mode` is one of its modes, `options` its settings by name; see `settings`."""
    fake_mode, fakes = fake_inputs(gm, example_inputs)
    chosen = settings(mode, options)
    if share_storage(fakes):
        chosen = {**chosen, "force_disable_caches": True}  # torch's key of its caches leaves out what overlaps
    return made_by(functools.partial(compile_fx, config_patches=chosen), gm, fake_mode, fakes)


def settings(mode: str | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Inductor's settings for a mode and options.  Raises WrongOption for a mode, name or type it does not know."""
    chosen = dict(DEFAULTS)
    if mode not in (None, "default"):
        modes = list_mode_options()
        if mode not in modes:
            raise WrongOption(f"mode is one of {', '.join(map(repr, modes))}, not {mode!r}")
        chosen.update(modes[mode])
    known = inductor_config.get_config_copy()
    for name, value in (options or {}).items():
        plain = name.replace("-", "_")
        if plain not in known:
            raise WrongOption(f"inductor has no option {name!r}")
        if known[plain] is not None and type(value) is not type(known[plain]) and not isinstance(known[plain], type(value)):
            raise WrongOption(f"option {name!r} is a {type(known[plain]).__name__}, not {value!r}")
        chosen[plain] = value
    return chosen


inductor.check = settings  # type: ignore[attr-defined]
inductor.makes_backward = True  # type: ignore[attr-defined]
