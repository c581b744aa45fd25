"""The machine: what handlers and rules ask of the interpreter, one object a session."""

from __future__ import annotations

from typing import Any, Callable

from frameloom.symbolic.kinds import ATOMS
from frameloom.symbolic.layouts.dict_ import DictBody
from frameloom.symbolic.layouts.exception import ExceptionBody
from frameloom.symbolic.layouts.list_ import ListBody
from frameloom.symbolic.layouts.set_ import SetBody
from frameloom.symbolic.layouts.slice_ import SliceBody
from frameloom.symbolic.layouts.tuple_ import TupleBody
from frameloom.symbolic.signals import GraphBreak, SymbolicRaise
from frameloom.symbolic.values import NONE, Const, Node, Obj, Value


class Machine:
    """Services of one trace: making fresh objects, raising, folding on constants, and (attached by the protocol rooms) the
    slot algorithms of CPython."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.observe = session.observe
        self.journal = session.journal
        self.domain = session.domain
        self.memory: dict[Any, Any] = {}
        self.watched: frozenset[int] = frozenset()

    # -- memory --------------------------------------------------------------------------------------------------
    def remember(self, key: Any, value: Any) -> Any:
        """Keep what a rule must know again later in this trace under a key of its own; forgotten by a rollback."""
        self.journal.set_item(self.memory, key, value)
        return value

    # -- fresh objects -------------------------------------------------------------------------------------------
    def tuple(self, items: list[Value]) -> Obj:
        return self.session.alloc(tuple, TupleBody(list(items)))

    def list(self, items: list[Value]) -> Obj:
        return self.session.alloc(list, ListBody(list(items)))

    def dict(self, entries: dict[str, Value] | None = None) -> Obj:
        """A fresh dictionary with string keys."""
        body = DictBody(True)
        for name, value in (entries or {}).items():
            body.known[name] = (Const(name), value)
        return self.session.alloc(dict, body)

    def set(self, cls: type = set) -> Obj:
        return self.session.alloc(cls, SetBody())

    def slice(self, start: Value, stop: Value, step: Value = NONE) -> Value:
        if all(type(part) is Const for part in (start, stop, step)):
            return Const(slice(start.value, stop.value, step.value))
        return self.session.alloc(slice, SliceBody((start, stop, step)))

    def lift(self, found: Any) -> Value:
        """The Value of a host object that the trace itself made out of constants: containers become fresh objects."""
        cls = type(found)
        if cls in ATOMS or cls in (range, slice):
            return Const(found)
        if cls is tuple:
            return self.tuple([self.lift(item) for item in found])
        if cls is list:
            return self.list([self.lift(item) for item in found])
        if cls is dict:
            body = DictBody(True)
            for key, value in found.items():
                body.known[key] = (self.lift(key), self.lift(value))
            return self.session.alloc(dict, body)
        if cls in (set, frozenset):
            made = self.set(cls)
            for item in found:
                made.body.known[item] = self.lift(item)
            made.body.history.append(("constant", frozenset(found)) if cls is frozenset else ("copied", (("constant", found),)))
            return made
        return self.observe.constant(found)

    # -- raising -------------------------------------------------------------------------------------------------
    def error(self, cls: type, *args: Any) -> SymbolicRaise:
        """The signal for raising a built-in exception class with constant arguments: `raise m.error(TypeError, "...")`."""
        made = self.session.alloc(cls, ExceptionBody(self.tuple([self.lift(arg) for arg in args])))
        return self.raising(made)

    def error_of(self, cls: type, *args: Value) -> SymbolicRaise:
        """As `error`, with arguments that are Values already: `raise m.error_of(KeyError, key)`."""
        return self.raising(self.session.alloc(cls, ExceptionBody(self.tuple(list(args)))))

    def raising(self, exception: Value) -> SymbolicRaise:
        """The signal for raising an exception, its context set as CPython sets it."""
        from frameloom.symbolic.layouts import exception as parts

        session = self.session
        handled = session.handled
        if handled is not None and handled is not exception and type(exception) is Obj and exception.real is not None:
            raise GraphBreak("FL005", "an exception that exists already is raised while another is handled")
        if handled is None and session.ambient is not None:
            handled = session.handling()
        if handled is not None and handled is not exception and type(exception) is Obj and exception.real is None:
            parts.leave_context(session, handled, exception)
            self.journal.set_field(exception.body, "context", handled)
        return SymbolicRaise(exception)

    def fold(self, function: Callable, *values: Any, **named: Any) -> Value:
        """Run a host function of constants; its exception becomes the user's.  Only for functions that run no user code."""
        try:
            result = function(*values, **named)
        except RecursionError:
            raise  # of the interpreter that traces, perhaps: the program may have more room
        except Exception as error:  # noqa: BLE001  whatever C code raises for these constants is what eager raises
            raise self._from_host(error) from None
        return self.lift(result)

    def _from_host(self, error: Exception) -> SymbolicRaise:
        made = self.session.alloc(type(error), ExceptionBody(self.tuple([self.lift(arg) for arg in error.args])))
        for name, descriptor in error_details(type(error)):
            detail = descriptor.__get__(error)
            if detail is not None:
                self.observe_slot(made, descriptor, self.lift(detail))
        return self.raising(made)

    def observe_slot(self, obj: Obj, descriptor: Any, value: Value) -> None:
        """Set what a member descriptor of a fresh object holds."""
        if obj.slots is None:
            obj.slots = {}
        self.journal.set_item(obj.slots, descriptor, value)

    # -- constants -----------------------------------------------------------------------------------------------
    def need_constant(self, value: Value, kind: str, what: str) -> Any:
        """The atom behind a Const; anything else breaks with `kind`."""
        if type(value) is Const:
            return value.value
        settled = self.settle(value)
        if type(settled) is Const:
            return settled.value
        raise GraphBreak(kind, what)

    def settle(self, value: Value) -> Value:
        """A number that is known to this call, guarded by its value from here on; any other value as it is."""
        if type(value) is not Node:
            return value
        if value.tape == "host":
            return self.known_number(value)
        found = self.domain.operator(self.session, "settle", [value])
        return found if type(found) is Const else value

    def specialise(self, node: Node) -> Const:
        """Guard a promoted number by its value after all."""
        return self.observe.specialise(node)


def error_details(cls: type) -> list:
    """The member descriptors in which a built-in exception keeps details beside its arguments."""
    wanted = {"AttributeError": ("name", "obj"), "NameError": ("name",), "ImportError": ("name", "path"),
              "StopIteration": ("value",), "KeyError": (), "ModuleNotFoundError": ("name", "path")}
    found = []
    for name in wanted.get(cls.__name__, ()):
        for base in cls.__mro__:
            if name in base.__dict__ and name != "obj":
                found.append((name, base.__dict__[name]))
                break
    return found
