"""Rows that turn original instructions into canonical ones, and those that are the same on every version."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import Any

Expansion = tuple[tuple[str, Any], ...]

#: Original instructions to emit: opcode name and argument.
Steps = tuple[tuple[str, int | None], ...]

#: BINARY_OP's operators by number.
OPERATORS = tuple("+ & // << @ * % | ** >> - / ^ += &= //= <<= @= *= %= |= **= >>= -= /= ^=".split())

#: COMPARE_OP's operators by number.
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")

#: For each of them the outcomes that make it true: 1 unordered, 2 less, 4 greater, 8 equal.
COMPARISON_MASKS = (2, 10, 8, 7, 4, 12)

#: Conversions of formatted values by number.
CONVERSIONS = (None, "str", "repr", "ascii")


class View:
    """What a row may read: constants and names of the code object, and the raws of the group at hand."""

    __slots__ = ("consts", "names", "raws")

    def __init__(self, consts: tuple[Any, ...], names: tuple[str, ...]) -> None:
        self.consts = consts
        self.names = names
        self.raws: list[tuple[int, int]] = []


Row = Callable[[View, int, int], Expansion]


def fixed(*expansion: tuple[str, Any]) -> Row:
    """The same instructions whatever the argument."""
    return lambda view, arg, after: expansion


def plain(op: str) -> Row:
    """One instruction without argument."""
    return fixed((intern(op), None))


def count(op: str) -> Row:
    """One instruction with the same number as argument: a count, a depth, flags or a slot."""
    op = intern(op)
    return lambda view, arg, after: ((op, arg),)


def flag(op: str) -> Row:
    """One instruction whose argument is a bool."""
    op = intern(op)
    return lambda view, arg, after: ((op, bool(arg)),)


def const(op: str) -> Row:
    """One instruction whose argument is a constant."""
    op = intern(op)
    return lambda view, arg, after: ((op, view.consts[arg]),)


def name(op: str) -> Row:
    """One instruction whose argument is a name."""
    op = intern(op)
    return lambda view, arg, after: ((op, view.names[arg]),)


def choice(op: str, choices: tuple[Any, ...]) -> Row:
    """One instruction whose argument is picked from a tuple."""
    op = intern(op)
    return lambda view, arg, after: ((op, choices[arg]),)


def forward(op: str) -> Row:
    """A jump forward; the argument becomes the code unit of the target."""
    op = intern(op)
    return lambda view, arg, after: ((op, after + arg),)


def backward(op: str) -> Row:
    """A jump backward; the argument becomes the code unit of the target."""
    op = intern(op)
    return lambda view, arg, after: ((op, after - arg),)


def tested(row: Row) -> Row:
    """A row whose instruction takes any object as condition: the canonical one wants a bool."""
    return lambda view, arg, after: (("TO_BOOL", None), *row(view, arg, after))


def unpack_ex(view: View, arg: int, after: int) -> Expansion:
    return (("UNPACK_EX", (arg & 0xFF, arg >> 8)),)


def returned_const(view: View, arg: int, after: int) -> Expansion:
    return (("LOAD_CONST", view.consts[arg]), ("RETURN_VALUE", None))


def call_with_keywords(keywords_opcode: int) -> Row:
    """CALL, where `keywords_opcode`, if it begins the group, names the trailing arguments."""

    def row(view: View, arg: int, after: int) -> Expansion:
        opcode, index = view.raws[0]
        return (("CALL", (arg, view.consts[index] if opcode == keywords_opcode else ())),)

    return row


def super_attr(null_first: bool) -> Row:
    def row(view: View, arg: int, after: int) -> Expansion:
        return (("LOAD_SUPER_ATTR", (view.names[arg >> 2], bool(arg & 1), bool(arg & 2), null_first)),)

    return row


def load_global(null_first: bool) -> Row:
    """LOAD_GLOBAL; its lowest bit asks for a NULL below or above. The look-up comes first, since only it can fail."""
    null: Expansion = (("PUSH_NULL", None), ("SWAP", 2)) if null_first else (("PUSH_NULL", None),)

    def row(view: View, arg: int, after: int) -> Expansion:
        load = ("LOAD_GLOBAL", view.names[arg >> 1])
        return (load, *null) if arg & 1 else (load,)

    return row


def attribute_or_method(null_first: bool) -> Row:
    """LOAD_ATTR of 3.12 and later: the lowest bit says that a call follows."""

    def row(view: View, arg: int, after: int) -> Expansion:
        attribute = view.names[arg >> 1]
        return (("LOAD_METHOD", (attribute, null_first)),) if arg & 1 else (("LOAD_ATTR", attribute),)

    return row


def _table(make: Callable[[str], Row], names: str) -> dict[str, Row]:
    return {op: make(op) for op in names.split()}


SHARED: dict[str, Row] = {
    **_table(
        plain,
        """NOP POP_TOP PUSH_NULL LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR SETUP_ANNOTATIONS
        BINARY_SUBSCR STORE_SUBSCR DELETE_SUBSCR UNARY_NEGATIVE UNARY_INVERT
        GET_ITER GET_LEN MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS RETURN_VALUE PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH
        CHECK_EG_MATCH BEFORE_WITH WITH_EXCEPT_START RETURN_GENERATOR YIELD_VALUE GET_YIELD_FROM_ITER
        GET_AITER GET_ANEXT END_ASYNC_FOR BEFORE_ASYNC_WITH""",
    ),
    **_table(
        count,
        """COPY SWAP LOAD_FAST STORE_FAST DELETE_FAST LOAD_DEREF STORE_DEREF DELETE_DEREF MAKE_CELL COPY_FREE_VARS
        BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_STRING BUILD_MAP BUILD_CONST_KEY_MAP BUILD_SLICE LIST_APPEND SET_ADD MAP_ADD
        LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE MATCH_CLASS RAISE_VARARGS RERAISE GET_AWAITABLE""",
    ),
    **_table(flag, "IS_OP CONTAINS_OP"),
    **_table(const, "LOAD_CONST"),
    **_table(
        name,
        """LOAD_NAME STORE_NAME DELETE_NAME STORE_GLOBAL DELETE_GLOBAL IMPORT_NAME IMPORT_FROM STORE_ATTR DELETE_ATTR""",
    ),
    "BINARY_OP": choice("BINARY_OP", OPERATORS),
    "UNPACK_EX": unpack_ex,
    "CALL_FUNCTION_EX": lambda view, arg, after: (("CALL_FUNCTION_EX", bool(arg & 1)),),
    "FOR_ITER": forward("FOR_ITER"),
    "SEND": forward("SEND"),
    "JUMP_FORWARD": forward("JUMP"),
    "JUMP_BACKWARD": backward("JUMP"),
    "JUMP_BACKWARD_NO_INTERRUPT": backward("JUMP"),
}
