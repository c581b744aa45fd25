"""The module random: draws are host nodes, done at run time in program order by the same generator."""

from __future__ import annotations

import random
import types
from typing import Any, Callable

import _random

from frameloom.interpreter.attributes import own_attribute
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import CODE_RULES, RULES
from frameloom.rules.known import plain
from frameloom.rules.tuple_ import items_of
from frameloom.symbolic.instance_dict import MISSING
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import ABSENT, NONE, Const, Node, Obj, Value

NUMBERS = (int, float, bool)


def is_generator(value: Value) -> bool:
    """Whether a value is a generator that exists and draws by the methods of random.Random."""
    return type(value) is Obj and value.cls is random.Random and value.real is not None


def tried(function: Callable, scratch: Any, args: tuple[Value, ...], kwargs: dict[str, Value], title: str) -> Any:
    """What a scratch generator draws: tells the class, and whether these arguments are ones it takes."""
    known = [value.value if type(value) is Const else MISSING for value in (*args, *kwargs.values())]
    if any(value is MISSING for value in known):
        raise GraphBreak("FL207", f"{title} with arguments that are not constants")
    split = len(args)
    try:
        return function(scratch, *known[:split], **dict(zip(kwargs, known[split:])))
    except Exception as error:  # noqa: BLE001  eager raises it, with the generator's state as it is then
        raise GraphBreak("FL207", f"{title} raises {type(error).__name__}") from None


def draw(m: Machine, function: Callable, self: Obj, args: tuple[Value, ...], kwargs: dict[str, Value], cls: type) -> Node:
    """Record `function(self, *args)`."""
    return m.session.record(function, (self, *args), dict(kwargs), cls, None, tape="host")


def _number_rule(function: Callable, name: str) -> Callable:
    def rule(m: Machine, *given: Value, **kwargs: Value) -> Any:
        if not given or not is_generator(given[0]):
            return NotImplemented
        self, *args = given
        found = tried(function, random.Random(0), tuple(args), kwargs, f"random.{name}")
        if type(found) not in NUMBERS:
            raise GraphBreak("FL207", f"random.{name} gives a {type(found).__name__}")
        return draw(m, function, self, tuple(args), kwargs, type(found))

    return rule


def _effect_rule(function: Callable, name: str) -> Callable:
    """seed, setstate: they change the generator, and give None."""

    def rule(m: Machine, *given: Value, **kwargs: Value) -> Any:
        if not given or not is_generator(given[0]):
            return NotImplemented
        self, *args = given
        if not all(type(value) is Const or is_state(value) for value in (*args, *kwargs.values())):
            raise GraphBreak("FL207", f"random.{name} with arguments that are not constants")
        if not any(is_state(value) for value in args):
            tried(function, random.Random(0), tuple(args), kwargs, f"random.{name}")
        draw(m, function, self, tuple(args), kwargs, type(None))
        return NONE

    return rule


def is_state(value: Value) -> bool:
    """Whether a value is a state that the trace took from a generator."""
    return type(value) is Node and value.target is random.Random.getstate


def _state_rule(m: Machine, *given: Value) -> Any:
    if len(given) != 1 or not is_generator(given[0]):
        return NotImplemented
    return draw(m, random.Random.getstate, given[0], (), {}, tuple)


def _choice_rule(m: Machine, *given: Value) -> Any:
    """A draw among constants of one class is a number; which object it is of others is known at run time only."""
    if len(given) != 2 or not is_generator(given[0]):
        return NotImplemented
    self, sequence = given
    if sequence.cls not in (list, tuple, range):
        raise GraphBreak("FL207", f"random.choice from a {sequence.cls.__name__}")
    items = [m.observe.resolve(item) for item in items_of(m, sequence)]
    classes = {type(plain(m, item)) if type(item) is Const else Value for item in items}
    if len(classes) != 1 or not classes <= set(NUMBERS):
        raise GraphBreak("FL207", "random.choice among objects")
    return draw(m, random.Random.choice, self, (m.tuple(items),), {}, classes.pop())


def _refusal_rule(name: str) -> Callable:
    def rule(m: Machine, *given: Value, **kwargs: Value) -> Any:
        if not given or not is_generator(given[0]):
            return NotImplemented
        raise GraphBreak("FL207", f"random.{name}: the order of the result is known at run time only")

    return rule


NUMBER_METHODS = (
    "random",
    "getrandbits",
    "randint",
    "randrange",
    "uniform",
    "triangular",
    "normalvariate",
    "gauss",
    "lognormvariate",
    "expovariate",
    "vonmisesvariate",
    "gammavariate",
    "betavariate",
    "paretovariate",
    "weibullvariate",
    "binomialvariate",
)


def _register(name: str, make: Callable) -> None:
    """Give the method of random.Random its rule: a function of C, or one in Python found by its code."""
    found = next((cls.__dict__[name] for cls in (random.Random, _random.Random) if name in cls.__dict__), None)
    if found is None:
        return
    rule = make(found, name)
    code = getattr(found, "__code__", None)
    if code is None:
        RULES[found] = rule
    else:
        CODE_RULES[code] = _of_whole_generator(rule, sorted(_names_used(code, set())))


def _names_used(code: types.CodeType, found: set[str]) -> set[str]:
    """The methods of a generator that a method of it uses, directly or by another."""
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            _names_used(part, found)
    for name in {name for name in code.co_names if name in ORIGINALS} - found:
        found.add(name)
        inner = getattr(ORIGINALS[name], "__code__", None)
        if inner is not None:
            _names_used(inner, found)
    return found


ORIGINALS = {name: value for cls in (_random.Random, random.Random) for name, value in vars(cls).items() if not name.startswith("__")}
"""name -> what random.Random has under it"""


def _of_whole_generator(rule: Callable, names: list[str]) -> Callable:
    """The rule where the methods that the method uses are the generator's own; its code, traced, where one was replaced."""

    def checked(m: Machine, *given: Value, **kwargs: Value) -> Any:
        if given and is_generator(given[0]) and not all(_is_original(m, given[0], name) for name in names):
            return NotImplemented
        return rule(m, *given, **kwargs)

    return checked


def _is_original(m: Machine, generator: Obj, name: str) -> bool:
    return m.observe.peek_type(random.Random, name) is ORIGINALS[name] and own_attribute(m, generator, name) is ABSENT


for _name in NUMBER_METHODS:
    _register(_name, _number_rule)
for _name in ("seed", "setstate"):
    _register(_name, _effect_rule)
_register("getstate", lambda function, name: _state_rule)
_register("choice", lambda function, name: _choice_rule)
for _name in ("shuffle", "sample", "choices", "randbytes"):
    _register(_name, lambda function, name: _refusal_rule(name))
