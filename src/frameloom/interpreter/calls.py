"""Calls: binding of arguments, inlining of Python functions, and the dispatch on what is called."""

from __future__ import annotations

import types
from typing import Any, Callable

from frameloom.bytecode.decode import decode
from frameloom.interpreter import attributes
from frameloom.interpreter.binding import VARARGS, VARKEYWORDS, bind
from frameloom.interpreter.endings import to_watch
from frameloom.interpreter.frame import Frame, Link
from frameloom.interpreter.loop import run
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import (
    CODE_RULES,
    INLINED,
    NAMED_RULES,
    POLYFILLS,
    REFUSED,
    RULES,
    WAITING,
    WRAPPERS,
    kind_of_class,
    kind_of_module,
)
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.kinds import DEFINED_METHOD
from frameloom.symbolic.layouts import cell as cells, function as functions, generator, set_
from frameloom.symbolic.layouts.base import storage_base
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.real import flags_of, is_subtype, stands_on, type_name
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Node, Obj, Value

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200


def invoke(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None = None) -> Value:
    """Call `fn`.  With a `link` the calling frame can wait for an inlined callee across a break: the call must then be the
    last thing that its instruction does."""
    call = CALLERS.get(fn.cls)
    if call is None:
        call = _caller_of(m, fn)
    return call(m, fn, args, kwargs, link)


def _caller_of(m: Machine, fn: Value) -> Callable:
    if issubclass(fn.cls, type):
        return call_class
    if issubclass(fn.cls, types.ModuleType) or fn.cls in (type(None), bool, int, float, str):
        return call_instance
    return call_instance


# -- Python functions ------------------------------------------------------------------------------------------------


def call_function(m: Machine, fn: Obj, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """Inline a Python function, or apply its rule."""
    session = m.session
    code = functions.code_of(session, fn)
    rule = CODE_RULES.get(code)
    if rule is not None:
        result = rule(m, *args, **kwargs)
        if result is not NotImplemented:
            return result
    named = NAMED_RULES.get(code.co_qualname)
    if named is not None and functions.globals_of(session, fn).get("__name__") == named[0]:
        return named[1](m, *args, **kwargs)
    if code.co_qualname in WRAPPERS:
        wrapped = _wrapped(m, fn, code)
        if wrapped is not None:
            return invoke(m, wrapped, args, kwargs, link)
    if fn.real is not None:
        refusal = REFUSED.get(m.observe.peek(fn))
        if refusal is not None:
            m.observe.identify(fn)
            raise GraphBreak(refusal.kind, refusal.because)
    return inline(m, fn, code, args, kwargs, link)


def _wrapped(m: Machine, fn: Obj, code: types.CodeType) -> Value | None:
    """The function that a known wrapper calls, or None where `fn` is none."""
    wrapper = WRAPPERS[code.co_qualname]
    if functions.globals_of(m.session, fn).get("__name__") != wrapper.module:
        return None
    wrapped = cells.get(m.session, functions.closure_of(m.session, fn)[code.co_freevars.index(wrapper.variable)])
    if not wrapper.inside:
        return wrapped
    if type(wrapped) is not Obj or wrapped.cls is not types.FunctionType:
        return None
    module = functions.globals_of(m.session, wrapped).get("__name__")
    return wrapped if type(module) is str and f"{module}.".startswith(f"{wrapper.inside}.") else None


def inline(m: Machine, fn: Obj, code: types.CodeType, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """Run a function's frame inside the trace."""
    frame = enter(m, fn, code, args, kwargs)
    kind = kind_of_module(frame.globals.get("__name__"))
    if kind is not None and code not in INLINED:
        raise GraphBreak(kind, f"{frame.globals['__name__']}.{code.co_qualname}")
    if code.co_flags & (GENERATOR | COROUTINE | ASYNC_GENERATOR):
        return suspended(m, fn, code, frame)
    return run_inlined(m, frame, code, link)


def run_inlined(m: Machine, frame: Frame, code: types.CodeType, link: Link | None) -> Value:
    """Run an inlined frame to its end: what it returns."""
    session = m.session
    caller = session.frame
    if caller is not None:
        if session.depth >= session.most_depth:
            raise GraphBreak("FL006", f"{code.co_qualname} is called {session.depth} calls deep")
        caller.link = link
        frame.called_from = (caller.program, caller.index, caller.called_from)
    session.depth += 1
    if session.depth > session.deepest:
        session.deepest = session.depth
    try:
        run(session, frame)
    finally:
        session.depth -= 1
    if caller is not None:
        caller.link = None
    return frame.result


NAMED = frozenset({"__code__", "__name__", "__qualname__"})
"""What a generator takes over from its function; it is made anew before the function gets what was written here."""


def suspended(m: Machine, fn: Obj, code: types.CodeType, frame: Frame) -> Obj:
    """What calling a generator function gives: nothing has run yet."""
    if code.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise GraphBreak("FL002", f"{code.co_qualname} is asynchronous")
    if id(fn) in m.session.written and any(done.target is fn and NAMED.intersection(done.arguments[:1]) for done in m.session.operations):
        raise GraphBreak("FL504", f"a generator of {code.co_qualname}, whose code or name has just been set")
    where = m.session.where()
    if where is not None and ("drop", where[0].code, where[1]) in m.session.decisions:
        raise GraphBreak("FL503", f"a generator of {code.co_qualname} is dropped while its handlers are open")
    made = m.session.alloc(types.GeneratorType, generator.GeneratorBody(frame, fn))
    frame.generator = made
    m.journal.append(m.session.generators, made)
    return made


def enter(m: Machine, fn: Obj, code: types.CodeType, args: list[Value], kwargs: dict[str, Value]) -> Frame:
    """A frame with its arguments bound; its prefix (cells, free variables) is still to run."""
    frame = Frame(m.session, decode(code), fn, functions.globals_of(m.session, fn))
    if kwargs or code.co_flags & (VARARGS | VARKEYWORDS) or code.co_kwonlyargcount or len(args) != code.co_argcount:
        bind(m, fn, frame.slots, args, kwargs)
    else:
        frame.slots[: len(args)] = args
    return frame


# -- other callables -------------------------------------------------------------------------------------------------


def call_method(m: Machine, fn: Obj, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A bound method: its function with the receiver first."""
    return invoke(m, fn.body.function, [fn.body.self, *args], kwargs, link)


def call_known(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A C function or descriptor known by identity: its rule, its polyfill, an operation of the domain, or a break."""
    target = fn.value
    rule = RULES.get(target)
    if rule is not None:
        result = _by_rule(m, target, rule, args, kwargs, link)
        if result is not NotImplemented:
            return result
        settled = None if m.domain.records(target) else settled_numbers(m, args)  # the domain knows what it takes
        if settled is not None:
            return call_known(m, fn, settled, kwargs, link)
    made = POLYFILLS.get(target)
    if made is not None:
        return invoke(m, m.observe.constant(made), args, kwargs)
    if m.domain.records(target):
        return m.domain.apply(m.session, target, args, kwargs)
    refusal = REFUSED.get(target)
    if refusal is not None:
        raise GraphBreak(refusal.kind, refusal.because)
    raise GraphBreak(_kind_of_call(target, args), name_of(target))


def settled_numbers(m: Machine, args: list[Value]) -> list[Value] | None:
    """The arguments, numbers that are read at entry guarded by their values; None where there are none."""
    if not any(type(arg) is Node and arg.tape == "host" for arg in args):
        return None
    settled = [m.known_number(arg) if type(arg) is Node and arg.tape == "host" else arg for arg in args]
    return None if all(one is other for one, other in zip(settled, args)) else settled


def _by_rule(m: Machine, target: Any, rule: Callable, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Any:
    waiting = WAITING.get(target) if link is not None else None
    if waiting is not None and link.kind == "result" and not kwargs:
        result = waiting(m, link, *args)
        if result is not NotImplemented:
            return result
    return rule(m, *args, **kwargs)


METHODS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def _kind_of_call(target: Any, args: list[Value]) -> str:
    """The FL code of a call of C code that has no rule."""
    if isinstance(target, METHODS):
        return kind_of_class(args[0].cls if args else target.__objclass__, "FL102")
    owner = getattr(target, "__self__", None)
    if owner is None or stands_on(owner, types.ModuleType):
        return kind_of_module(getattr(target, "__module__", None)) or "FL101"
    return kind_of_class(owner, "FL101") if stands_on(owner, type) else kind_of_class(type(owner), "FL102")


def name_of(target: Any) -> str:
    """A readable name of a callable."""
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or type(target).__name__
    owner = getattr(target, "__objclass__", None) or getattr(target, "__self__", None)
    if getattr(target, "__name__", None) == "__new__" and isinstance(owner, type):
        return name_of(owner)
    module = getattr(target, "__module__", None)
    if module is None:
        module = getattr(owner, "__module__", None)
    elif isinstance(target, types.BuiltinFunctionType):
        name = target.__name__
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def call_class(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A class: its rule, or `type.__call__` in steps."""
    cls = m.observe.known_class(fn)
    rule = RULES.get(cls)
    if rule is not None:
        result = _by_rule(m, cls, rule, args, kwargs, link)
        if result is not NotImplemented:
            return result
    polyfill = POLYFILLS.get(cls)
    if polyfill is not None:
        return invoke(m, m.observe.constant(polyfill), args, kwargs)
    metaclass_call = m.observe.type_lookup(type(cls), "__call__")
    if type(metaclass_call) is not Const or metaclass_call.value is not type.__dict__["__call__"]:
        return invoke(m, metaclass_call, [fn, *args], kwargs, link)
    refusal = REFUSED.get(cls)
    if refusal is not None:
        raise GraphBreak(refusal.kind, refusal.because)
    return instantiate(m, cls, args, kwargs, link)


def instantiate(m: Machine, cls: type, args: list[Value], kwargs: dict[str, Value], link: Link | None = None) -> Value:
    """`type.__call__`: `__new__`, then `__init__` where the result is an instance."""
    if m.domain.records(cls):
        return m.domain.apply(m.session, cls, args, kwargs)
    new = m.observe.type_lookup(cls, "__new__")
    init = m.observe.type_lookup(cls, "__init__")
    if type(new) is Const and new.value is object.__new__:
        made = new_object(m, cls, args, kwargs, init)
    else:
        made = invoke(m, _unwrap_static(m, new), [m.observe.constant(cls), *args], kwargs)
        if not m.observe.is_subtype(made.cls, cls):
            return made
        if made.cls is not cls:
            init = m.observe.type_lookup(made.cls, "__init__")
    if type(init) is Const and init.value is object.__init__:
        return made
    waiting = link and link.of("value", made)
    returned = invoke(m, init, [made, *args], kwargs, waiting)
    if not (type(returned) is Const and returned.value is None):
        raise m.error(TypeError, f"__init__() should return None, not '{type_name(returned.cls)}'")
    return made


def _unwrap_static(m: Machine, new: Value) -> Value:
    """The function inside the staticmethod that `__new__` is stored as."""
    if new.cls is staticmethod:
        return attributes.wrapped_of(m, new)
    return new


def _is_abstract(m: Machine, cls: type) -> Exception:
    """What `object.__new__` says of an abstract class: the names in its `__abstractmethods__`, sorted."""
    told = attributes.get_attribute(m, m.observe.constant(cls), "__abstractmethods__")
    names = set_.members(m.session, told.body) if told.cls is frozenset and type(told) is Obj else [told]
    if not all(type(name) is Const and type(name.value) is str for name in names):
        raise GraphBreak("FL101", f"{cls.__name__} is abstract")
    stand_in = type(type_name(cls), (), {})
    stand_in.__abstractmethods__ = frozenset(name.value for name in names)
    return m.error(TypeError, _message_of(stand_in))


def _message_of(abstract: type) -> str:
    """CPython's own words for an instance of an abstract class; they differ between versions."""
    try:
        object.__new__(abstract)
    except TypeError as error:
        return error.args[0]
    raise AssertionError(f"{abstract!r} makes instances")


def new_object(m: Machine, cls: type, args: list[Value], kwargs: dict[str, Value], init: Value) -> Obj:
    """`object.__new__` for a class."""
    if (args or kwargs) and type(init) is Const and init.value is object.__init__:
        raise m.error(TypeError, f"{type_name(cls)}() takes no arguments")
    if m.observe.flags(cls, ABSTRACT):
        raise _is_abstract(m, cls)
    if flags_of(cls) & DISALLOW_INSTANTIATION:
        raise GraphBreak("FL101", f"{cls.__name__} makes no instances by call")
    if storage_base(cls) is not object:
        raise m.error(TypeError, f"object.__new__({type_name(cls)}) is not safe, use {storage_base(cls).__name__}.__new__()")
    require_plain_base(cls)
    made = fresh_instance(m, cls, None)
    if (args or kwargs) and not _takes_arguments(m, cls):
        raise m.error(TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
    return made


def _takes_arguments(m: Machine, cls: type) -> bool:
    """Whether `object.__new__` lets arguments pass for this class.  Nothing but trying tells: C code asks which slot the class
    has, and keeps one for Python code even where the method is gone again."""
    known = m.memory.get((_takes_arguments, cls))
    if known is None:
        try:
            object.__new__(cls, None)
        except TypeError:
            known = False
        else:
            known = True
        m.remember((_takes_arguments, cls), known)
    return known


def class_made_by(m: Machine, base: type, cls: Value) -> type:
    """The class of which the `__new__` of a C class makes an instance; a break where CPython would refuse or the class is unknown."""
    known = m.observe.known_class(cls)
    if not stands_on(known, type) or not is_subtype(known, base):
        raise GraphBreak("FL102", f"{base.__name__}.__new__ with {cls.cls.__name__}")
    static = known
    while flags_of(static) & HEAP_TYPE:
        static = BASE.__get__(static)
    if static.__new__ is not base.__new__:
        raise GraphBreak("FL102", f"{base.__name__}.__new__ does not make instances of {known.__name__}")
    return known


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
BASE = type.__dict__["__base__"]
ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT
DISALLOW_INSTANTIATION = 1 << 7  # Py_TPFLAGS_DISALLOW_INSTANTIATION


def require_plain_base(cls: type) -> None:
    """Break unless the class's C base has no storage of its own that the trace does not model."""
    at = cls
    while flags_of(at) & (1 << 9):
        at = BASE.__get__(at)
    if at not in (object, BaseException) and storage_base(cls) is object:
        raise GraphBreak("FL101", f"{at.__name__} keeps storage in C")


def fresh_instance(m: Machine, cls: type, body: Any) -> Obj:
    """A new instance with empty attributes and slots."""
    if m.observe.peek_type(cls, "__del__") is not MISSING:
        raise GraphBreak("FL503", f"{cls.__qualname__} has a finaliser")
    made = m.session.alloc(cls, body)
    made.attributes = DictBody(True) if attributes.has_instance_dict(cls) else None
    made.slots = {}
    return made


def call_instance(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """An instance: `type(fn).__call__`."""
    if fn.cls in C_CALLABLES:
        target = m.observe.known(fn)
        if target is not MISSING:
            return call_known(m, Const(target), args, kwargs, link)
    if type(fn) is Const and (m.domain.records(fn.value) or _is_rule(fn.value)):
        return call_known(m, fn, args, kwargs, link)
    found = m.observe.type_lookup(fn.cls, "__call__")
    if found is ABSENT:
        raise m.error(TypeError, f"'{type_name(fn.cls)}' object is not callable")
    if type(found) is Const and found.value not in RULES:
        target = m.observe.peek(fn)
        if target is not MISSING and m.domain.records(target):
            return call_known(m, Const(m.observe.known(fn)), args, kwargs, link)
    if found.cls in CALLERS:
        return invoke(m, attributes.bind_descriptor(m, found, fn, fn.cls), args, kwargs, link)
    session = m.session
    if session.depth >= session.most_depth:
        raise GraphBreak("FL006", f"__call__ of {fn.cls.__qualname__} leads to another {session.depth} times")
    session.depth += 1
    session.deepest = max(session.deepest, session.depth)
    try:
        return invoke(m, attributes.bind_descriptor(m, found, fn, fn.cls), args, kwargs, link)
    finally:
        session.depth -= 1


def _is_rule(target: Any) -> bool:
    try:
        return target in RULES
    except TypeError:
        return False


C_CALLABLES: set[type] = set()
"""Classes of callables that are looked up in RULES as whole objects, by identity (lru_cache wrappers of C, ...)."""


def call_bound_builtin(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A built-in function: one bound to an object is its descriptor with that object first."""
    if type(fn) is Const:
        return call_known(m, fn, args, kwargs, link)
    return invoke(m, fn.body.function, [fn.body.self, *args], kwargs, link)


CALLERS: dict[type, Callable] = {
    types.FunctionType: call_function,
    types.MethodType: call_method,
    types.BuiltinFunctionType: call_bound_builtin,
    DEFINED_METHOD: call_bound_builtin,
    types.MethodWrapperType: call_bound_builtin,
    types.MethodDescriptorType: call_known,
    types.WrapperDescriptorType: call_known,
    types.ClassMethodDescriptorType: call_known,
    type: call_class,
}


def enter_root(m: Machine, function: types.FunctionType, code: types.CodeType, arguments: tuple) -> Frame:
    """The frame of a root function: its argument slots name the real arguments, looked at when they are read."""
    from frameloom.symbolic.values import Lazy

    session = m.session
    session.root_globals = function.__globals__
    program = decode(code)
    frame = Frame(session, program, None, function.__globals__)
    m.watched = to_watch(code.co_varnames, arguments, m.domain)
    for index, argument in enumerate(arguments):
        name = program.slots[index].name
        frame.slots[index] = Lazy(session.observe.real(argument, session.sources.local(name)))
    session.root_arguments = tuple(frame.slots[: len(arguments)])
    session.root_cells = {
        name: Lazy(session.observe.real(cell, session.sources.cell(name)))
        for name, cell in zip(code.co_freevars, function.__closure__ or ())
    }
    return frame


Machine.invoke = invoke
