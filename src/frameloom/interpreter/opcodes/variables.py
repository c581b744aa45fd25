"""Local variables, cells, globals, names, imports."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from frameloom.interpreter.attributes import get_attribute
from frameloom.interpreter.dropping import let_go
from frameloom.interpreter.frame import Frame
from frameloom.interpreter.registry import opcode
from frameloom.symbolic.layouts import cell, dict_, function as functions, namespace
from frameloom.symbolic.layouts.cell import CellBody
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NULL, UNBOUND, Const, Lazy, Obj, Real, Value

# -- slots -----------------------------------------------------------------------------------------------------------


@opcode("LOAD_FAST")
def load_fast(frame: Frame, slot: int) -> None:
    value = frame.slots[slot]
    if type(value) is Lazy:
        value = frame.slots[slot] = frame.session.observe.resolve(value)
    elif value is UNBOUND:
        raise _unbound(frame, slot)
    frame.stack.append(value)


def _unbound(frame: Frame, slot: int) -> SymbolicRaise:
    name = frame.program.slots[slot].name
    return frame.session.machine.error(
        UnboundLocalError, f"cannot access local variable '{name}' where it is not associated with a value"
    )


@opcode("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(frame: Frame, slot: int) -> None:
    value = frame.slots[slot]
    if type(value) is Lazy:
        value = frame.session.observe.resolve(value)
    frame.stack.append(NULL if value is UNBOUND else value)
    frame.slots[slot] = UNBOUND


@opcode("STORE_FAST")
def store_fast(frame: Frame, slot: int) -> None:
    if frame.parent is None:
        let_go(frame, slot)
    value = frame.stack.pop()
    frame.slots[slot] = UNBOUND if value is NULL else value


@opcode("DELETE_FAST")
def delete_fast(frame: Frame, slot: int) -> None:
    if frame.slots[slot] is UNBOUND:
        raise _unbound(frame, slot)
    if frame.parent is None:
        let_go(frame, slot)
    frame.slots[slot] = UNBOUND


# -- cells -----------------------------------------------------------------------------------------------------------


@opcode("MAKE_CELL")
def make_cell(frame: Frame, slot: int) -> None:
    session = frame.session
    contents = frame.slots[slot]
    if type(contents) is Lazy:
        contents = session.observe.resolve(contents)
    frame.slots[slot] = session.alloc(types.CellType, CellBody(contents))


@opcode("COPY_FREE_VARS")
def copy_free_vars(frame: Frame, count: int) -> None:
    session = frame.session
    names = frame.program.code.co_freevars
    if frame.function is None:
        cells = [session.root_cells[name] for name in names]
        cells = [session.observe.resolve(value) for value in cells]
    else:
        cells = functions.closure_of(session, frame.function)
    frame.slots[len(frame.slots) - count :] = cells


def _cell(frame: Frame, slot: int) -> Obj:
    found = frame.slots[slot]
    if type(found) is Lazy:
        found = frame.slots[slot] = frame.session.observe.resolve(found)
    return found


@opcode("LOAD_DEREF")
def load_deref(frame: Frame, slot: int) -> None:
    value = cell.get(frame.session, _cell(frame, slot))
    if value is UNBOUND:
        raise _empty(frame, slot)
    frame.stack.append(value)


def _empty(frame: Frame, slot: int) -> SymbolicRaise:
    found = frame.program.slots[slot]
    if found.kind == "free":
        text = f"cannot access free variable '{found.name}' where it is not associated with a value in enclosing scope"
        return name_error(frame, text, found.name)
    return _unbound(frame, slot)


@opcode("STORE_DEREF")
def store_deref(frame: Frame, slot: int) -> None:
    target = _cell(frame, slot)
    cell.set_(frame.session, target, frame.stack[-1])
    frame.stack.pop()


@opcode("DELETE_DEREF")
def delete_deref(frame: Frame, slot: int) -> None:
    target = _cell(frame, slot)
    if cell.get(frame.session, target) is UNBOUND:
        raise _empty(frame, slot)
    cell.set_(frame.session, target, UNBOUND)


def name_error(frame: Frame, text: str, name: str) -> SymbolicRaise:
    """NameError that knows its name."""
    m = frame.session.machine
    signal = m.error(NameError, text)
    m.observe_slot(signal.value, NameError.__dict__["name"], Const(name))
    return signal


# -- globals ---------------------------------------------------------------------------------------------------------


def globals_object(frame: Frame) -> Obj:
    """The dictionary of a frame's globals."""
    return namespace.globals_object(frame.session, frame.globals)


def _read_global(session: Any, real: Real, name: str) -> Value:
    return session.observe.global_entry(real, name)


dict_.READERS["global"] = _read_global
dict_.KEY_READERS["global"] = dict_.KEY_READERS["dict_item"]


@opcode("LOAD_GLOBAL")
def load_global(frame: Frame, name: str) -> None:
    frame.stack.append(global_value(frame, name))


def global_value(frame: Frame, name: str) -> Value:
    """The global, else the builtin; NameError where neither is."""
    session = frame.session
    value = dict_.get(session, globals_object(frame).body, name, Const(name))
    if value is not ABSENT:
        return value
    value = builtin_value(frame, name)
    if value is ABSENT:
        raise name_error(frame, f"name '{name}' is not defined", name)
    return value


def builtin_value(frame: Frame, name: str) -> Value:
    """A name of the module builtins, or ABSENT."""
    space = frame.globals.get("__builtins__", builtins)
    if space is not builtins and space is not builtins.__dict__:
        raise GraphBreak("FL008", f"builtin {name!r} of a module with builtins of its own")
    session = frame.session
    module = session.observe.constant(builtins)
    return dict_.get(session, module.attributes, name, Const(name))


@opcode("STORE_GLOBAL")
def store_global(frame: Frame, name: str) -> None:
    target = globals_object(frame)
    dict_.set_(frame.session, target.body, name, Const(name), frame.stack[-1])
    frame.session.operation("dict.set", target, Const(name), frame.stack[-1])
    frame.stack.pop()


@opcode("DELETE_GLOBAL")
def delete_global(frame: Frame, name: str) -> None:
    target = globals_object(frame)
    if dict_.get(frame.session, target.body, name, Const(name)) is ABSENT:
        raise name_error(frame, f"name '{name}' is not defined", name)
    dict_.delete(frame.session, target.body, name, Const(name))
    frame.session.operation("dict.delete", target, Const(name))


@opcode("LOAD_ASSERTION_ERROR")
def load_assertion_error(frame: Frame, arg: Any) -> None:
    frame.stack.append(frame.session.observe.constant(AssertionError))


# -- imports ---------------------------------------------------------------------------------------------------------


@opcode("IMPORT_NAME")
def import_name(frame: Frame, name: str) -> None:
    """Importing an initialised module with the original `__import__` is a look at `sys.modules` (PEP 302, 451)."""
    level, fromlist = frame.stack[-2], frame.stack[-1]
    imports = builtin_value(frame, "__import__")
    if getattr(imports, "value", None) is not ORIGINAL_IMPORT:
        raise GraphBreak("FL106", f"{name} is imported by an __import__ of the program's own")
    full = _absolute(frame, name, level.value)
    module = loaded_module(frame, full)
    if type(fromlist) is Const and fromlist.value is None and level.value == 0:
        module = loaded_module(frame, name.partition(".")[0])
    elif not (type(fromlist) is Const and fromlist.value is None):
        _require_names(frame, full, fromlist)
    frame.stack[-2:] = [module]


ORIGINAL_IMPORT = builtins.__import__


def _absolute(frame: Frame, name: str, level: int) -> str:
    if level == 0:
        return name
    package = frame.globals.get("__package__")
    if not package:
        raise GraphBreak("FL106", f"{'.' * level}{name}")
    base = package.rsplit(".", level - 1)[0]
    return f"{base}.{name}" if name else base


def loaded_module(frame: Frame, name: str) -> Value:
    """`sys.modules[name]` of a module whose import is finished."""
    session = frame.session
    modules = session.observe.constant(sys.modules)
    module = dict_.get(session, modules.body, name, Const(name))
    if module is ABSENT or not issubclass(module.cls, types.ModuleType):
        raise GraphBreak("FL106", name)
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if getattr(spec, "_initializing", False):
        raise GraphBreak("FL106", f"{name} is being imported")
    return module


def _require_names(frame: Frame, full: str, fromlist: Value) -> None:
    """`from package import submodule` loads what is not an attribute yet."""
    found = sys.modules[full]
    if not hasattr(type(found), "__path__") and "__path__" not in vars(found):
        return
    from frameloom.symbolic.layouts import tuple_

    for item in tuple_.items(frame.session, fromlist.body):
        if item.value != "*" and item.value not in vars(found) and f"{full}.{item.value}" not in sys.modules:
            if "__getattr__" not in vars(found):
                raise GraphBreak("FL106", f"{full}.{item.value}")


@opcode("IMPORT_FROM")
def import_from(frame: Frame, name: str) -> None:
    module = frame.stack[-1]
    m = frame.session.machine
    try:
        value = get_attribute(m, module, name)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        value = _submodule(frame, module, name)
    frame.stack.append(value)


def _submodule(frame: Frame, module: Value, name: str) -> Value:
    m = frame.session.machine
    full = get_attribute(m, module, "__name__")
    modules = frame.session.observe.constant(sys.modules)
    key = f"{full.value}.{name}"
    found = dict_.get(frame.session, modules.body, key, Const(key))
    if found is ABSENT:
        raise m.error(ImportError, f"cannot import name {name!r} from {full.value!r}")
    return found
