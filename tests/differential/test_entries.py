"""Breaks in what an instruction runs other than by a call: operators, truth, subscripts, iteration, text."""

from __future__ import annotations

import pytest

from tests.toy.domain import ToyDomain

from .compiled import compare
from .grammar import HEADER
from .test_chains import HELPERS, graphs

MADE = """
import operator
class Made:
    def __init__(self, v):
        self.v = v
        self.turns = 0
    def {method}:
        v = self.v * 2
        breaker()
        log(where_from())
        self.v = v + 1
        {result}
class Further(Made):
    pass
class Refusing:
    def __add__(self, other):
        return NotImplemented
    def __lt__(self, other):
        return NotImplemented
def where_from():
    return [name for name, *_ in names()[1:]]
def outer(v):
    made = Made(v + 1)
    {use}
    return made.v * 2
"""

ENTRIES = {
    "+": ("__add__(self, other)", "return self.v", "v = made + v"),
    "+, of an array": ("__radd__(self, other)", "return self.v", "v = 3 + made"),
    "+, refused by the left": ("__radd__(self, other)", "return self.v", "v = Refusing() + made"),
    "+, of a subclass": ("__radd__(self, other)", "return self.v", "v = made + Further(v)"),
    "+, given up": ("__add__(self, other)", "return NotImplemented", "try:\n        v = made + 'x'\n    except TypeError as error:\n        log(error.args)"),
    "+, given to the right": ("__add__(self, other)", "return NotImplemented", "v = made + Taking()\nclass Taking:\n    def __radd__(self, other):\n        log('taken')\n        return 3\ndef unused():\n    made = Made(0)"),
    "+=": ("__iadd__(self, other)", "return self", "made += v"),
    "+=, given up": ("__add__(self, other)", "return NotImplemented", "try:\n        made += 'x'\n    except TypeError as error:\n        log(error.args)"),
    "+= by +": ("__add__(self, other)", "return self", "made += v"),
    "-": ("__neg__(self)", "return self", "made = -made"),
    "~": ("__invert__(self)", "return self", "made = ~made"),
    "abs": ("__abs__(self)", "return self", "made = abs(made)"),
    "==": ("__eq__(self, other)", "return 1", "log(made == 3)"),
    "== in a branch": ("__eq__(self, other)", "return 1", "v = v + 1 if made == 3 else v"),
    "== from the right": ("__eq__(self, other)", "return True", "log(3 == made)"),
    "== given up": ("__eq__(self, other)", "return NotImplemented", "log((made == 3, made == made))"),
    "!= by ==": ("__eq__(self, other)", "return True", "log(made != 3)"),
    "!= by ==, given up": ("__eq__(self, other)", "return NotImplemented", "log(made != 3)"),
    "<": ("__lt__(self, other)", "return True", "log(made < 3)"),
    "> from the right": ("__lt__(self, other)", "return True", "log(3 > made)"),
    "<, given up": ("__lt__(self, other)", "return NotImplemented", "try:\n        made < Refusing()\n    except TypeError as error:\n        log(error.args)"),
    "truth": ("__bool__(self)", "return True", "v = v + 1 if made else v"),
    "not": ("__bool__(self)", "return False", "v = v + 1 if not made else v"),
    "and": ("__bool__(self)", "return False", "log((made and 3) is made)"),
    "truth by length": ("__len__(self)", "return 0", "v = v + 1 if made else v"),
    "bool": ("__bool__(self)", "return True", "log(bool(made))"),
    "bool, wrong": ("__bool__(self)", "return 1", "try:\n        bool(made)\n    except TypeError as error:\n        log(error.args)"),
    "len": ("__len__(self)", "return 2", "v = v * len(made)"),
    "len, wrong": ("__len__(self)", "return -1", "try:\n        len(made)\n    except ValueError as error:\n        log((error.args, where(error)))"),
    "in": ("__contains__(self, item)", "return 2", "log(v in made)"),
    "not in": ("__contains__(self, item)", "return 0", "log(v not in made)"),
    "subscript": ("__getitem__(self, key)", "return self.v", "v = v + made[1]"),
    "subscript of a class": ("__class_getitem__(cls, key)", "return self.v", "made = Made[made]"),
    "iter": ("__iter__(self)", "return iter([1])", "for w in made:\n        v = v + w"),
    "iter, wrong": ("__iter__(self)", "return 3", "try:\n        for w in made: pass\n    except TypeError as error:\n        log((error.args, where(error)))"),
    "iter()": ("__iter__(self)", "return iter([1])", "v = v + next(iter(made))"),
    "next()": ("__next__(self)", "return self.v", "v = v + next(made)"),
    "next(), at the end": ("__next__(self)", "raise StopIteration(4)", "try:\n        next(made)\n    except StopIteration as error:\n        log((error.value, where(error)))"),
    "getattr": ("__getattr__(self, name)", "return self.v", "v = v + getattr(made, 'w')"),
    "str": ("__str__(self)", "return 'text'", "log(str(made))"),
    "repr": ("__repr__(self)", "return 'text'", "log(repr(made))"),
    "format": ("__format__(self, spec)", "return 'text' + spec", "log(f'{made:>3}')"),
    "format by str": ("__str__(self)", "return 'text'", "log(f'{made}')"),
    "format by repr": ("__repr__(self)", "return 'text'", "log(f'{made!r}')"),
    "format, wrong": ("__format__(self, spec)", "return 3", "try:\n        f'{made}'\n    except TypeError as error:\n        log(error.args)"),
    "str, wrong": ("__str__(self)", "return 3", "try:\n        str(made)\n    except TypeError as error:\n        log((error.args, where(error)))"),
    "operator": ("__add__(self, other)", "return self.v", "v = operator.add(made, v)"),
}
"""name -> (the method that breaks, how it ends, what runs it)"""

IN_MORE = frozenset({"== given up", "!= by ==, given up", "len, wrong", "iter, wrong", "next(), at the end", "str, wrong"})
"""Where the method is run twice, or a traceback is read, for which the exception is raised again."""


@pytest.mark.parametrize("name", ENTRIES)
def test_a_break_goes_on_as_one_with_what_runs_it(name: str) -> None:
    method, result, use = ENTRIES[name]
    text = MADE.format(method=method, result=result, use=use)
    if "cls" in method:
        text = text.replace("self.v * 2", "key.v * 2").replace("self.v = v + 1", "key.v = v + 1").replace("return self.v", "return key")
    source = HELPERS + text + HEADER.rstrip() + "\n    return outer(a + 1) + a\n"
    compare(source, ToyDomain())
    compare(source, ToyDomain(), replay=True)
    if name not in IN_MORE:
        assert len(graphs(source)) == 2


def test_a_user_iterator_costs_one_graph_a_turn_until_it_repeats() -> None:
    method = "__next__(self)"
    result = "self.turns += 1\n        if self.turns > 3: raise StopIteration\n        return self.v\n    def __iter__(self):\n        return self"
    source = HELPERS + MADE.format(method=method, result=result, use="for w in made:\n        v = v + w") + HEADER.rstrip() + "\n    return outer(a + 1) + a\n"
    compare(source, ToyDomain())
    compare(source, ToyDomain(), replay=True)
