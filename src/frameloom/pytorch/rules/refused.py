"""Functions and methods of torch that are known not to go into a graph, each with its reason."""

from __future__ import annotations

from typing import Any

import torch

from frameloom.interpreter.registry import refuse, refuse_instances, refuse_module
from frameloom.pytorch.rules import control_flow, generators, transforms
from frameloom.pytorch.settings import SETTERS

TENSOR = torch.Tensor

NUMBERS = ("__bool__", "__int__", "__float__", "__complex__", "__nonzero__", "is_nonzero", "equal", "allclose")
SHAPES = ("nonzero_static",)
MEMORY = (
    "data_ptr", "untyped_storage", "storage_offset", "is_set_to", "is_pinned", "pin_memory", "is_shared", "share_memory_",
    "_typed_storage", "_use_count", "storage", "storage_type", "is_same_size", "__dlpack__", "__dlpack_device__",
)
STORAGE = ("set_", "resize_", "resize_as_", "_set_data", "set_data", "apply_", "map_", "map2_")
AUTOGRAD = ("_backward", "backward", "detach_", "_make_subclass")
NUMPY = ("numpy", "__array__", "__array_wrap__")
TEXT = ("__repr__", "__format__", "__str__")
LAYOUTS = (
    "to_sparse", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "to_mkldnn", "to_dense", "coalesce",
    "values", "indices", "crow_indices", "col_indices", "ccol_indices", "row_indices", "sparse_mask", "sparse_dim", "dense_dim",
    "to_padded_tensor", "rename", "rename_", "align_to", "align_as", "refine_names", "names",
)


def _refuse(kind: str, because: str, names: tuple[str, ...], *places: Any) -> None:
    for name in names:
        for place in places:
            found = getattr(place, name, None)
            if found is not None and _is_hashable(found):
                refuse(kind, because.format(name), found)


def _is_hashable(found: Any) -> bool:
    try:
        hash(found)
    except TypeError:
        return False
    return callable(found)


BASE = torch._C.TensorBase

_refuse("FL202", "{} of a tensor", NUMBERS, BASE, torch)
_refuse("FL203", "{} of a tensor", SHAPES, BASE, torch)
_refuse("FL206", "{} of a tensor", MEMORY, BASE, TENSOR)
_refuse("FL310", "{} of a tensor", STORAGE, BASE)
_refuse("FL308", "{} of a tensor", AUTOGRAD, BASE)
_refuse("FL306", "{} of a tensor", ("backward",), TENSOR)
_refuse("FL304", "{} of a tensor", NUMPY, BASE, TENSOR)
_refuse("FL304", "torch.{}", ("from_numpy", "frombuffer"), torch)
_refuse("FL205", "{} of a tensor", TEXT, BASE, TENSOR)
_refuse("FL311", "{} of a tensor", LAYOUTS, BASE)
_refuse("FL204", "{} of a tensor", ("__index__",), BASE)
_refuse(
    "FL311", "torch.{}",
    ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor",
     "sparse_compressed_tensor", "quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic", "dequantize"),
    torch,
)
_refuse("FL306", "torch.autograd.{}", ("backward",), torch.autograd)
_refuse(
    "FL317", "torch.{}",
    ("set_default_device", "set_num_threads", "set_num_interop_threads", "set_flush_denormal",
     "set_default_tensor_type", "set_warn_always"),
    torch,
)
_refuse(
    "FL317", "torch._C.{}",
    tuple(name for name in dir(torch._C) if name.startswith("_set_") and name != "_set_grad_enabled" and getattr(torch._C, name) not in SETTERS),
    torch._C,
)
_refuse("FL303", "torch.func.{}", ("functionalize", "linearize", "debug_unwrap"), torch.func)
_refuse(
    "FL303", "torch._C._functorch.{}",
    tuple(name for name in dir(torch._C._functorch) if "nesting" in name or "batch_dim" in name), torch._C._functorch,
)
_refuse("FL312", "torch.cuda.{}", ("synchronize", "set_device", "empty_cache", "current_stream", "stream"), torch.cuda)
refuse("FL305", "torch functions are switched off for a while", torch._C.DisableTorchFunction, torch._C.DisableTorchFunctionSubclass)
refuse("FL305", "operations of a tensor subclass", TENSOR.__torch_function__.__func__)
refuse("FL306", "gradients are computed", TENSOR.backward, torch.autograd.backward)
def _asks_for_groups() -> tuple:
    """The functions behind `torch.distributed.is_initialized()`: programs ask it that communicate with nobody."""
    c10d = torch.distributed.distributed_c10d
    return (
        torch.distributed.is_initialized, type(c10d.GroupMember).__dict__["WORLD"].fget, type(c10d._world).__dict__["default_pg"].fget
    )


refuse("FL313", "a function is made into TorchScript", torch.jit.script, torch.jit.trace, torch.jit.trace_module, torch.jit.freeze)
refuse_module("FL301", "torch.nn.modules._functions")
refuse_module("FL303", "torch._functorch", "torch._vmap_internals", but=(torch.func.functional_call, *transforms.INLINED))
refuse_module("FL304", "numpy")
refuse_module("FL307", "torch.random", "torch.cuda.random", but=generators.INLINED)
refuse_module(
    "FL314", "torch._higher_order_ops", "torch.utils.checkpoint",
    but=(torch.utils.checkpoint.checkpoint_sequential, *control_flow.INLINED),
)
refuse_module(
    "FL315", "torch.distributed.distributed_c10d", "torch.distributed.c10d_logger", "torch.distributed._functional_collectives",
    "torch.distributed.rpc", but=_asks_for_groups() if torch.distributed.is_available() else (),
)
refuse_module("FL319", "torch.profiler", "torch.autograd.profiler")
refuse_module("FL320", "torch._compile", "torch._dynamo.decorators", "torch._dynamo.eval_frame", "torch._dynamo.convert_frame", "torch._inductor", "torch.export", "torch._export")
refuse_instances("FL311", torch.Tensor, torch.nn.Parameter, of_subclasses="FL305")
refuse_instances("FL312", torch.Stream, torch.Event)
refuse_instances("FL313", torch.jit.ScriptFunction, torch._C.ScriptMethod)
