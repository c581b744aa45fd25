"""functools: partials, and hits of the caches that C code keeps."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Iterator
from typing import Any

from frameloom.interpreter import calls
from frameloom.interpreter.attributes import BINDERS, attributes_of, reads
from frameloom.interpreter.calls import CALLERS, call_known
from frameloom.interpreter.frame import Link
from frameloom.interpreter.iteration import unpack
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import POLYFILLS, REFUSED, RULES, refuse, rule
from frameloom.interpreter.stores import dict_update
from frameloom.rules.define import function, methods
from frameloom.rules.polyfills import functools as polyfills
from frameloom.symbolic.guards import Guard
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.keys import host_hashable
from frameloom.symbolic.layouts import dict_, partial, tuple_
from frameloom.symbolic.layouts.partial import PartialBody
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, Const, Obj, Value

# -- partial ---------------------------------------------------------------------------------------------------------


@function(functools.partial.__new__)
def new_partial(m: Machine, cls: Value, func: Value, /, *args: Value, **kwargs: Value) -> Value:
    if m.observe.type_lookup(func.cls, "__call__") is ABSENT:
        raise m.error(TypeError, "the first argument must be callable")
    known = m.observe.known(cls)
    keywords = m.dict()
    if issubclass(func.cls, functools.partial) and not _has_attributes(m, func):
        args = (*unpack(m, partial.part(m.session, func, "args")), *args)
        dict_update(m, keywords, partial.part(m.session, func, "keywords"))
        func = partial.part(m.session, func, "func")
    for name, value in kwargs.items():
        dict_.set_(m.session, keywords.body, name, Const(name), value)
    made = calls.fresh_instance(m, known, PartialBody(func, m.tuple(list(args)), keywords))
    return made


def _has_attributes(m: Machine, obj: Value) -> bool:
    body = attributes_of(m, obj)
    dict_.materialise(m.session, body)
    return any(value is not ABSENT for _, value in body.known.values())


def call_partial(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A partial called: given arguments first, keywords of the call over the given ones."""
    given = unpack(m, partial.part(m.session, fn, "args"))
    keywords = _plain_keywords(m, partial.part(m.session, fn, "keywords"))
    return m.invoke(partial.part(m.session, fn, "func"), [*given, *args], {**keywords, **kwargs}, link)


def _plain_keywords(m: Machine, mapping: Value) -> dict[str, Value]:
    found = {}
    for handle in dict_.handles(m.session, mapping.body):
        key = mapping.body.known[handle][0]
        if type(key) is not Const or type(key.value) is not str:
            raise m.error(TypeError, "keywords must be strings")
        found[key.value] = dict_.get(m.session, mapping.body, handle, key)
    return found


CALLERS[functools.partial] = call_partial


@methods(functools.partial, "__call__")
def partial_call(m: Machine, fn: Value, /, *args: Value, **kwargs: Value) -> Value:
    return call_partial(m, fn, list(args), kwargs, None)


def _partial_part(name: str) -> None:
    @reads(partial.PARTS[name])
    def read(m: Machine, fn: Value) -> Value:
        return partial.part(m.session, fn, name)


for _name in partial.PARTS:
    _partial_part(_name)


# -- caches ----------------------------------------------------------------------------------------------------------

WRAPPER = type(functools.lru_cache(maxsize=None)(lambda: None))


class Cache:
    """What a cache of C code holds: `entries` by key, results or links of a list; `results` of those links by their keys."""

    __slots__ = ("entries", "mark", "links", "typed")

    def __init__(self, wrapper: Any, typed: bool) -> None:
        held = gc.get_referents(wrapper)
        at = max(index for index, item in enumerate(held) if type(item) is object)
        self.mark = held[at]
        self.entries = held[at - 2]
        self.links = held[1 : at - 2]
        self.typed = typed

    def key(self, args: list, kwargs: dict) -> Any:
        """The key under which a call is remembered."""
        if not self.typed and not kwargs:
            return args[0] if len(args) == 1 and type(args[0]) in (int, str) else tuple(args)
        parts = list(args)
        if kwargs:
            parts.append(self.mark)
            for item in kwargs.items():
                parts.extend(item)
        if self.typed:
            parts.extend(map(type, [*args, *kwargs.values()]))
        return tuple(parts)

    def result(self, key: Any) -> Any:
        """The result behind the link of a key."""
        for found, result in zip(self.links[::3], self.links[1::3]):
            if found is key or host_hashable(found) and type(found) is type(key) and found == key:
                return result
        return MISSING


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


TELLERS = frozenset(code for code in _codes(functools.lru_cache.__code__) if code.co_name == "<lambda>")
"""The code of `cache_parameters`, which functools gives to a cache that it makes."""


def _is_typed(wrapper: Any) -> bool:
    """Whether a cache tells arguments of different classes apart: C code alone knows, and functools, where it made the cache."""
    told = WRAPPER.__dict__["__dict__"].__get__(wrapper).get("cache_parameters")
    if type(told) is not types.FunctionType or told.__code__ not in TELLERS:
        raise GraphBreak("FL101", f"{calls.name_of(wrapper)}, whose cache does not tell how it makes its keys")
    return told.__closure__[told.__code__.co_freevars.index("typed")].cell_contents


def call_cached(m: Machine, fn: Value, args: list[Value], kwargs: dict[str, Value], link: Link | None) -> Value:
    """A function with a cache: its result where the cache has it; else the call must run, since only it can fill the cache."""
    wrapper = m.observe.peek(fn)
    if wrapper is MISSING:
        raise GraphBreak("FL101", "a function with a cache made in the trace")
    if wrapper in RULES or wrapper in POLYFILLS or wrapper in REFUSED or m.domain.records(wrapper):
        return call_known(m, Const(m.observe.known(fn)), args, kwargs, link)
    name = calls.name_of(wrapper)
    plain = [_key_part(m, value) for value in (*args, *kwargs.values())]
    if any(part is MISSING for part in plain):
        raise GraphBreak("FL101", f"{name}, whose cache is asked for a key that is not known")
    wrapper = m.observe.known(fn)
    cache = Cache(wrapper, _is_typed(wrapper))
    key = cache.key(plain[: len(args)], dict(zip(kwargs, plain[len(args) :])))
    source = m.session.sources.const(cache.entries)
    found = cache.entries.get(key, MISSING)
    if found is MISSING:
        _guard_miss(m, source, key)
        raise GraphBreak("FL101", f"{name}, whose cache has no result for these arguments yet")
    m.session.effect("call", fn, [*args, *kwargs.values()], tuple(kwargs))
    if type(found).__name__ != "_lru_list_elem":
        return m.observe.wrap(found, source.child("dict_item", key))
    m.session.guard("IS", source.child("dict_item", key), found)
    return m.observe.constant(cache.result(key))


def _guard_miss(m: Machine, source: Any, key: Any) -> None:
    """Once the break has run the call, the next capture is to find the result: this guard outlives the break's rollback."""
    guard = Guard("NO_KEY", source, key, m.session.where())
    m.session.guards.setdefault(("NO_KEY", source, type(key), key), guard)


def _key_part(m: Machine, value: Value) -> Any:
    """The object of an argument where hashing and comparing it is C code's affair."""
    if type(value) is Const:
        return value.value if host_hashable(value.value) else MISSING
    if type(value) is not Obj:
        return MISSING
    if value.real is None and value.cls is tuple:
        parts = [_key_part(m, item) for item in tuple_.items(m.session, value.body)]
        return MISSING if any(part is MISSING for part in parts) else tuple(parts)
    if value.real is None or not host_hashable(m.observe.peek(value)):
        return MISSING
    return m.observe.known(value)


CALLERS[WRAPPER] = call_cached
BINDERS[WRAPPER] = BINDERS[type(call_cached)]


@methods(WRAPPER, "__call__")
def wrapper_call(m: Machine, fn: Value, /, *args: Value, **kwargs: Value) -> Value:
    return call_cached(m, fn, list(args), kwargs, None)


refuse("FL101", "a cache is cleared", WRAPPER.__dict__["cache_clear"])
refuse("FL101", "the counters of a cache are read", WRAPPER.__dict__["cache_info"])

# -- cached_property -------------------------------------------------------------------------------------------------


@rule(functools.cached_property.__get__)
def cached_property_get(m: Machine, *args: Value, **kwargs: Value) -> Value:
    return m.invoke(m.observe.constant(polyfills.cached_property_get), list(args), kwargs)
