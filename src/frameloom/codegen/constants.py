"""Constants of generated code: which objects the code may own, and how it reaches the others.

The collector does not look into code objects, so that an object of the user's owned by one would never die.  Only what lives
as long as the process (atoms, static classes and their descriptors, functions of this package) is a constant itself; others
are reached through a slot, which the entry fills while it lives.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from frameloom.bytecode.emitter import Emitter
from frameloom.symbolic.instance_dict import is_the_one
from frameloom.symbolic.kinds import ATOMS, DEFINED_METHOD
from frameloom.symbolic.real import flags_of, is_loose, stands_on

_HEAP_TYPE = 1 << 9
_OWNED = ATOMS | {range, types.CodeType}
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
)


def lives_for_ever(value: Any) -> bool:
    """Whether code may own `value`: nothing of the user's can be reached from it."""
    rule = _RULES.get(type(value))
    if rule is not None:
        return rule(value)
    return stands_on(value, type) and not flags_of(value) & _HEAP_TYPE


def _every_item(value: Any) -> bool:
    return all(lives_for_ever(item) for item in value)


def _bounds(value: slice) -> bool:
    return _every_item((value.start, value.stop, value.step))


def _descriptor(value: Any) -> bool:
    return lives_for_ever(value.__objclass__)


def _bound(value: Any) -> bool:
    owner = value.__self__
    return owner is None or isinstance(owner, types.ModuleType) and not is_loose(value) or lives_for_ever(owner)


def _function(value: types.FunctionType) -> bool:
    return value.__closure__ is None and str(value.__globals__.get("__name__")).partition(".")[0] == "frameloom"


_RULES: dict[type, Callable[[Any], bool]] = {
    **{cls: lambda value: True for cls in _OWNED},
    **{cls: _descriptor for cls in _DESCRIPTORS},
    tuple: _every_item,
    frozenset: _every_item,
    slice: _bounds,
    types.BuiltinFunctionType: _bound,
    DEFINED_METHOD: _bound,
    types.MethodWrapperType: _bound,
    types.FunctionType: _function,
}


_SHARED = frozenset({str, bytes, int})
"""classes of constants of which a code object has one for each value"""


class EntryEmitter(Emitter):
    """An emitter whose constants go through slots where they must.

    `new_slot(weak=...)` gives a slot: calling it calls what the entry put in, `get()` gives that.  `filled` lists the slots with what is
    to be put in.
    """

    def __init__(self, code: types.CodeType, new_slot: Callable[..., Any]) -> None:
        super().__init__(code)
        self._new_slot = new_slot
        self._slot_of: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no id is used again
        self.filled: list[tuple[Any, Any]] = []
        self._first: dict[tuple, Any] = {}
        self._mortal: set[int] = set()
        self._count = 0

    def temporary(self) -> int:
        """A new local that no user's code names: its index."""
        return self.named_temporary()[0]

    def named_temporary(self) -> tuple[int, str]:
        """A new local that no user's code names: its index here, and its name, by which it is found in the finished code."""
        self._count += 1
        name = f".{self._count}"
        return self.scratch(name), name

    def load_const(self, value: Any) -> None:
        if lives_for_ever(value) and not self._would_be_another(value):
            super().load_const(value)
        else:
            get = self._slot_for(value).get
            self.load_callable(lambda: super(EntryEmitter, self).load_const(get))
            self.call(0)

    def _would_be_another(self, value: Any) -> bool:
        """Whether a code object would have another object of equal value for a constant: it has one of each, and the interned one
        of texts that look like names.  The program may have made this one, and tell them apart."""
        if type(value) not in _SHARED or type(value) is int and -5 <= value <= 256 or type(value) is not int and len(value) < 2:
            return False
        if self._first.setdefault((type(value), value), value) is not value:
            return True
        return type(value) is str and value.isascii() and value.replace("_", "a").isalnum() and not is_the_one(value)

    def begin_call(self, function: Any) -> None:
        if not lives_for_ever(function):
            function = self._slot_for(function)
        self.load_callable(lambda: super(EntryEmitter, self).load_const(function))

    def leave_mortal(self, values: Iterable[Any]) -> None:
        """The entry finds these objects alive by its guards, and does not keep them."""
        for value in values:
            self._mortal.add(id(value))
            self._kept.append(value)

    def _slot_for(self, value: Any) -> Any:
        slot = self._slot_of.get(id(value))
        if slot is None:
            # An entry for which a class, a key or such a function has to live has found it alive by a guard: it need not keep it.
            weak = stands_on(value, type) or id(value) in self._mortal or stands_on(value, types.BuiltinFunctionType) and is_loose(value)
            slot = self._slot_of[id(value)] = self._new_slot(weak=weak)
            self.filled.append((slot, weakref.ref(value) if weak else value))
            self._kept.append(value)
        return slot

    def load_closure(self, slot: str | int) -> None:
        if isinstance(slot, str):
            slot = next(index for index, found in enumerate(self.slots) if found.name == slot and found.kind == "free")
        super().load_closure(slot)
