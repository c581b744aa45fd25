"""The canonical opcodes, one row each: what an instruction pops, what it pushes, what it means.

The canonical value stack is laid out exactly as CPython's own stack of the running version at the border of every
group, NULLs and the markers of handled exceptions included. Documented in `docs/design/bytecode.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Count = int | Callable[[Any], int]


class Opcode(NamedTuple):
    """A row of OPCODES.

    `arg` says what the argument is. `pops` and `pushes` are numbers or functions of the argument, and hold for going on
    to the next instruction; `jump` has the two numbers for the jump, if the instruction can jump to its argument.
    `ends` means that the next instruction is never reached from this one.
    """

    arg: str
    pops: Count
    pushes: Count
    meaning: str
    jump: tuple[int, int] | None = None
    ends: bool = False

    def effect(self, arg: Any) -> tuple[int, int]:
        """How many items the instruction pops and pushes when it does not jump."""
        pops, pushes = self.pops, self.pushes
        return (pops if type(pops) is int else pops(arg)), (pushes if type(pushes) is int else pushes(arg))


def _argument(arg: int) -> int:
    return arg


def _argument_and_one(arg: int) -> int:
    return arg + 1


def _function_pops(flags: int) -> int:
    return 1 + (flags & 15).bit_count()


OPCODES: dict[str, Opcode] = {
    # the stack
    "NOP": Opcode("", 0, 0, "nothing"),
    "POP_TOP": Opcode("", 1, 0, "drop the top"),
    "PUSH_NULL": Opcode("", 0, 1, "push NULL"),
    "COPY": Opcode("n", _argument, _argument_and_one, "push the n-th item from the top again"),
    "SWAP": Opcode("n", _argument, _argument, "exchange the top and the n-th item from the top"),
    "LOAD_CONST": Opcode("value", 0, 1, "push the constant"),
    # variables
    "LOAD_FAST": Opcode("slot", 0, 1, "push what the slot holds, a cell as itself; UnboundLocalError if it is empty"),
    "LOAD_FAST_AND_CLEAR": Opcode("slot", 0, 1, "push what the slot holds, NULL if it is empty, and empty it"),
    "STORE_FAST": Opcode("slot", 1, 0, "put the top into the slot; NULL empties it"),
    "DELETE_FAST": Opcode("slot", 0, 0, "empty the slot; UnboundLocalError if it is empty"),
    "LOAD_DEREF": Opcode("slot", 0, 1, "push the contents of the cell in the slot; NameError if it is empty"),
    "STORE_DEREF": Opcode("slot", 1, 0, "put the top into the cell in the slot"),
    "DELETE_DEREF": Opcode("slot", 0, 0, "empty the cell in the slot; NameError if it is empty"),
    "MAKE_CELL": Opcode("slot", 0, 0, "put a new cell into the slot, around what the slot held"),
    "COPY_FREE_VARS": Opcode("n", 0, 0, "put the n cells of the closure into the free slots"),
    "LOAD_CLASSDEREF": Opcode("slot", 0, 1, "the name in the class namespace, else the contents of the cell"),
    "LOAD_FROM_DICT_OR_DEREF": Opcode("slot", 1, 1, "the name in the mapping on top, else the contents of the cell"),
    "LOAD_FROM_DICT_OR_GLOBALS": Opcode("name", 1, 1, "the name in the mapping on top, else global, else builtin"),
    "LOAD_LOCALS": Opcode("", 0, 1, "push the local namespace"),
    "LOAD_NAME": Opcode("name", 0, 1, "the name in the local namespace, else global, else builtin"),
    "STORE_NAME": Opcode("name", 1, 0, "bind the name in the local namespace"),
    "DELETE_NAME": Opcode("name", 0, 0, "unbind the name in the local namespace"),
    "LOAD_GLOBAL": Opcode("name", 0, 1, "push the global, else the builtin"),
    "STORE_GLOBAL": Opcode("name", 1, 0, "bind the global"),
    "DELETE_GLOBAL": Opcode("name", 0, 0, "unbind the global"),
    "LOAD_BUILD_CLASS": Opcode("", 0, 1, "push builtins.__build_class__"),
    "LOAD_ASSERTION_ERROR": Opcode("", 0, 1, "push AssertionError"),
    "SETUP_ANNOTATIONS": Opcode("", 0, 0, "make __annotations__ in the local namespace"),
    "IMPORT_NAME": Opcode("name", 2, 1, "(level, fromlist) become the module"),
    "IMPORT_FROM": Opcode("name", 1, 2, "push the attribute of the module on top, which stays"),
    # attributes and items
    "LOAD_ATTR": Opcode("name", 1, 1, "the attribute of the top"),
    "LOAD_METHOD": Opcode(
        "(name, null_first)", 1, 2, "(function, self) for a method, else (NULL, attribute) if null_first, (attribute, NULL) if not"
    ),
    "LOAD_SUPER_ATTR": Opcode(
        "(name, is_method, two_arg, null_first)",
        3,
        lambda arg: 1 + arg[1],
        "(super, class, self) become super().name, as LOAD_METHOD if is_method, else as LOAD_ATTR; two_arg: super(class, self)",
    ),
    "STORE_ATTR": Opcode("name", 2, 0, "(value, owner): owner.name = value"),
    "DELETE_ATTR": Opcode("name", 1, 0, "del owner.name"),
    "BINARY_SUBSCR": Opcode("", 2, 1, "(container, key) become container[key]"),
    "STORE_SUBSCR": Opcode("", 3, 0, "(value, container, key): container[key] = value"),
    "DELETE_SUBSCR": Opcode("", 2, 0, "(container, key): del container[key]"),
    "BINARY_SLICE": Opcode("", 3, 1, "(container, start, stop) become container[start:stop]"),
    "STORE_SLICE": Opcode("", 4, 0, "(value, container, start, stop): container[start:stop] = value"),
    # operators
    "TO_BOOL": Opcode("", 1, 1, "bool(top)"),
    "UNARY_NOT": Opcode("", 1, 1, "not top; the top is a bool"),
    "UNARY_NEGATIVE": Opcode("", 1, 1, "-top"),
    "UNARY_INVERT": Opcode("", 1, 1, "~top"),
    "BINARY_OP": Opcode("operator text", 2, 1, 'the binary or in-place operator, such as "+" or "+="'),
    "COMPARE_OP": Opcode("(operator text, as_bool)", 2, 1, "the rich comparison, then bool() of it if as_bool"),
    "IS_OP": Opcode("invert", 2, 1, "is, or is not"),
    "CONTAINS_OP": Opcode("invert", 2, 1, "(item, container): in, or not in"),
    # building
    "BUILD_TUPLE": Opcode("n", _argument, 1, "tuple of n items"),
    "BUILD_LIST": Opcode("n", _argument, 1, "list of n items"),
    "BUILD_SET": Opcode("n", _argument, 1, "set of n items"),
    "BUILD_STRING": Opcode("n", _argument, 1, "concatenation of n str"),
    "BUILD_MAP": Opcode("n", lambda n: 2 * n, 1, "dict of n pairs (key, value)"),
    "BUILD_CONST_KEY_MAP": Opcode("n", _argument_and_one, 1, "dict of n values, then a tuple of their keys"),
    "BUILD_SLICE": Opcode("n", _argument, 1, "slice of 2 or 3 items"),
    "LIST_APPEND": Opcode("n", 1, 0, "append the top to the list that is then n-th from the top"),
    "SET_ADD": Opcode("n", 1, 0, "add the top to the set that is then n-th from the top"),
    "MAP_ADD": Opcode("n", 2, 0, "(key, value) into the dict that is then n-th from the top"),
    "LIST_EXTEND": Opcode("n", 1, 0, "extend the list that is then n-th from the top by the top"),
    "SET_UPDATE": Opcode("n", 1, 0, "update the set that is then n-th from the top by the top"),
    "DICT_UPDATE": Opcode("n", 1, 0, "update the dict that is then n-th from the top by the top"),
    "DICT_MERGE": Opcode("n", 1, 0, "the same for keywords of a call, whose callable is 2 further down: TypeError for a key met twice"),
    "UNPACK_SEQUENCE": Opcode("n", 1, _argument, "push the n items, the first on top"),
    "UNPACK_EX": Opcode("(before, after)", 1, lambda arg: sum(arg) + 1, "push the first items, a list of the middle, the last ones; the first on top"),
    "FORMAT_VALUE": Opcode(
        "(conversion, with_spec)", lambda arg: 1 + arg[1], 1, 'format(top), or (value, spec); after "str", "repr" or "ascii" of the value unless conversion is None'
    ),
    "CONVERT_VALUE": Opcode("conversion", 1, 1, '"str", "repr" or "ascii" of the top'),
    # calls and functions
    "CALL": Opcode(
        "(argc, keyword names)",
        lambda arg: arg[0] + 2,
        1,
        "(lower, upper, arguments, the last of them keywords): lower NULL calls upper, upper NULL calls lower, else lower(upper, ...)",
    ),
    "CALL_KW": Opcode("argc", lambda argc: argc + 3, 1, "as CALL, with the tuple of keyword names on top"),
    "CALL_FUNCTION_EX": Opcode("has_keywords", lambda arg: 3 + arg, 1, "(lower, upper, iterable, mapping if has_keywords); one of lower, upper is NULL"),
    "CALL_INTRINSIC_1": Opcode("name", 1, 1, "an internal function of one argument"),
    "CALL_INTRINSIC_2": Opcode("name", 2, 1, "an internal function of two arguments"),
    "MAKE_FUNCTION": Opcode("flags", _function_pops, 1, "(defaults if 1, kwdefaults if 2, annotations if 4, closure if 8, code) become a function"),
    "SET_FUNCTION_ATTRIBUTE": Opcode("flag", 2, 1, "(value, function): the flag says which, as in MAKE_FUNCTION"),
    # iteration and matching
    "GET_ITER": Opcode("", 1, 1, "iter(top)"),
    "FOR_ITER": Opcode("target", 1, 2, "push the next item of the iterator on top; pop the iterator and jump when it is exhausted", jump=(1, 0)),
    "END_FOR": Opcode("n", _argument, 0, "drop n items; only specialised code of CPython comes here"),
    "GET_LEN": Opcode("", 1, 2, "push len(top)"),
    "MATCH_MAPPING": Opcode("", 1, 2, "push whether the top is a mapping (PEP 634)"),
    "MATCH_SEQUENCE": Opcode("", 1, 2, "push whether the top is a sequence (PEP 634)"),
    "MATCH_KEYS": Opcode("", 2, 3, "(subject, keys): push the tuple of values, or None"),
    "MATCH_CLASS": Opcode("n", 3, 1, "(subject, class, keyword names) become a tuple of attributes, n of them positional, or None"),
    # jumps
    "JUMP": Opcode("target", 0, 0, "go to the target", jump=(0, 0), ends=True),
    "POP_JUMP_IF_TRUE": Opcode("target", 1, 0, "jump if the top, a bool, is true", jump=(1, 0)),
    "POP_JUMP_IF_FALSE": Opcode("target", 1, 0, "jump if the top, a bool, is false", jump=(1, 0)),
    "POP_JUMP_IF_NONE": Opcode("target", 1, 0, "jump if the top is None", jump=(1, 0)),
    "POP_JUMP_IF_NOT_NONE": Opcode("target", 1, 0, "jump if the top is not None", jump=(1, 0)),
    "JUMP_IF_TRUE_OR_POP": Opcode("target", 1, 0, "jump and keep the top if bool(top), else pop it", jump=(1, 1)),
    "JUMP_IF_FALSE_OR_POP": Opcode("target", 1, 0, "jump and keep the top if not bool(top), else pop it", jump=(1, 1)),
    # leaving, exceptions, with
    "RETURN_VALUE": Opcode("", 1, 0, "return the top", ends=True),
    "RAISE_VARARGS": Opcode("n", _argument, 0, "bare raise, raise top, or (exception, cause)", ends=True),
    "RERAISE": Opcode("n", 1, 0, "raise the top again; if n, as of the offset that is n-th below it", ends=True),
    "PUSH_EXC_INFO": Opcode("", 1, 2, "make the exception on top the handled one; the one handled before goes below it"),
    "POP_EXCEPT": Opcode("", 1, 0, "make the top, pushed by PUSH_EXC_INFO, the handled exception again"),
    "CHECK_EXC_MATCH": Opcode("", 2, 2, "(exception, class) become (exception, whether it matches)"),
    "CHECK_EG_MATCH": Opcode("", 2, 2, "(exception, class) become (rest or None, match or None) (PEP 654)"),
    "BEFORE_WITH": Opcode("", 1, 2, "(manager) becomes (bound __exit__, result of __enter__)"),
    "WITH_EXCEPT_START": Opcode("", 4, 5, "(exit, offset, previous, exception): push exit(type, exception, traceback)"),
    # generators and coroutines
    "RESUME": Opcode("kind", 0, 0, "0: start, 1: after yield, 2: after yield from, 3: after await"),
    "RETURN_GENERATOR": Opcode("", 0, 1, "return a generator made of this frame; when it is started, push None"),
    "YIELD_VALUE": Opcode("", 1, 1, "yield the top, then push what was sent"),
    "GET_YIELD_FROM_ITER": Opcode("", 1, 1, "iter(top), unless it is a generator or, in a coroutine, a coroutine"),
    "SEND": Opcode("target", 2, 2, "(receiver, value): send; replace value by what is yielded, or pop both, push the result and jump", jump=(2, 1)),
    "END_SEND": Opcode("", 2, 1, "(receiver, value) become value"),
    "CLEANUP_THROW": Opcode("", 3, 2, "(receiver, value, exception) become (None, result) for StopIteration, else the exception goes on"),
    "GET_AWAITABLE": Opcode("where", 1, 1, "the awaitable's iterator; 0: await, 1: async with entry, 2: its exit"),
    "GET_AITER": Opcode("", 1, 1, "top.__aiter__()"),
    "GET_ANEXT": Opcode("", 1, 2, "push the awaitable of top.__anext__()"),
    "END_ASYNC_FOR": Opcode("", 2, 0, "(iterator, exception): drop both for StopAsyncIteration, else raise it again"),
    "BEFORE_ASYNC_WITH": Opcode("", 1, 2, "(manager) becomes (bound __aexit__, result of __aenter__)"),
}

#: Arguments of CALL_INTRINSIC_1.
INTRINSICS_1 = (
    "print",
    "import_star",
    "stopiteration_error",
    "async_gen_wrap",
    "unary_positive",
    "list_to_tuple",
    "typevar",
    "paramspec",
    "typevartuple",
    "subscript_generic",
    "typealias",
)

#: Arguments of CALL_INTRINSIC_2.
INTRINSICS_2 = (
    "prep_reraise_star",
    "typevar_with_bound",
    "typevar_with_constraints",
    "set_function_type_params",
    "set_typeparam_default",
)

#: Opcodes whose argument is the canonical index of a jump target.
JUMPS = frozenset(name for name, row in OPCODES.items() if row.jump is not None)

#: Opcodes whose argument is the index of a slot.
SLOT_OPCODES = frozenset(name for name, row in OPCODES.items() if row.arg == "slot")
