"""The public functions of frameloom."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from frameloom.diagnostics import events
from frameloom.diagnostics.errors import MissingDependency, WrongOption
from frameloom.diagnostics.reports import BreakReport

if TYPE_CHECKING:
    from frameloom.diagnostics.stats import Stats
    from frameloom.report.explanation import Explanation

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


class Options:
    """The keyword arguments of `compile`; calling it compiles something with them.  It can be pickled."""

    def __init__(
        self, fullgraph: bool, dynamic: bool | None, backend: Any, mode: str | None, options: Mapping[str, Any] | None, disable: bool,
        dynamic_shapes: Mapping[str, Any] | None = None,
    ) -> None:
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.backend = backend
        self.mode = mode
        self.options = options
        self.disable = disable
        self.dynamic_shapes = dynamic_shapes
        self._check()

    def _check(self) -> None:
        for name in ("fullgraph", "disable"):
            if type(getattr(self, name)) is not bool:
                raise WrongOption(f"{name} is True or False, not {getattr(self, name)!r}")
        if self.dynamic is not None and type(self.dynamic) is not bool:
            raise WrongOption(f"dynamic is True, False or None, not {self.dynamic!r}")
        if self.mode is not None and self.mode not in MODES:
            raise WrongOption(f"no mode {self.mode!r}; there are {', '.join(map(repr, MODES))}")
        if self.options is not None and not isinstance(self.options, Mapping):
            raise WrongOption(f"options is a dict or None, not {type(self.options).__qualname__}")
        if self.mode is not None and self.options is not None:
            raise WrongOption("mode and options are two ways to set the same things: give one of them")
        if self.dynamic_shapes is not None:
            from frameloom.compile import declarations

            declarations.check(self.dynamic_shapes)
            if self.dynamic is not None:
                raise WrongOption("dynamic speaks of all sizes, and dynamic_shapes of some: give one of them")

    def __call__(self, target: Any) -> Any:
        """`target`, compiled."""
        if isinstance(target, (staticmethod, classmethod)):
            return type(target)(self(target.__func__))
        if isinstance(target, _module_class()):
            from frameloom.pytorch.module import compiled_module, original

            plain = original(target)
            return compiled_module(plain, self._wrap(plain), self)
        return self._wrap(target)

    def _wrap(self, target: Any, on_capture: Any = None) -> Any:
        from frameloom.compile import callables

        if self.disable:
            callables.note_disabled(target)
            return callables.wrap(target, None)
        callables.root_code(target)
        return callables.compiled(target, self._settings(target, on_capture))

    def _settings(self, target: Any, on_capture: Any) -> Any:
        from frameloom.compile.declarations import declared_for
        from frameloom.compile.hook import Settings

        _need_torch("compiling a program")
        from frameloom.pytorch.backends.configured import configured_backend
        from frameloom.pytorch.domain import TorchDomain

        backend = configured_backend(self.backend, self.mode, self.options)
        declared = None if self.dynamic_shapes is None else declared_for(target, self.dynamic_shapes)
        return Settings(TorchDomain(backend, self.dynamic, self.fullgraph), self.fullgraph, on_capture=on_capture, declared=declared)


def compile(  # noqa: A001  the name that everybody looks for
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
    dynamic_shapes: Mapping[str, Any] | None = None,
) -> Any:
    """Compile a callable: its tensor operations run as graphs, everything else as before.

    model: a function, method, module, partial, or object with `__call__`; without it, a decorator is returned.
    fullgraph: raise GraphBreakError instead of splitting the function.  dynamic: None makes a size symbolic once it has
    changed, True makes all sizes symbolic at once, False none.  backend: a name (see `list_backends`) or a callable
    `(gm, example_inputs) -> callable`.  mode, options: for the backend.  disable: run eagerly, whatever else is said.
    dynamic_shapes: what varies, by the names of arguments, `{"x": {0: True}}`: of each dimension of a tensor, and of each number, True (it
    varies), (least, most) (it does between these, either may be None), False (it is fixed) or None (nothing is said); a tensor has a dict by
    dimension or a sequence, containers and objects have a dict by key or attribute name, or a sequence.  That the program fixes a size that varies is
    an error at its line: SizeFixed, at the call.

    A module becomes an object of a subclass of its class that shares its `__dict__`; the original stays eager.

    Raises NotCompilable, UnknownBackend and WrongOption at once; BackendError and GraphBreakError at a call.
    """
    recipe = Options(fullgraph, dynamic, backend, mode, options, disable, dynamic_shapes)
    reason = _unsupported()
    if reason is not None:
        return _eager_only(model, reason)
    return recipe if model is None else recipe(model)


def disable(function: Any = None) -> Any:
    """Run `function`, and all that it calls, without capture; a call of it in captured code is a graph break.

    May be used as a decorator, with or without parentheses.
    """
    if function is None:
        return disable
    if _unsupported() is not None:
        return function
    from frameloom.compile import callables

    if not callable(function):
        callables.root_code(function)
    return callables.wrap(function, None)


def allow_in_graph(function: Any) -> Any:
    """Make calls of a Python function one operation of the graph, whatever happens inside it.

    Raises TypeError for what is not a Python function.
    """
    from frameloom.compile.marks import operation

    return operation(_python_function(function, "allow_in_graph"))


def assume_constant_result(function: Any) -> Any:
    """Promise that a function gives the same result for the same constant arguments: it is called once, at capture.

    Raises TypeError for what is not a Python function.
    """
    from frameloom.compile.marks import constant_result

    return constant_result(_python_function(function, "assume_constant_result"))


def _python_function(function: Any, asker: str) -> types.FunctionType:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"frameloom.{asker} takes a Python function, not {type(function).__qualname__}")
    return function


def mark_dynamic(
    tensor: Any, dimension: int | tuple[int, ...] | list[int], min: int | None = None, max: int | None = None  # noqa: A002
) -> None:
    """Make a dimension of a tensor symbolic at its first capture already, for sizes from `min` to `max`.

    A program that asks what the size is, so that it would be captured for each, is an error at its line: SizeFixed, at the call.  0 and 1
    are captured for themselves.  Raises IndexError for a dimension it does not have, ValueError for bounds that leave its size out.
    """
    _need_torch("mark_dynamic")
    from frameloom.pytorch import marks

    marks.mark_dynamic(tensor, dimension, min, max)


def maybe_mark_dynamic(tensor: Any, dimension: int | tuple[int, ...] | list[int]) -> None:
    """As `mark_dynamic`, for a caller who does not mind if the program asks what the size is, and so gets a capture for each.

    Raises IndexError for a dimension it does not have.
    """
    _need_torch("maybe_mark_dynamic")
    from frameloom.pytorch import marks

    marks.maybe_mark_dynamic(tensor, dimension)


def mark_static(tensor: Any, dimension: int | tuple[int, ...] | list[int] | None = None) -> None:
    """Keep a dimension of a tensor, or all of them, fixed, whatever else is asked: each size gets a capture of its own.

    Raises IndexError for a dimension it does not have.
    """
    _need_torch("mark_static")
    from frameloom.pytorch import marks

    marks.mark_static(tensor, dimension)


def mark_unbacked(tensor: Any, dimension: int | tuple[int, ...] | list[int]) -> None:
    """Make a dimension of a tensor symbolic at its first capture, and forget what it is in that call: 0 and 1 are sizes like others.

    What the program asks of such a size breaks the graph (FL209), or is an error under `fullgraph=True`; what an operation takes for granted of it is
    asserted when the graph runs.  Raises IndexError for a dimension it does not have.
    """
    _need_torch("mark_unbacked")
    from frameloom.pytorch import marks

    marks.mark_unbacked(tensor, dimension)


def mark_static_address(tensor: Any, guard: bool = True) -> None:
    """Promise backends that a tensor stays where it is in memory, as parameters do: they need not copy it.

    guard: a call with a tensor at another address gets a capture of its own; without, it is the caller who sees to it.  Raises TypeError for what is no tensor.
    """
    _need_torch("mark_static_address")
    from frameloom.pytorch import marks

    marks.mark_static_address(tensor, guard)


def reset() -> None:
    """Forget every capture, counter and announcement of the process.  Calls that run go on."""
    if _unsupported() is None:
        from frameloom.compile import callables

        callables.reset()
    else:
        events.reset()


def set_stance(stance: str) -> Any:
    """What compiled callables do from here on, in the running context; other threads go on as before.

    stance: "default"; "force_eager": they run as if they were not compiled; "eager_on_recompile": nothing new is captured, a call that no
    entry fits runs eagerly; "fail_on_recompile": such a call raises RecompileError if its function has entries.  As a statement it holds until
    another is set, as a context manager for a block, as a decorator for each call of a function.

    Raises WrongOption for any other name.
    """
    if _unsupported() is not None:
        return _EagerAnyway()
    from frameloom.compile import stances

    return stances.set_stance(stance)


class _EagerAnyway(contextlib.nullcontext, contextlib.ContextDecorator):
    """A stance where nothing is ever captured."""


def stats() -> Stats:
    """The counters since the start of the process or the last `reset()`."""
    counted = events.stats()
    if _unsupported() is None:
        from frameloom.compile import callables

        callables.count_eager_runs(counted)
    return counted


def explain(function: Any, **options: Any) -> Callable[..., Explanation]:
    """A function that calls `function` compiled and gives an Explanation of what was captured.

    `explain(f)(*args)`; options are those of `compile`, with backend "eager" by default.  Raises what `compile` raises.
    """
    defaults = {"fullgraph": False, "dynamic": None, "backend": "eager", "mode": None, "options": None, "disable": False,
                "dynamic_shapes": None}
    unknown = sorted(options.keys() - defaults.keys())
    if unknown:
        raise WrongOption(f"explain has no option {', '.join(map(repr, unknown))}; there are {', '.join(defaults)}")
    recipe = Options(**{**defaults, **options})
    reason = _unsupported()
    if reason is None:
        from frameloom.compile import callables

        callables.root_code(_plain(function))

    @functools.wraps(function, updated=())
    def explained(*args: Any, **kwargs: Any) -> Explanation:
        from frameloom.report.explanation import Explanation

        frames: list = []
        with events.eager_here() as eager:
            call = _eager_only(function, reason) if reason is not None else _explaining(recipe, function, frames)
            result = call(*args, **kwargs)
        return Explanation(getattr(function, "__qualname__", type(function).__qualname__), tuple(frames), result, tuple(eager))

    return explained


def _explaining(recipe: Options, function: Any, frames: list) -> Any:
    from frameloom.report.captured import explained

    return recipe._wrap(_plain(function), lambda capture: frames.append(explained(capture)))


def list_backends() -> list[str]:
    """The names that `compile(backend=...)` takes."""
    _need_torch("list_backends")
    from frameloom.pytorch.backends import registry

    return registry.list_backends()


def register_backend(name: Any = None, compiler: Any = None) -> Any:
    """Make a backend known by name: `register_backend("mine", function)`, or as a decorator, with or without a name."""
    _need_torch("register_backend")
    from frameloom.pytorch.backends import registry

    return registry.register_backend(name, compiler)


# -- what is there ---------------------------------------------------------------------------------------------------


def _unsupported() -> str | None:
    from frameloom.compile.availability import unsupported

    return unsupported()


def _eager_only(model: Any, reason: str) -> Any:
    """On a Python that is not supported everything stays as it is, said once."""
    from frameloom.compile.availability import code_of

    events.eager(BreakReport.of(code_of(reason), (), reason))
    return model if model is not None else lambda function: function


def _need_torch(purpose: str) -> None:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise MissingDependency("torch", purpose, "torch")


def _module_class() -> Any:
    """`torch.nn.Module`, or an empty tuple where no torch is loaded and hence nothing can be a module."""
    import sys

    torch = sys.modules.get("torch")
    return () if torch is None else torch.nn.Module


def _plain(target: Any) -> Any:
    """The target without what `compile` put around it."""
    from frameloom.compile import callables

    if isinstance(target, _module_class()):
        from frameloom.pytorch.module import original

        return original(target)
    return callables.unwrapped(target)
