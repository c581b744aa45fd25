"""Questions whether some tracer is at work: to what runs in a trace, this compiler is, and no other one is."""

from __future__ import annotations

import torch

import frameloom.pytorch.compiling  # noqa: F401  the rule goes by the code that it gives the function
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import named_rule, rule, see_through
from frameloom.pytorch import modes
from frameloom.symbolic.values import FALSE, NONE, TRUE, Const, Value, boolean


@rule(torch.compiler.is_compiling)
def _is_compiling(m: Machine) -> Value:
    return TRUE


@rule(torch.compiler.is_exporting, torch.compiler.is_dynamo_compiling, torch.jit.is_scripting, torch.jit.is_tracing)
def _no_other(m: Machine) -> Value:
    return FALSE


@named_rule("torch._dynamo.mutation_guard", "GenerationTracker.tag")
def _tag(m: Machine, cls: Value, module: Value) -> Value:
    """Once torch.compile has run in a process, it takes note of every module made from then on, for itself alone."""
    return NONE


@named_rule("torch._dynamo.decorators", "graph_break")
def _mark_of_another_compiler(m: Machine, *message: Value, **named: Value) -> Value:
    """Where torch.compile would end its graph; eager does nothing there."""
    return NONE


see_through("torch._compile", "_disable_dynamo.<locals>.inner", "fn")
see_through("torch._dynamo.eval_frame", "DisableContext.__call__.<locals>._fn", "fn", inside="torch")
"""Torch keeps its own compiler out of some of its functions, which mean what they say to any other.  A user who does so means any."""


@rule(torch._C._get_tracing_state)
def _tracing_state(m: Machine) -> Value:
    return NONE


@rule(torch._C._is_tracing, torch._C._are_functorch_transforms_active)
def _not_tracing(m: Machine) -> Value:
    return FALSE


@rule(torch._C._log_api_usage_once)
def _log_api_usage(m: Machine, *names: Value) -> Value:
    return NONE


def _flag(function, text: str) -> None:
    """A global setting that the program asks: its answer is guarded."""
    flag = modes.Flag(function, text)

    @rule(function)
    def asked(m: Machine) -> Value:
        modes.guard(m.session, flag)
        return Const(function())


for _name in (
    "_get_nnpack_enabled", "_get_deterministic_algorithms", "_get_deterministic_algorithms_warn_only",
    "_get_deterministic_fill_uninitialized_memory", "_cuda_isInBadFork", "_is_multithreading_enabled", "_is_fwd_grad_enabled", "get_num_threads",
    "get_num_interop_threads", "_get_warnAlways", "_get_privateuse1_backend_name", "_accelerator_getAccelerator",
):
    _found = getattr(torch._C, _name, None)
    if _found is not None:
        _flag(_found, f"torch._C.{_name}()")


@rule(torch._C._has_storage)
def _has_storage(m: Machine, tensor: Value) -> Value:
    return boolean(issubclass(tensor.cls, torch.Tensor))
