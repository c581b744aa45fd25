"""Which callables are operations of the graph, and what is known of some of them beyond what a run on fakes tells."""

from __future__ import annotations

import operator
import types
from typing import Any

import torch

from frameloom.interpreter.registry import REFUSED

TENSOR_BASE = torch._C.TensorBase

FUNCTION_MODULES = frozenset(
    {
        "torch", "torch._C", "torch._C._nn", "torch._C._fft", "torch._C._linalg", "torch._C._special", "torch._C._sparse",
        "torch._C._nested",
    }
)
"""Modules whose built-in functions are operations, unless a rule, a refusal or `ABOUT_TORCH` says otherwise."""

METHOD_TYPES = (types.MethodDescriptorType, types.WrapperDescriptorType)

IN_PLACE_OPERATORS = frozenset(
    {
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
        operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift, operator.imatmul, operator.setitem,
    }
)


def is_operation(function: Any) -> bool:
    """Whether a call of `function` goes to the graph."""
    try:
        known = _KNOWN.get(function)
    except TypeError:
        return False
    if known is None:
        known = _classify(function)
        if known:
            _KNOWN[function] = known
    return known


_KNOWN: dict[Any, bool] = {}


def _classify(function: Any) -> bool:
    if function in REFUSED:
        return False
    if isinstance(function, METHOD_TYPES):
        return function.__objclass__ is TENSOR_BASE
    if isinstance(function, types.BuiltinFunctionType):
        return function.__module__ in FUNCTION_MODULES and _computes(function)
    return isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket))


def _computes(function: types.BuiltinFunctionType) -> bool:
    """Whether a built-in function of torch computes tensors: those that do are the dispatcher's."""
    owner = function.__self__
    if function.__module__ in ("torch", "torch._C"):
        return owner is None or isinstance(owner, type) and owner.__name__ == "_VariableFunctionsClass"
    return True


def name_of(function: Any) -> str:
    """The short name of an operation."""
    if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(function).partition("::")[2].partition(".")[0] or str(function)
    return getattr(function, "__name__", type(function).__name__)


def writes_by_name(function: Any, kwargs: dict) -> bool:
    """Whether an operation says by its name or an `out` argument that it writes to an argument."""
    if function in IN_PLACE_OPERATORS or "out" in kwargs:
        return True
    name = name_of(function)
    if name.startswith("__"):
        return name in IN_PLACE_METHODS
    return name.endswith("_")


IN_PLACE_METHODS = frozenset(
    {f"__i{name}__" for name in "add sub mul truediv div floordiv mod pow and or xor lshift rshift matmul".split()}
    | {"__setitem__"}
)

IMPURE = frozenset(
    {
        "_assert_async", "_functional_assert_async", "_assert_tensor_metadata", "_check_is_size", "sym_constrain_range",
        "sym_constrain_range_for_size", "batch_norm", "instance_norm", "native_batch_norm", "_batch_norm_impl_index",
    }
)
"""Operations with an effect that their schema does not tell: they run whoever reads their result."""

RUNNING_STATISTICS = {"batch_norm": (3, 4, 5), "instance_norm": (3, 4, 5), "native_batch_norm": (3, 4, 5)}
"""Normalisations that update running statistics when training: the positions of mean, variance and the flag."""

FAIL_BY_VALUE = frozenset(
    {
        "embedding", "embedding_bag", "gather", "scatter", "scatter_add", "scatter_reduce", "scatter_", "scatter_add_",
        "scatter_reduce_", "index_select", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_put",
        "index_put_", "take", "take_along_dim", "put_", "put", "one_hot", "bincount", "multinomial", "bernoulli",
        "nll_loss", "nll_loss_nd", "cross_entropy_loss", "nll_loss2d", "cholesky", "linalg_cholesky", "inverse", "linalg_inv",
        "linalg_solve", "linalg_lstsq", "linalg_svd", "linalg_eigh", "linalg_eig", "linalg_qr", "getitem", "__getitem__",
        "__setitem__", "setitem", "_assert_async", "repeat_interleave", "ctc_loss", "embedding_renorm_", "randint", "normal",
        "ctc_loss", "floor_divide", "floordiv", "remainder", "mod", "fmod", "__floordiv__", "__mod__", "div", "unique_dim",
        "multi_margin_loss", "multilabel_margin_loss", "histc", "searchsorted", "_grouped_mm", "grid_sampler", "lu_factor",
        "index_reduce", "tensor_split", "narrow", "normal_", "random_", "kl_div", "binary_cross_entropy",
    }
)
"""Operations that may refuse values which their shapes and dtypes do not tell, so that a dead one must still run."""
