"""The parts behind `__dict__` and behind member descriptors: how generated code writes them, past whatever the user's classes
define for it."""

from __future__ import annotations

import types
from typing import Any

from frameloom.symbolic.instance_dict import WITHOUT_TUPLES
from frameloom.symbolic.layouts.base import layout_of, replay
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.made import class_made
from frameloom.symbolic.values import ABSENT, UNBOUND, Const, Obj, Value

_MRO = type.__dict__["__mro__"]
_NAMESPACE = type.__dict__["__dict__"]


def writer_of(cls: type, name: Any, slot: str) -> Any:
    """The C `__setattr__` or `__delattr__` (`slot`) that writes the instance's own dictionary and nothing else, or None.

    It leaves attributes which CPython keeps inside the object there; a write to `__dict__` would move them out.
    """
    if type(name) is not str or class_made(cls) is not None:  # the names of a class made anew may not be set yet
        return None
    mro = _MRO.__get__(cls)
    found = [_NAMESPACE.__get__(base)[name] for base in mro if name in _NAMESPACE.__get__(base)]
    if found and _is_data_descriptor(type(found[0])):
        return None
    return c_slot(cls, slot)


def c_slot(cls: type, slot: str) -> Any:
    """The first special method along a class's bases that is C code."""
    spaces = map(_NAMESPACE.__get__, _MRO.__get__(cls))
    return next(space[slot] for space in spaces if type(space.get(slot)) is types.WrapperDescriptorType)


def _is_data_descriptor(cls: type) -> bool:
    return any(name in _NAMESPACE.__get__(base) for base in _MRO.__get__(cls) for name in ("__set__", "__delete__"))


def write_item(obj: Any, name: Any, value: Any) -> None:
    """Put `value` into the own dictionary of `obj`; called by compiled code."""
    object.__getattribute__(obj, "__dict__")[name] = value


def delete_item(obj: Any, name: Any) -> None:
    """Remove `name` from the own dictionary of `obj`; called by compiled code."""
    del object.__getattribute__(obj, "__dict__")[name]


def store(build: Any, obj: Value, cls: type, name: Any, value: Value) -> None:
    """Emit the write of one attribute into an instance's own dictionary."""
    write = writer_of(cls, name, "__setattr__") or write_item
    build.call_effect(WITHOUT_TUPLES.get(write, write), obj, Const(name), value)


def remove(build: Any, obj: Value, cls: type, name: Any) -> None:
    """Emit the removal of one attribute from an instance's own dictionary."""
    remove_it = writer_of(cls, name, "__delattr__") or delete_item
    build.call_effect(remove_it, obj, Const(name))


def fill_attributes(build: Any, obj: Value, cls: type, body: DictBody) -> None:
    """Emit the writes of all attributes of a fresh object, in order."""
    for key, value in body.known.values():
        if value is ABSENT:
            continue
        if type(key) is Const:
            store(build, obj, cls, key.value, value)
        else:
            build.call_effect(write_item, obj, key, value)


def fill_slots(build: Any, obj: Obj) -> None:
    """Emit the writes of all member descriptors of a fresh object."""
    created = layout_of(obj.cls).creates
    for descriptor, value in obj.slots.items():
        if descriptor not in created and value is not ABSENT and value is not UNBOUND:
            build.set_descriptor(descriptor, obj, value)


# -- replays ---------------------------------------------------------------------------------------------------------


@replay("attribute.set", "node.set", location=lambda name, value: name)
def _set(build: Any, target: Value, name: str, value: Value) -> None:
    if issubclass(target.cls, type):
        build.call_effect(type.__setattr__, target, Const(name), value)
    else:
        store(build, target, target.cls, name, value)


@replay("attribute.delete", "node.delete")
def _delete(build: Any, target: Value, name: str) -> None:
    if issubclass(target.cls, type):
        build.call_effect(type.__delattr__, target, Const(name))
    else:
        remove(build, target, target.cls, name)


@replay("slot.set", location=lambda descriptor, value: id(descriptor))
def _set_slot(build: Any, target: Value, descriptor: Any, value: Value) -> None:
    build.set_descriptor(descriptor, target, value)


@replay("slot.delete")
def _delete_slot(build: Any, target: Value, descriptor: Any) -> None:
    build.call_effect(descriptor.__delete__, target)


@replay("attributes.changed")
def _changed(build: Any, target: Value) -> None:
    """The object's dictionary was changed as a dictionary: nothing to do, but writes before and after must not be merged."""
