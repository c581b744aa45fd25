"""CPython 3.12."""

from __future__ import annotations

from opcode import opmap

from ..canonical import INTRINSICS_1, INTRINSICS_2
from .rows import COMPARISONS, CONVERSIONS, SHARED, attribute_or_method, call_with_keywords, choice, count, fixed, forward, load_global, name, plain
from .rows import COMPARISON_MASKS, Expansion, Steps, View, returned_const, super_attr, tested

NULL_FIRST = True
CONTINUES = ("KW_NAMES",)
PAIRS: dict[str, tuple[str, str]] = {}
LANDINGS = {"FOR_ITER": ("END_FOR",), "SEND": ("END_SEND",)}


def _compare(view: View, arg: int, after: int) -> Expansion:
    return (("COMPARE_OP", (COMPARISONS[arg >> 4], False)),)


def _format(view: View, arg: int, after: int) -> Expansion:
    return (("FORMAT_VALUE", (CONVERSIONS[arg & 3], bool(arg & 4))),)


ROWS = {
    **SHARED,
    "BINARY_SLICE": plain("BINARY_SLICE"),
    "STORE_SLICE": plain("STORE_SLICE"),
    "LOAD_CLOSURE": count("LOAD_FAST"),
    "LOAD_FAST_CHECK": count("LOAD_FAST"),
    "LOAD_FAST_AND_CLEAR": count("LOAD_FAST_AND_CLEAR"),
    "LOAD_LOCALS": plain("LOAD_LOCALS"),
    "LOAD_FROM_DICT_OR_DEREF": count("LOAD_FROM_DICT_OR_DEREF"),
    "LOAD_FROM_DICT_OR_GLOBALS": name("LOAD_FROM_DICT_OR_GLOBALS"),
    "LOAD_GLOBAL": load_global(null_first=True),
    "LOAD_ATTR": attribute_or_method(null_first=True),
    "LOAD_SUPER_ATTR": super_attr(null_first=True),
    "CALL": call_with_keywords(opmap["KW_NAMES"]),
    "MAKE_FUNCTION": count("MAKE_FUNCTION"),
    "COMPARE_OP": _compare,
    "UNARY_NOT": tested(plain("UNARY_NOT")),
    "CALL_INTRINSIC_1": choice("CALL_INTRINSIC_1", ("", *INTRINSICS_1)),
    "CALL_INTRINSIC_2": choice("CALL_INTRINSIC_2", ("", *INTRINSICS_2)),
    "FORMAT_VALUE": _format,
    "END_FOR": fixed(("END_FOR", 2)),
    "END_SEND": plain("END_SEND"),
    "CLEANUP_THROW": plain("CLEANUP_THROW"),
    "RESUME": count("RESUME"),
    "RETURN_CONST": returned_const,
    "POP_JUMP_IF_TRUE": tested(forward("POP_JUMP_IF_TRUE")),
    "POP_JUMP_IF_FALSE": tested(forward("POP_JUMP_IF_FALSE")),
    "POP_JUMP_IF_NONE": forward("POP_JUMP_IF_NONE"),
    "POP_JUMP_IF_NOT_NONE": forward("POP_JUMP_IF_NOT_NONE"),
}


# For the emitter.

LOAD_CLOSURE = "LOAD_CLOSURE"
LOAD_ATTR_SHIFT = 1
POP_JUMP_IF = "POP_JUMP_IF_"
TO_BOOL: tuple[str, ...] = ()
FORWARD_FORMS = {"JUMP_BACKWARD": "JUMP_FORWARD", "JUMP_BACKWARD_NO_INTERRUPT": "JUMP_FORWARD"}


def comparison(index: int) -> int:
    """The argument of COMPARE_OP: its low bits tell specialised code which outcomes are true."""
    return index << 4 | COMPARISON_MASKS[index]


def call(argc: int) -> Steps:
    return (("CALL", argc),)


def call_with_names(argc: int, names: int) -> Steps:
    return (("KW_NAMES", names), ("CALL", argc))


def make_function(closure: bool) -> Steps:
    return (("MAKE_FUNCTION", 8 if closure else 0),)


def plain_lookup(name: str, arg: int) -> Steps:
    """A method look-up as the plain look-up with a NULL beside it; everything else as it is."""
    if name in ("LOAD_ATTR", "LOAD_SUPER_ATTR") and arg & 1:
        return ((name, arg & ~1), ("PUSH_NULL", 0), ("SWAP", 2))
    return ((name, arg),)
