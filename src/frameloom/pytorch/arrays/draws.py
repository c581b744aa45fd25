"""NumPy's generators of random numbers: numbers drawn one by one are host nodes, done at run time in program order by the same generator."""

from __future__ import annotations

import types
from typing import Any, Callable

import numpy

from frameloom.interpreter.attributes import BINDERS
from frameloom.interpreter.calls import C_CALLABLES
from frameloom.interpreter.machine import Machine
from frameloom.interpreter.registry import RULES, rule
from frameloom.rules.random_ import NUMBERS, draw, tried
from frameloom.symbolic.signals import GraphBreak
from frameloom.symbolic.values import NONE, Const, Obj, Value

SCRATCH: dict[type, Callable] = {numpy.random.RandomState: numpy.random.RandomState, numpy.random.Generator: numpy.random.default_rng}
"""Class of generators -> what makes one that nobody else draws by."""

METHODS = (
    "beta", "binomial", "chisquare", "choice", "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric", "integers", "laplace",
    "logistic", "lognormal", "logseries", "negative_binomial", "normal", "pareto", "poisson", "power", "rand", "randint", "randn", "random",
    "random_sample", "rayleigh", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "tomaxint",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
)
"""Those that give one number where they are asked for no array."""


CYTHON = type(vars(numpy.random.RandomState)["random"])
"""The class of functions that Cython makes."""


def _bind(m: Machine, found: Value, obj: Value | None, owner: Any, link: Any) -> Value:
    """As a function of Python, where it is one of these; others may be static."""
    if m.observe.known(found) not in RULES:
        raise GraphBreak("FL304", "a function that Cython made, without a rule")
    return BINDERS[types.FunctionType](m, found, obj, owner, link)


C_CALLABLES.add(CYTHON)
BINDERS[CYTHON] = _bind


def _draws(cls: type, name: str) -> None:
    function = vars(cls)[name]

    @rule(function)
    def drawn(m: Machine, *given: Value, **kwargs: Value) -> Any:
        if not given or type(given[0]) is not Obj or given[0].cls is not cls or given[0].real is None:
            raise GraphBreak("FL102", f"numpy.random's {name} of another object than its own generators")
        self, *args = given
        title = f"{cls.__name__}.{name}"
        found = tried(function, SCRATCH[cls](0), tuple(args), kwargs, title)
        if type(found) not in NUMBERS:
            raise GraphBreak("FL207", f"{title} gives a {type(found).__name__}")
        return draw(m, function, self, tuple(args), kwargs, type(found))


for _cls in SCRATCH:
    for _name in METHODS:
        if _name in vars(_cls):
            _draws(_cls, _name)


@rule(numpy.random.seed)
def _seed(m: Machine, seed: Value = NONE) -> Value:
    """The generator that NumPy's functions share is seeded at run time; so it is where another one was put in its place."""
    if type(seed) is not Const or type(seed.value) not in (int, type(None)) or type(seed.value) is int and seed.value not in SEEDS:
        raise GraphBreak("FL207", "a seed that is known at run time only, or that NumPy refuses")
    m.session.record(numpy.random.seed, (seed,), {}, type(None), None, tape="host")
    return NONE


SEEDS = range(2**32)
