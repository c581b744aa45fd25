"""Writing code objects: instructions by meaning, the running version's spelling."""

from __future__ import annotations

import dis
import opcode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, NamedTuple

from .assemble import Label, Region, Signature, Unit, assemble
from .decode import decode
from .program import Group, Position, Program, Slot
from .slots import CO_VARARGS, CO_VARKEYWORDS, argument_count, read_slots
from .versions import version
from .versions.rows import COMPARISONS, OPERATORS

NO_POSITION = Position(None, None, None, None)

_SLOT_OPS = frozenset(opcode.opname[number] for number in {*dis.haslocal, *dis.hasfree})
_ENDING = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})

class Finished(NamedTuple):
    """A code object, and where labels went: `offset(label)` is the label's code unit in it."""

    code: CodeType
    offset: Callable[[Label], int]


class Emitter:
    """Builds one code object, instruction by instruction; each method emits what its name says.

    `code` gives the slots, and the constants and names that copied instructions refer to: an Emitter for a user's code object
    has the user's slots. Slots are named by str, or by index in `slots.read_slots(code)` order, which also tells a
    local from a free variable of the same name; `scratch` gives further ones. `position` is the position of the instructions
    emitted next. Stack depth is tracked for the stack size only: after an instruction that ends a path it is that of the next label.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.slots: tuple[Slot, ...] = read_slots(code)
        self.position: Position = NO_POSITION
        self.depth = 0
        self._deepest = 0
        self._units: list[Unit] = []
        self._regions: list[Region] = []
        self._open: tuple[int, Label, int, bool] | None = None
        self._consts: list[Any] = list(code.co_consts)
        self._const_index = {id(value): index for index, value in reversed([*enumerate(code.co_consts)])}
        self._names: list[str] = list(code.co_names)
        self._name_index = {name: index for index, name in enumerate(code.co_names)}
        self._offset_consts: dict[int, Label] = {}
        self._scratch: list[str] = []
        self._hidden: list[str] = []
        self._slot_index: dict[str, int] = {}
        for index, slot in enumerate(self.slots):
            self._slot_index.setdefault(slot.name, index)

    # slots

    def slot(self, name: str) -> int:
        """The index of the first slot with this name (a local before a free variable); KeyError if there is none."""
        return self._slot_index[name]

    def scratch(self, name: str) -> int:
        """A new local of the code, not of the user's: its index. `name` should be no identifier, such as ".graph"."""
        self._scratch.append(name)
        return self._register(name)

    def hidden_argument(self, name: str) -> int:
        """A new last parameter: its index. To be asked for before any `scratch`."""
        if self._scratch:
            raise ValueError("hidden arguments come before scratch locals")
        self._hidden.append(name)
        return self._register(name)

    def _register(self, name: str) -> int:
        index = len(self.slots) + len(self._hidden) + len(self._scratch) - 1
        if self._slot_index.setdefault(name, index) != index:
            raise ValueError(f"there is a slot {name!r} already")
        return index

    def _at(self, slot: str | int) -> int:
        return self._slot_index[slot] if isinstance(slot, str) else slot

    # the raw layer

    def op(self, name: str, arg: int | Label | None = None) -> None:
        """An original instruction of the running Python. Slot arguments are slot indices as everywhere here."""
        number = opcode.opmap[name]
        if isinstance(arg, Label):
            taken = self.depth + dis.stack_effect(number, 0, jump=True)
            arg.depth = taken if arg.depth is None else max(arg.depth, taken)
            self._grow(taken)
            self.depth += dis.stack_effect(number, 0, jump=False)
        else:
            self.depth += dis.stack_effect(number, arg, jump=False)
        self._grow(self.depth)
        self._units.append(Unit(name, arg, self.position))

    def _grow(self, depth: int) -> None:
        if depth > self._deepest:
            self._deepest = depth

    def raw(self, program: Program, group: Group, jump: Label | None = None) -> None:
        """The original instructions of a group, with results that can be handed on: a method look-up becomes the plain
        attribute, with NULL beside it. A jump goes to `jump`, which must lie ahead, and leaves the stack as the canonical
        instruction does once `landing` has been emitted there."""
        for number, arg in group.raws:
            name = opcode.opname[number]
            if jump is not None and number in _RAW_JUMPS:
                self.op(version.FORWARD_FORMS.get(name, name), jump)
            else:
                for plain_name, plain_arg in version.plain_lookup(name, arg):
                    self.op(plain_name, plain_arg if _takes_argument(plain_name) else None)

    def landing(self, op: str) -> None:
        """What must stand at the label to which `raw` jumped, for the canonical jump `op`."""
        for name in version.LANDINGS.get(op, ()):
            self.op(name)

    def copy_body(
        self, program: Program, before: Callable[[Group], Any] | None = None, after: Callable[[Group], Any] | None = None,
        last_handler: Label | None = None,
    ) -> Callable[[int], Label]:
        """Copy all of a program behind its prefix, exception table and positions included.

        `before` and `after` may emit calls around a group, at its position: they find the stack as deep as it may be and must
        leave it so.  `last_handler` is where exceptions go that the program does not catch, with the offset below them.
        Returns a function from the canonical index of a group's first instruction to its label.
        """
        labels = [Label() for _ in program.groups]
        begin = program.instructions[program.start].origin
        position, covered = self.position, None
        self.depth = 0
        for number in range(begin, len(program.groups)):
            group = program.groups[number]
            handler = program.handler_at(group.first)
            if handler != covered:
                if self._open is not None:
                    self.end_region()
                covered = handler
            if self._open is None and handler is not None:
                self.begin_region(labels[program.instructions[handler.target].origin], handler.depth, handler.lasti)
            elif self._open is None and last_handler is not None:
                self.begin_region(last_handler, 0, lasti=True)
            labels[number].unit = len(self._units)
            self.position = program.instructions[group.first].position
            if before is not None:
                self._around(before, program, group)
            self._copy_group(program, group, labels)
            if after is not None:
                self._around(after, program, group)
        if self._open is not None:
            self.end_region()
        self.position = position
        self._grow(program.code.co_stacksize)
        return lambda index: labels[program.instructions[index].origin]

    def _around(self, emit: Callable[[Group], Any], program: Program, group: Group) -> None:
        self.depth = program.code.co_stacksize
        emit(group)

    def _copy_group(self, program: Program, group: Group, labels: list[Label]) -> None:
        last = program.instructions[group.first + group.count - 1]
        for number, arg in group.raws:
            name = opcode.opname[number]
            if number in _RAW_JUMPS:
                landings = version.LANDINGS.get(last.op, ())
                target = labels[program.instructions[last.arg].origin - len(landings)]
                self._units.append(Unit(name, target, self.position))
            else:
                self._units.append(Unit(name, arg if _takes_argument(name) else None, self.position))

    # labels and regions

    def place(self, label: Label) -> None:
        """The label stands here."""
        label.unit = len(self._units)
        if label.depth is not None:
            fell_in = bool(self._units) and self._units[-1].op not in _ENDING
            self.depth = max(self.depth, label.depth) if fell_in else label.depth
        self._grow(self.depth)

    def assume_depth(self, depth: int) -> None:
        """The stack is at least this deep here, whatever the opcodes' static effects add up to."""
        self.depth = max(self.depth, depth)
        self._grow(self.depth)

    def begin_region(self, target: Label, depth: int, lasti: bool = False) -> None:
        """From here exceptions go to `target`: with the stack cut to `depth`, then the offset if `lasti`, then the exception."""
        if self._open is not None:
            raise ValueError("regions do not nest")
        self._open = (len(self._units), target, depth, lasti)
        target.depth = depth + lasti + 1

    def end_region(self) -> None:
        assert self._open is not None
        self._regions.append(Region(self._open[0], len(self._units), *self._open[1:]))
        self._open = None

    @contextmanager
    def region(self, target: Label, depth: int, lasti: bool = False) -> Iterator[None]:
        """`begin_region` and `end_region` around a block."""
        self.begin_region(target, depth, lasti)
        yield
        self.end_region()

    @contextmanager
    def at(self, position: Position) -> Iterator[None]:
        """Instructions emitted in the block stand at `position`."""
        before, self.position = self.position, position
        yield
        self.position = before

    # prefix

    def prefix(self, *, generator: bool = False, cells_arrive: bool | None = None) -> None:
        """What every code object begins with: free variables, cells, generator (if `generator`), RESUME.

        `cells_arrive` says that the slots of cells already hold cells, which arrived as arguments; None asks how it is in
        the Emitter's `code`.
        """
        if cells_arrive is None:
            cells_arrive = not _makes_cells(self.code)
        cells = [index for index, slot in enumerate(self.slots) if slot.kind == "cell"]
        if self.code.co_freevars:
            self.op("COPY_FREE_VARS", len(self.code.co_freevars))
        if not cells_arrive:
            for index in cells:
                self.make_cell(index)
        if generator:
            self.op("RETURN_GENERATOR")
            self.op("POP_TOP")
            self.depth = 0
        self.op("RESUME", 0)
        if cells and cells_arrive:
            # CPython shows the contents of a cell in locals() only behind a MAKE_CELL for its slot, executed or not.
            over = Label()
            self.jump(over)
            for index in cells:
                self.make_cell(index)
            self.place(over)

    # variables and constants

    def load_fast(self, slot: str | int) -> None:
        """Push what the slot holds (a cell as itself). The slot must be bound."""
        self.op("LOAD_FAST", self._at(slot))

    def store_fast(self, slot: str | int) -> None:
        """Pop into the slot; NULL empties it."""
        self.op("STORE_FAST", self._at(slot))

    def delete_fast(self, slot: str | int) -> None:
        self.op("DELETE_FAST", self._at(slot))

    def move_fast(self, slot: str | int) -> None:
        """Push what the slot holds and empty it: the frame keeps no reference if a traceback keeps the frame."""
        self.load_fast(slot)
        self.delete_fast(slot)

    def load_deref(self, slot: str | int) -> None:
        self.op("LOAD_DEREF", self._at(slot))

    def store_deref(self, slot: str | int) -> None:
        self.op("STORE_DEREF", self._at(slot))

    def delete_deref(self, slot: str | int) -> None:
        self.op("DELETE_DEREF", self._at(slot))

    def make_cell(self, slot: str | int) -> None:
        self.op("MAKE_CELL", self._at(slot))

    def load_closure(self, slot: str | int) -> None:
        """Push the cell itself."""
        self.op(version.LOAD_CLOSURE, self._at(slot))

    def load_const(self, value: Any) -> None:
        """Push this very object (an exact str that looks like an identifier may be replaced by its interned equal)."""
        self.op("LOAD_CONST", self._const(value))

    def load_offset(self, label: Label) -> None:
        """Push the code unit of the label as an int: what CPython pushes for a handler with `lasti`."""
        index = len(self._consts)
        self._consts.append(None)
        self._offset_consts[index] = label
        self.op("LOAD_CONST", index)

    def _const(self, value: Any) -> int:
        index = self._const_index.get(id(value))
        if index is None:
            index = self._const_index[id(value)] = len(self._consts)
            self._consts.append(value)
        return index

    def _name(self, name: str) -> int:
        index = self._name_index.get(name)
        if index is None:
            index = self._name_index[name] = len(self._names)
            self._names.append(name)
        return index

    def load_global(self, name: str) -> None:
        self.op("LOAD_GLOBAL", self._name(name) << 1)

    def store_global(self, name: str) -> None:
        self.op("STORE_GLOBAL", self._name(name))

    def delete_global(self, name: str) -> None:
        self.op("DELETE_GLOBAL", self._name(name))

    # attributes and items

    def load_attr(self, name: str) -> None:
        self.op("LOAD_ATTR", self._name(name) << version.LOAD_ATTR_SHIFT)

    def store_attr(self, name: str) -> None:
        """(value, owner): owner.name = value."""
        self.op("STORE_ATTR", self._name(name))

    def delete_attr(self, name: str) -> None:
        self.op("DELETE_ATTR", self._name(name))

    def load_subscript(self) -> None:
        self.op("BINARY_SUBSCR")

    # the stack

    def push_null(self) -> None:
        self.op("PUSH_NULL")

    def pop_top(self) -> None:
        self.op("POP_TOP")

    def copy(self, n: int = 1) -> None:
        """Push the n-th item from the top again."""
        self.op("COPY", n)

    def swap(self, n: int = 2) -> None:
        """Exchange the top and the n-th item from the top."""
        self.op("SWAP", n)

    # building and taking apart

    def build_tuple(self, n: int) -> None:
        self.op("BUILD_TUPLE", n)

    def build_list(self, n: int) -> None:
        self.op("BUILD_LIST", n)

    def build_set(self, n: int) -> None:
        self.op("BUILD_SET", n)

    def build_map(self, n: int) -> None:
        """A dict of n pairs (key, value)."""
        self.op("BUILD_MAP", n)

    def build_slice(self, n: int) -> None:
        self.op("BUILD_SLICE", n)

    def list_append(self, n: int = 1) -> None:
        """Pop, and append to the list that is then n-th from the top."""
        self.op("LIST_APPEND", n)

    def unpack_sequence(self, n: int) -> None:
        """Push the n items, the first on top."""
        self.op("UNPACK_SEQUENCE", n)

    # operators

    def binary_op(self, operator: str) -> None:
        """`operator` as in canonical BINARY_OP: "+", "+=", ..."""
        self.op("BINARY_OP", OPERATORS.index(operator))

    def compare_op(self, operator: str) -> None:
        self.op("COMPARE_OP", version.comparison(COMPARISONS.index(operator)))

    def is_op(self, invert: bool = False) -> None:
        self.op("IS_OP", int(invert))

    def contains_op(self, invert: bool = False) -> None:
        self.op("CONTAINS_OP", int(invert))

    def unary_not(self) -> None:
        """not top, for any object."""
        for step in version.TO_BOOL:
            self.op(step)
        self.op("UNARY_NOT")

    def to_bool(self) -> None:
        """bool(top), for any object."""
        self.unary_not()
        self.unary_not()

    # calls

    def load_callable(self, load: Callable[[], Any]) -> None:
        """Begin a call: push the callable by calling `load`, and NULL where the running version wants it."""
        if version.NULL_FIRST:
            self.push_null()
            load()
        else:
            load()
            self.push_null()

    def begin_call(self, function: Any) -> None:
        """Begin a call of a constant."""
        self.load_callable(lambda: self.load_const(function))

    def call(self, argc: int) -> None:
        """End a call whose `argc` positional arguments lie above the callable."""
        for name, arg in version.call(argc):
            self.op(name, arg)

    end_call = call

    def end_call_ex(self) -> None:
        """End a call whose positional arguments are the tuple above the callable."""
        self.op("CALL_FUNCTION_EX", 0)

    def call_kw(self, argc: int, names: tuple[str, ...]) -> None:
        """End a call with `argc` arguments, the last of them keywords with these names."""
        for name, arg in version.call_with_names(argc, self._const(names)):
            self.op(name, arg)

    def call_constant_under(self, function: Any, *extra: Any, at: Label | None = None) -> None:
        """Replace the top by `function(top, *extra)`, all constants. `at` is placed at the call."""
        self.load_const(function)
        self.swap(2)  # in the place of self, which needs no NULL on any version
        for value in extra:
            self.load_const(value)
        if at is not None:
            self.place(at)
        self.call(len(extra))

    def call_constant_before(self, function: Any, first: Any) -> None:
        """Replace the top by `function(first, top)`, both constants."""
        self.load_const(function)
        self.swap()
        self.load_const(first)
        self.swap()
        self.call(1)

    def make_function(self, load_code: Callable[[], Any], closure: Sequence[str | int] = ()) -> None:
        """Push a new function with the running frame's globals, of the code that `load_code` pushes; its closure is the cells in
        these slots."""
        for slot in closure:
            self.load_closure(slot)
        if closure:
            self.build_tuple(len(closure))
        load_code()
        for name, arg in version.make_function(bool(closure)):
            self.op(name, arg)

    # going elsewhere

    def jump(self, label: Label) -> None:
        self.op("JUMP_FORWARD", label)

    def jump_if_true(self, label: Label) -> None:
        """Pop any object; jump, forward, if it is true."""
        self._jump_if("TRUE", label)

    def jump_if_false(self, label: Label) -> None:
        """Pop any object; jump, forward, if it is false."""
        self._jump_if("FALSE", label)

    def _jump_if(self, truth: str, label: Label) -> None:
        for step in version.TO_BOOL:
            self.op(step)
        self.op(version.POP_JUMP_IF + truth, label)

    def return_value(self) -> None:
        self.op("RETURN_VALUE")

    def raise_value(self) -> None:
        """Raise the exception on top."""
        self.op("RAISE_VARARGS", 1)

    # the end

    def finish(
        self,
        *,
        name: str | None = None,
        qualname: str | None = None,
        filename: str | None = None,
        firstlineno: int | None = None,
        flags: int | None = None,
        slots_are_arguments: bool = False,
    ) -> Finished:
        """The code object: everything that is not given is as in the Emitter's `code`.

        Its parameters are all positional: the argument slots in order, or, if `slots_are_arguments`, all slots but the free
        ones, then the hidden arguments. `*args` and `**kwargs` are parameters like others.
        """
        code = self.code
        order, varnames, cellvars, arguments = self._layout(slots_are_arguments)
        final = {slot: index for index, slot in enumerate(order)}
        units = [_placed(unit, final) for unit in self._units]
        kept = code.co_flags if flags is None else flags
        signature = Signature(
            name=code.co_name if name is None else name,
            qualname=code.co_qualname if qualname is None else qualname,
            filename=code.co_filename if filename is None else filename,
            firstlineno=code.co_firstlineno if firstlineno is None else firstlineno,
            flags=kept & ~(CO_VARARGS | CO_VARKEYWORDS),
            argcount=arguments,
            posonlyargcount=0,
            kwonlyargcount=0,
            varnames=varnames,
            cellvars=cellvars,
            freevars=code.co_freevars,
        )
        consts = list(self._consts)
        finished, offsets = assemble(units, self._regions, signature, consts, self._names, self._deepest + 1, self._offset_consts)
        return Finished(finished, lambda label: offsets[label.unit])  # type: ignore[index]

    def _layout(self, all_arguments: bool) -> tuple[list[int], tuple[str, ...], tuple[str, ...], int]:
        # The order that CPython gives slots: those with a name among the varnames, other cells, free variables.
        slots = self.slots
        count = len(slots)
        named = len(self.code.co_varnames)
        cells = [index for index, slot in enumerate(slots) if slot.kind == "cell"]
        frees = [index for index, slot in enumerate(slots) if slot.kind == "free"]
        hidden = list(range(count, count + len(self._hidden)))
        scratch = list(range(count + len(hidden), count + len(hidden) + len(self._scratch)))
        if all_arguments:
            arguments = [index for index, slot in enumerate(slots) if slot.kind != "free"] + hidden
            variables, rest = arguments + scratch, []
        else:
            arguments = list(range(argument_count(self.code))) + hidden
            variables = arguments + list(range(argument_count(self.code), named)) + scratch
            rest = [index for index in cells if index >= named]
        names = {**{index: slot.name for index, slot in enumerate(slots)}, **dict(zip(hidden + scratch, self._hidden + self._scratch))}
        varnames = tuple(names[index] for index in variables)
        return variables + rest + frees, varnames, tuple(names[index] for index in cells), len(arguments)


def _makes_cells(code: CodeType) -> bool:
    program = decode(code)
    return any(instruction.op == "MAKE_CELL" for instruction in program.instructions[: program.start])


def _takes_argument(name: str) -> bool:
    return opcode.opmap[name] in _WITH_ARGUMENT


_WITH_ARGUMENT = frozenset(dis.hasarg if hasattr(dis, "hasarg") else range(opcode.HAVE_ARGUMENT, 256))
_RAW_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})


def _placed(unit: Unit, final: dict[int, int]) -> Unit:
    if unit.op in _SLOT_OPS:
        return unit._replace(arg=final[unit.arg])  # type: ignore[index]
    return unit
