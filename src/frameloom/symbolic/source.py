"""Sources: paths by which compiled code finds a real object again.

A source is a step on a base source, or a root.  Each step is one row of `STEPS`: how the reference reads it, how bytecode
loads it, how it prints.  `compile/guard_program.py` names the native opcode of each step.  Sources speak of the state at
entry.
"""

from __future__ import annotations

import gc
import sys
import types
from collections import OrderedDict, deque
from typing import Any, Callable, NamedTuple

from frameloom.symbolic.ahead import Nothing, container_of, entry_ahead, item_ahead, own_dictionary
from frameloom.symbolic.instance_dict import MISSING, class_item, instance_dict_item
from frameloom.symbolic.literals import literal
from frameloom.symbolic.made import STAND_INS
from frameloom.symbolic.mortal import weakly
from frameloom.symbolic.real import namespace_of, stands_on
from frameloom.symbolic.signals import GraphBreak


class Missing(Exception):
    """Raised by `read` where a step finds nothing: no such key, an empty cell, a shorter list."""


class Step(NamedTuple):
    """One kind of step.

    read(base, key) -> object, raising `Missing`; emit(out, key) replaces the base on top of the emitter's stack by the
    result; text(base_text, key) -> str.
    """

    read: Callable[[Any, Any], Any]
    emit: Callable[[Any, Any], None]
    text: Callable[[str, Any], str]


class Scope(NamedTuple):
    """What the roots refer to: one call of the root function."""

    locals: dict
    closure: dict
    globals: dict
    builtins: dict


class Source:
    """A path.  Interned: each base keeps its children, so equal paths are one object and compare by identity."""

    __slots__ = ("step", "key", "base", "children", "depth")

    def __init__(self, step: str, key: Any, base: "Source | None") -> None:
        self.step = step
        self.key = key
        self.base = base
        self.children: dict = {}
        self.depth = 0 if base is None else base.depth + 1

    def child(self, step: str, key: Any = None) -> "Source":
        """The path one step further."""
        index = (step, type(key), key)
        try:
            return self.children[index]
        except KeyError:
            found = self.children[index] = Source(step, key, self)
            return found
        except TypeError:  # an unhashable key is interned by identity
            index = (step, id(key))
            if index not in self.children:
                self.children[index] = Source(step, key, self)
            return self.children[index]

    def read(self, scope: Scope) -> Any:
        """The object that the path names in `scope`; raises `Missing`."""
        if self.base is None:
            return ROOTS[self.step].read(scope, self.key)
        base = self.base.read(scope)
        try:
            return STEPS[self.step].read(base, self.key)
        except (TypeError, AttributeError) as error:  # an object of another kind than the step is for
            raise Missing(str(error)) from None

    def emit(self, out: Any) -> None:
        """Emit bytecode that pushes the object."""
        if self.base is None:
            ROOTS[self.step].emit(out, self.key)
        else:
            self.base.emit(out)
            STEPS[self.step].emit(out, self.key)

    def root(self) -> "Source":
        at = self
        while at.base is not None:
            at = at.base
        return at

    def path(self) -> tuple:
        """The sources from the root to this one."""
        return ((*self.base.path(), self) if self.base is not None else (self,))

    def __str__(self) -> str:
        if self.base is None:
            return ROOTS[self.step].text("", self.key)
        return STEPS[self.step].text(str(self.base), self.key)

    __repr__ = __str__


class Unowned(Source):
    """A source like another that keeps its key alive no longer than the program does; where it is gone, nothing is read."""

    __slots__ = ("_reference",)

    def __init__(self, step: str, reference: Callable[[], Any], base: Source | None) -> None:
        self.step = step
        self._reference = reference
        self.base = base
        self.children = {}
        self.depth = 0 if base is None else base.depth + 1

    @property
    def key(self) -> Any:  # type: ignore[override]
        found = self._reference()
        if found is None:
            raise Missing("gone")
        return found

    def __str__(self) -> str:
        if self._reference() is None:
            return "<gone>" if self.base is None else f"{self.base}[<gone>]"
        return super().__str__()

    __repr__ = __str__


def without_ownership(source: Source, made: dict[Source, Source]) -> Source:
    """The same path, which does not keep objects of the program's alive that it names.  `made` has those of the same entry, so that one
    path is one object in it too."""
    found = made.get(source)
    if found is None:
        base = source.base and without_ownership(source.base, made)
        held = None if type(source) is Unowned else weakly(source.key)
        if held is not None:
            found = Unowned(source.step, held, base)
        else:
            found = source if base is source.base else Source(source.step, source.key, base)
        made[source] = found
    return found


class Sources:
    """The roots of one trace."""

    def __init__(self) -> None:
        self._roots: dict = {}

    def local(self, name: str) -> Source:
        return self._root("local", name)

    def cell(self, name: str) -> Source:
        return self._root("cell", name)

    def global_(self, name: str) -> Source:
        return self._root("global", name)

    def builtin(self, name: str) -> Source:
        return self._root("builtin", name)

    def function_globals(self) -> Source:
        """The globals dictionary of the running function, for guards only."""
        return self._root("function_globals", None)

    def handled(self) -> Source:
        """The exception that the callers of the root function handle, or None."""
        return self._root("handled", None)

    def const(self, value: Any) -> Source:
        if id(value) in STAND_INS:
            raise GraphBreak("FL004", f"{type.__dict__['__name__'].__get__(value)}, made in the trace, is looked at by C code")
        return self._root("const", value, id(value))

    def forget(self) -> None:
        """The trace is over: paths know the way back to their roots, and no longer the steps that led on from them."""
        waiting = list(self._roots.values())
        while waiting:
            children = waiting.pop().children
            waiting += children.values()
            children.clear()

    def _root(self, step: str, key: Any, identity: Any = None) -> Source:
        index = (step, key if identity is None else identity)
        found = self._roots.get(index)
        if found is None:
            found = self._roots[index] = Source(step, key, None)
        return found


def _from(mapping: dict, key: Any) -> Any:
    try:
        return mapping[key]
    except KeyError:
        raise Missing(key) from None


def _const_text(_: str, value: Any) -> str:
    if isinstance(value, types.BuiltinFunctionType):
        # Of a function that is no method, `__qualname__` begins with the class of whatever record its binding left in it.
        return f"{value.__module__}.{value.__qualname__ if isinstance(value.__self__, type) else value.__name__}"
    if stands_on(value, type):
        return _class_text(value)
    if stands_on(value, types.FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    if stands_on(value, types.ModuleType):
        return str(instance_dict_item(value, "__name__"))
    if stands_on(value, dict):
        return f"globals of {dict.get(value, '__name__', '?')}"
    return f"<constant {type(value).__name__}>"


def _class_text(cls: type) -> str:
    module = namespace_of(cls).get("__module__")
    return f"{module if type(module) is str else 'builtins'}.{type.__dict__['__qualname__'].__get__(cls)}"


def _guards_only(out: Any, key: Any) -> None:
    raise AssertionError("this source is guarded, never loaded")


def _emit_handled(out: Any, key: Any) -> None:
    out.begin_call(sys.exception)
    out.call(0)


ROOTS: dict[str, Step] = {
    "local": Step(lambda s, k: _from(s.locals, k), lambda out, k: out.load_fast(k), lambda _, k: k),
    "cell": Step(lambda s, k: _from(s.closure, k), lambda out, k: out.load_closure(k), lambda _, k: f"<cell {k}>"),
    "global": Step(lambda s, k: _from(s.globals, k), lambda out, k: out.load_global(k), lambda _, k: f"globals.{k}"),
    "builtin": Step(lambda s, k: _from(s.builtins, k), lambda out, k: out.load_global(k), lambda _, k: f"builtins.{k}"),
    "function_globals": Step(lambda s, k: s.globals, _guards_only, lambda _, k: "globals()"),
    "handled": Step(lambda s, k: sys.exception(), _emit_handled, lambda _, k: "sys.exception()"),
    "const": Step(lambda s, k: k, lambda out, k: out.load_const(k), _const_text),
}

_get = object.__getattribute__


def _attribute(base: Any, name: str) -> Any:
    found = instance_dict_item(base, name)
    if found is MISSING:
        raise Missing(name)
    return found


def _emit_attribute(out: Any, name: str) -> None:
    out.call_constant_under(instance_dict_item, name)


def _mro_lookup(cls: type, name: str) -> Any:
    found = class_item(cls, name)
    if found is MISSING:
        raise Missing(name)
    return found


def _descriptor(base: Any, descriptor: Any) -> Any:
    try:
        return descriptor.__get__(base, type(base))
    except (AttributeError, ValueError, TypeError) as error:  # TypeError: the descriptor is of another class
        raise Missing(str(error)) from None


def _sequence_item(base: Any, index: int) -> Any:
    storage = list if stands_on(base, list) else tuple
    try:
        return storage.__getitem__(base, index)
    except (IndexError, TypeError) as error:  # TypeError: it is no sequence of this kind
        raise Missing(index) from error


def _list_length(base: Any, _: Any = None) -> int:
    if not isinstance(base, list):
        raise Missing
    return list.__len__(base)


def _deque_item(base: deque, index: int) -> Any:
    try:
        return deque.__getitem__(base, index)
    except IndexError as error:
        raise Missing(index) from error


def _dict_item(base: dict, key: Any) -> Any:
    missing = Missing
    found = dict.get(base, key, missing)
    if found is missing:
        raise Missing(key)
    return found


def _reduced(base: Any, _: Any) -> tuple:
    try:
        return base.__reduce__()[1]
    except RuntimeError:  # its dictionary has changed since it was made
        raise Missing from None


def _walked(base: Any, _: Any) -> Any:
    for found in gc.get_referents(base):
        if stands_on(found, dict, set, frozenset):
            return found
    raise Missing


def _ahead(read: Callable, part: int | None = None) -> Callable[[Any, int], Any]:
    """What an iterator gives after so many others, or one half of it."""

    def found(iterator: Any, number: int) -> Any:
        try:
            return read(iterator, number) if part is None else read(iterator, number)[part]
        except Nothing:
            raise Missing(number) from None

    return found


def _container(iterator: Any, _: Any) -> Any:
    return container_of(iterator)


def _own_dictionary(obj: Any, _: Any) -> Any:
    return own_dictionary(obj)


_item_ahead, _key_ahead, _value_ahead = _ahead(item_ahead), _ahead(entry_ahead, 0), _ahead(entry_ahead, 1)


def _emit_call(function: Callable, *fixed: Any) -> Callable[[Any, Any], None]:
    def emit(out: Any, key: Any) -> None:
        out.call_constant_under(function, key)

    return emit


def _emit_call_alone(function: Callable) -> Callable[[Any, Any], None]:
    return lambda out, _: out.call_constant_under(function)


def _emit_type(out: Any, _: Any) -> None:
    out.call_constant_under(type)


def _function_part(name: str) -> Step:
    descriptor = types.FunctionType.__dict__[name]
    return Step(
        lambda base, _: descriptor.__get__(base),
        lambda out, _: out.load_attr(name),
        lambda base, _: f"{base}.{name}",
    )


def _closure_cell(base: types.FunctionType, index: int) -> Any:
    try:
        return (base.__closure__ or ())[index]
    except IndexError:
        raise Missing(index) from None


def _contents(cell: types.CellType, _: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise Missing("empty cell") from None


def _read_key(base: dict, index: int) -> Any:
    for position, key in enumerate(OrderedDict.__iter__(base) if stands_on(base, OrderedDict) else dict.__iter__(base)):
        if position == index:
            return key
    raise Missing(index)


def _read_value(base: dict, index: int) -> Any:
    for position, value in enumerate(dict.values(base)):
        if position == index:
            return value
    raise Missing(index)


STEPS: dict[str, Step] = {
    # An attribute found in the instance's own dictionary, past every descriptor; never makes the dictionary exist.
    "attribute": Step(_attribute, _emit_attribute, lambda base, k: f"{base}.{k}"),
    # A member or getset descriptor of a C-implemented type or of __slots__; the key is the descriptor.
    "descriptor": Step(
        _descriptor,
        lambda out, k: out.call_constant_under(_descriptor, k),
        lambda base, k: f"{base}.{k.__name__}",
    ),
    # What a look-up along the classes finds, unbound; the base is a class.
    "type_attribute": Step(_mro_lookup, _emit_call(_mro_lookup), lambda base, k: f"{base}.{k}"),
    "type": Step(lambda base, _: type(base), _emit_type, lambda base, _: f"type({base})"),
    "dict": Step(
        lambda base, _: _get(base, "__dict__"),
        lambda out, _: out.call_constant_under(_get, "__dict__"),
        lambda base, _: f"{base}.__dict__",
    ),
    # Storage of lists and tuples, whatever a subclass's __getitem__ says.
    "length": Step(_list_length, _emit_call_alone(_list_length), lambda base, _: f"len({base})"),
    "item": Step(_sequence_item, _emit_call(_sequence_item), lambda base, k: f"{base}[{literal(k)}]"),
    "deque_item": Step(_deque_item, _emit_call(_deque_item), lambda base, k: f"{base}[{literal(k)}]"),
    "dict_item": Step(_dict_item, _emit_call(_dict_item), lambda base, k: f"{base}[{literal(k)}]"),
    # The i-th key of a dictionary, by order.
    "dict_key": Step(_read_key, _emit_call(_read_key), lambda base, k: f"list({base})[{k}]"),
    # The arguments by which pickle would make an iterator of a built-in sequence, or a getter of the module operator, anew.
    "reduced": Step(_reduced, _emit_call(_reduced), lambda base, _: f"{base}.__reduce__()[1]"),
    # The dictionary or set that an iterator over it has not walked through yet.
    "walked": Step(_walked, _emit_call(_walked), lambda base, _: f"what {base} walks over"),
    # The i-th value of a dictionary, by order: keys that hash in Python are not looked up.
    "dict_value": Step(_read_value, _emit_call(_read_value), lambda base, k: f"list({base}.values())[{k}]"),
    # What an iterator over a sequence, or over a dictionary, gives after k others, which it stays in front of.
    "ahead": Step(_item_ahead, _emit_call(_item_ahead), lambda base, k: f"{base}.next({k})"),
    "key_ahead": Step(_key_ahead, _emit_call(_key_ahead), lambda base, k: f"{base}.next_key({k})"),
    "value_ahead": Step(_value_ahead, _emit_call(_value_ahead), lambda base, k: f"{base}.next_value({k})"),
    # The container that such an iterator is about.
    "container": Step(_container, _emit_call(_container), lambda base, _: f"{base}.container"),
    # The dictionary of an object's attributes if it exists, else the object.
    "own_dictionary": Step(_own_dictionary, _emit_call(_own_dictionary), lambda base, _: f"{base}.__dict__"),
    "contents": Step(_contents, lambda out, _: out.load_attr("cell_contents"), lambda base, _: f"{base}.cell_contents"),
    "closure": Step(_closure_cell, _emit_call(_closure_cell), lambda base, k: f"{base}.__closure__[{k}]"),
    "code": _function_part("__code__"),
    "globals": _function_part("__globals__"),
    "defaults": _function_part("__defaults__"),
    "kwdefaults": _function_part("__kwdefaults__"),
    "method_function": Step(
        lambda base, _: base.__func__, lambda out, _: out.load_attr("__func__"), lambda base, _: f"{base}.__func__"
    ),
    "method_self": Step(
        lambda base, _: base.__self__, lambda out, _: out.load_attr("__self__"), lambda base, _: f"{base}.__self__"
    ),
}
