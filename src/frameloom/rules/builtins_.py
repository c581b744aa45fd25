"""Built-in functions about objects: attributes, classes, identity, names of the calling frame."""

from __future__ import annotations

import builtins

from frameloom.interpreter import classes
from frameloom.interpreter.attributes import get_attribute, set_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import refuse
from frameloom.interpreter.stores import hash_value
from frameloom.rules.define import function
from frameloom.rules.frame_names import names_of
from frameloom.rules.identity import number_of
from frameloom.rules.names import attribute_name
from frameloom.rules.sorting import sorted_
from frameloom.symbolic.layouts.namespace import globals_object
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import ABSENT, NONE, Const, Node, Value, boolean

# -- attributes ------------------------------------------------------------------------------------------------------


@function(getattr)
def getattr_(m: Machine, obj: Value, name: Value, default: Value = ABSENT, /) -> Value:
    plain = attribute_name(m, name)
    if default is ABSENT:
        return get_attribute(m, obj, plain)
    try:
        return get_attribute(m, obj, plain)
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return default


@function(hasattr)
def hasattr_(m: Machine, obj: Value, name: Value, /) -> Value:
    try:
        get_attribute(m, obj, attribute_name(m, name))
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        return boolean(False)
    return boolean(True)


@function(setattr)
def setattr_(m: Machine, obj: Value, name: Value, value: Value, /) -> Value:
    set_attribute(m, obj, attribute_name(m, name), value)
    return NONE


@function(delattr)
def delattr_(m: Machine, obj: Value, name: Value, /) -> Value:
    set_attribute(m, obj, attribute_name(m, name), ABSENT)
    return NONE


@function(vars)
def vars_(m: Machine, obj: Value = ABSENT, /) -> Value:
    if obj is ABSENT:
        return names_of(m, m.session.frame)
    try:
        return get_attribute(m, obj, "__dict__")
    except SymbolicRaise as signal:
        if not issubclass(signal.value.cls, AttributeError):
            raise
        raise m.error(TypeError, "vars() argument must have __dict__ attribute") from None


# -- classes ---------------------------------------------------------------------------------------------------------


@function(isinstance)
def isinstance_(m: Machine, obj: Value, classes_: Value, /) -> Value:
    return boolean(classes.is_instance(m, obj, classes_))


@function(issubclass)
def issubclass_(m: Machine, cls: Value, classes_: Value, /) -> Value:
    return boolean(classes.is_subclass(m, cls, classes_))


@function(callable)
def callable_(m: Machine, obj: Value, /) -> Value:
    return boolean(m.observe.type_lookup(obj.cls, "__call__") is not ABSENT)


# -- identity --------------------------------------------------------------------------------------------------------


@function(hash)
def hash_(m: Machine, obj: Value, /) -> Value:
    if type(obj) is Node and obj.tape == "graph" and obj.cls.__hash__ is object.__hash__:
        return number_of(m, hash, obj)
    slot = m.observe.type_lookup(obj.cls, "__hash__")
    if type(slot) is Const and slot.value is object.__hash__:
        return number_of(m, object.__hash__, obj)
    return Const(hash_value(m, obj))


# -- names of the calling frame --------------------------------------------------------------------------------------


@function(globals)
def globals_(m: Machine) -> Value:
    return globals_object(m.session, m.session.frame.globals)


@function(locals)
def locals_(m: Machine) -> Value:
    return names_of(m, m.session.frame)


@function(dir)
def dir_(m: Machine, obj: Value = ABSENT, /) -> Value:
    if obj is not ABSENT:
        raise GraphBreak("FL101", "dir() of an object")
    return sorted_(m, names_of(m, m.session.frame))


refuse("FL107", "code is run from text", exec, eval, compile)
refuse("FL104", "the program waits for input", input, breakpoint)
refuse("FL104", "a file is opened", open)
refuse("FL004", "a class body is run", builtins.__build_class__)
refuse("FL106", "a module is imported by call", builtins.__import__)

