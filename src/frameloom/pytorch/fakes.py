"""Running an operation on fake tensors, to learn the facts of its result.

Fakes are made from facts and kept for the next operation that meets the same facts.  While an operation runs, a mode above
the fake one watches the kernels it is made of: which storages they write, and whether they draw random numbers.
"""

from __future__ import annotations

import contextlib
import logging
import traceback
from typing import Any, Callable, Iterator, Mapping

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv
from torch.utils._python_dispatch import TorchDispatchMode

from frameloom.pytorch.applied import WithBody
from frameloom.pytorch.arguments import Arguments, fill
from frameloom.pytorch.casts import casting
from frameloom.pytorch.facts import GeneratorFact, SizeFact, TensorFact, fact, is_dense
from frameloom.pytorch.outcomes import (
    ArgumentResult,
    ConstantResult,
    Outcome,
    SequenceResult,
    SizeResult,
    TensorResult,
)
from frameloom.pytorch.sizes import lift_size
from frameloom.pytorch.symbolic_forms import FORMS
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import Node

TENSOR_CLASSES = {FakeTensor: torch.Tensor, torch.Tensor: torch.Tensor, torch.nn.Parameter: torch.nn.Parameter}
CONSTANT_CLASSES = frozenset(
    {type(None), bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format}
)
SEQUENCES = frozenset({list, tuple, torch.Size})


class OperationFailed(Exception):
    """The operation refuses these shapes, dtypes or constants; `error` is what it raised on fakes."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Watch(TorchDispatchMode):
    """Sees each kernel of an operation before the fake mode does.  Of an operator with bodies it sees the call only: what bodies do is
    known before."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.random = False
        self.storages: set[int] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(function, torch._ops.HigherOrderOperator):
            return function(*args, **kwargs)
        if torch.Tag.nondeterministic_seeded in function.tags:
            self.random = True
        schema = function._schema
        if schema.is_mutable:
            self._note_writes(schema, args, kwargs)
        return function(*args, **kwargs)

    def _note_writes(self, schema: Any, args: tuple, kwargs: dict) -> None:
        for index, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = args[index] if index < len(args) else kwargs.get(argument.name)
                for tensor in given if isinstance(given, (list, tuple)) else (given,):
                    if isinstance(tensor, torch.Tensor):
                        self.storages.add(storage_of(tensor))


def storage_of(tensor: torch.Tensor) -> int:
    """The identity of a tensor's storage, for comparison while both tensors live."""
    return tensor.untyped_storage()._cdata


class Fakes:
    """A fake mode and its pool of fakes by fact."""

    def __init__(self, mode: FakeTensorMode) -> None:
        self.mode = mode
        self.pool: dict[TensorFact, list] = {}

    def take(self, wanted: TensorFact, position: int) -> torch.Tensor:
        """The fake number `position` of a fact."""
        pool = self.pool.setdefault(wanted, [])
        while len(pool) <= position:
            pool.append(self.make(wanted))
        return pool[position]

    def make(self, wanted: TensorFact) -> torch.Tensor:
        """A new fake with this fact."""
        with self.mode, torch.inference_mode(wanted.inference), torch.enable_grad():
            sizes = tuple([number_of(n) for n in wanted.sizes])
            strides = tuple([number_of(n) for n in wanted.strides])
            made = torch.empty_strided(sizes, strides, dtype=wanted.dtype, device=wanted.device)
            derived = wanted.requires_grad and not wanted.is_leaf
            if derived:
                made = self._follow(made.requires_grad_(True), sizes, strides)
            if wanted.conj:
                made = made.conj()
            if wanted.neg:
                made = torch._neg_view(made)
            if wanted.requires_grad and not derived:
                made = made.detach().requires_grad_(True)
            return made

    @staticmethod
    def _follow(leaf: torch.Tensor, sizes: tuple, strides: tuple) -> torch.Tensor:
        """A tensor of the same shape that an operation made."""
        if 0 in strides:
            return leaf.clone()
        return torch.empty_strided(sizes, strides, dtype=leaf.dtype, device=leaf.device).copy_(leaf)


def fake_of_real(mode: FakeTensorMode, found: torch.Tensor, origin: Any) -> torch.Tensor:
    """A fake of a real tensor with its sizes as they are; of tensors with one storage the fakes have one too."""
    return mode.from_tensor(_readable(found), static_shapes=True, source=origin)


def _readable(found: torch.Tensor) -> torch.Tensor:
    """The tensor, or, for a view with another dtype than its base, one over the same storage that is no view.

    torch makes the fake of a view out of a fake of the base, for which it must guess the views between; with dtypes that differ it may
    guess wrong and raise."""
    if not found._is_view() or found._base.dtype == found.dtype:
        return found
    made = torch.empty(0, dtype=found.dtype, device=found.device)
    with torch.no_grad():
        made.set_(found.untyped_storage(), found.storage_offset(), found.size(), found.stride())
    made = torch._neg_view(made) if found.is_neg() else made
    made = made.conj() if found.is_conj() else made
    return made.requires_grad_(found.requires_grad)


def number_of(size: Any) -> Any:
    """The number that torch computes with for a size of a fact."""
    return size if type(size) is int else size.number


_static: list[Fakes] = []


def static_fakes() -> Fakes:
    """The process's fakes of facts without symbolic sizes."""
    if not _static:
        environment = ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
        _static.append(Fakes(FakeTensorMode(shape_env=environment, static_shapes=True)))
    return _static[0]


def forget() -> None:
    """Drop the pool."""
    for fakes in _static:
        fakes.pool.clear()


FIRST_SAMPLE = {int: 3, float: 1.5, bool: True, complex: 1.5j}
SECOND_SAMPLE = {int: 5, float: 2.25, bool: False, complex: 2.25j}
"""Numbers that stand for one known at run time only."""


class Run:
    """One run of an operation on fakes."""

    def __init__(self, fakes: Fakes, call: Arguments, samples: dict[type, Any]) -> None:
        self.fakes = fakes
        self.call = call
        self.standing: dict[Node, Any] = {}
        used: dict[TensorFact, int] = {}
        for node in call.nodes:
            self.standing[node] = self._stand_in(node, used, samples)

    def _stand_in(self, node: Node, used: dict, samples: dict) -> Any:
        known = node.fact or self.call.numbers.get(node)
        if type(known) is SizeFact:
            return known.size.number
        if type(known) is GeneratorFact:
            return torch.Generator(known.device)
        if type(known) is not TensorFact:
            return samples[node.cls]
        wanted = self.call.fact_key(known)
        if self.call.exact:
            return self.fakes.make(wanted)
        position = used.get(wanted, 0)
        used[wanted] = position + 1
        return self.fakes.take(wanted, position)

    def measure(self, function: Callable, grad: bool, inference: bool, casts: tuple, numbers: Mapping[int | str, Any] = {}) -> Outcome:
        """Call `function`; raises GraphBreak where the data decide, OperationFailed where it refuses.

        numbers: argument (position or name) -> the number that stands for the tensor there.
        """
        if not isinstance(function, WithBody):
            return self._measure(function, grad, inference, casts, numbers)
        with torch._C._PreserveDispatchKeyGuard():  # a transform that fails on fakes leaves the thread's keys as they were inside
            try:
                return self._measure(function, grad, inference, casts, numbers)
            except Exception as error:
                let_go_of_frames(error)
                raise

    def _measure(self, function: Callable, grad: bool, inference: bool, casts: tuple, numbers: Mapping[int | str, Any]) -> Outcome:
        leaf = self.standing.__getitem__
        args = tuple([numbers[i] if i in numbers else fill(tree, leaf) for i, tree in enumerate(self.call.args)])
        kwargs = {name: numbers[name] if name in numbers else fill(tree, leaf) for name, tree in self.call.kwargs.items()}
        watch = Watch()
        # Kernels written in C++ alone take no symbolic sizes; their Python forms do.
        forms = enable_python_dispatcher() if self.call.symbolic else contextlib.nullcontext()
        with quiet(), forms, casting(casts), autograd_mode(grad, inference), self.fakes.mode, watch:
            result = guarded_call(FORMS.get(function, function) if self.call.symbolic else function, args, kwargs)
        return self._outcome(result, watch)

    def _outcome(self, result: Any, watch: Watch) -> Outcome:
        tensors = [(i, t) for i, t in enumerate(self.standing.values()) if isinstance(t, torch.Tensor)]
        storages = {storage_of(tensor): index for index, tensor in reversed(tensors)}
        written = tuple(index for index, tensor in tensors if storage_of(tensor) in watch.storages)
        changed = []
        for index, tensor in tensors:
            now = fact_of(tensor).ungraded
            if now is not self.call.nodes[index].fact.ungraded:
                changed.append((index, now))
        described = self._describe(result, {id(t): i for i, t in tensors}, storages, False)
        if changed and not self.call.exact:
            self.fakes.pool.clear()
        return Outcome(described, tuple(changed), written, watch.random)

    def _describe(self, result: Any, arguments: dict, storages: dict, one_of_many: bool) -> Any:
        cls = type(result)
        if isinstance(result, torch.Tensor):
            index = arguments.get(id(result))
            if index is not None:
                return ArgumentResult(index)
            return self._new_tensor(result, cls, storages, one_of_many)
        if cls in CONSTANT_CLASSES:
            return ConstantResult(result)
        if cls is torch.SymInt:
            size = lift_size(result)
            return ConstantResult(size) if type(size) is int else SizeResult(size)
        if cls in SEQUENCES or cls.__module__ == "torch.return_types":
            many = len(result) > 1 and cls in (list, tuple)
            return SequenceResult(cls, tuple(self._describe(item, arguments, storages, many) for item in result))
        raise GraphBreak("FL101", f"a torch function gives an object of class {cls.__qualname__}")

    def _new_tensor(self, result: torch.Tensor, cls: type, storages: dict, one_of_many: bool) -> TensorResult:
        real_class = TENSOR_CLASSES.get(cls)
        if real_class is None:
            raise GraphBreak("FL305", f"a torch function gives a tensor of class {cls.__qualname__}")
        if isinstance(result, torch.nn.Parameter):
            real_class = torch.nn.Parameter
        found = fact_of(result)
        alias = storages.get(storage_of(result))
        return TensorResult(found, real_class, alias, result._is_view(), not one_of_many)


def fact_of(tensor: torch.Tensor) -> TensorFact:
    """The fact of a fake or real dense tensor; a GraphBreak for other layouts."""
    if not is_dense(tensor):
        raise GraphBreak("FL311", f"layout {tensor.layout}")
    sizes, strides = tensor.shape, tensor.stride()
    return fact(
        tensor.dtype,
        tensor.device,
        tuple([n if type(n) is int else lift_size(n) for n in sizes]),
        tuple([n if type(n) is int else lift_size(n) for n in strides]),
        tensor.requires_grad,
        tensor.is_leaf,
        tensor.is_conj(),
        tensor.is_neg(),
        tensor.is_inference(),
    )


def let_go_of_frames(error: BaseException) -> None:
    """Torch's guards of dispatch keys live in frames that an exception holds, and set the keys when they die: that is to be now."""
    at: BaseException | None = error
    while at is not None:
        traceback.clear_frames(at.__traceback__)
        for held in vars(at).values():
            if isinstance(held, BaseException):
                traceback.clear_frames(held.__traceback__)
        at = at.__context__


def guarded_call(function: Callable, args: tuple, kwargs: dict) -> Any:
    """Call on fakes, with torch's refusals told apart."""
    try:
        return function(*args, **kwargs)
    except DataDependentOutputException as error:
        raise GraphBreak("FL202", f"{error.func} reads the data") from None
    except DynamicOutputShapeException as error:
        raise GraphBreak("FL203", f"{error.func} gives as many elements as the data says") from None
    except GuardOnDataDependentSymNode as error:
        raise GraphBreak("FL209", str(error.cond)) from None
    except (UnsupportedFakeTensorException, UnsupportedOperatorException, NotImplementedError) as error:
        raise GraphBreak("FL309", first_line(error)) from None
    except RecursionError:
        raise  # of the capture's own stack, perhaps
    except Exception as error:  # noqa: BLE001  whatever the operation raises for these arguments: the caller asks eager
        raise OperationFailed(error) from None


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


@contextlib.contextmanager
def autograd_mode(grad: bool, inference: bool) -> Iterator[None]:
    """Gradients recorded or not, inference mode on or off, for a run on fakes."""
    region = contextlib.nullcontext() if torch.is_inference_mode_enabled() is inference else torch.inference_mode(inference)
    with region:
        before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(grad)
        try:
            yield
        finally:
            torch._C._set_grad_enabled(before)


class _Silence(logging.Filter):
    """Drops what torch logs about a fake run that fails: failing is an answer here."""

    def filter(self, record: logging.LogRecord) -> bool:
        return False


_SILENCE = _Silence()
_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No log of torch's about operations that refuse fakes."""
    _LOGGER.addFilter(_SILENCE)
    try:
        yield
    finally:
        _LOGGER.removeFilter(_SILENCE)
