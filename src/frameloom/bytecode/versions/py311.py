"""CPython 3.11."""

from __future__ import annotations

from opcode import opmap

from .rows import COMPARISONS, CONVERSIONS, SHARED, backward, call_with_keywords, choice, count, fixed, forward, load_global, name, plain, tested
from .rows import Expansion, Steps, View

NULL_FIRST = True
CONTINUES = ("KW_NAMES", "PRECALL")
PAIRS: dict[str, tuple[str, str]] = {}
LANDINGS: dict[str, tuple[str, ...]] = {}


def _method(view: View, arg: int, after: int) -> Expansion:
    return (("LOAD_METHOD", (view.names[arg], True)),)


def _format(view: View, arg: int, after: int) -> Expansion:
    return (("FORMAT_VALUE", (CONVERSIONS[arg & 3], bool(arg & 4))),)


ROWS = {
    **SHARED,
    "LOAD_CLOSURE": count("LOAD_FAST"),
    "LOAD_CLASSDEREF": count("LOAD_CLASSDEREF"),
    "LOAD_GLOBAL": load_global(null_first=True),
    "LOAD_ATTR": name("LOAD_ATTR"),
    "LOAD_METHOD": _method,
    "CALL": call_with_keywords(opmap["KW_NAMES"]),
    "MAKE_FUNCTION": count("MAKE_FUNCTION"),
    "COMPARE_OP": choice("COMPARE_OP", tuple((text, False) for text in COMPARISONS)),
    "UNARY_NOT": tested(plain("UNARY_NOT")),
    "UNARY_POSITIVE": fixed(("CALL_INTRINSIC_1", "unary_positive")),
    "LIST_TO_TUPLE": fixed(("CALL_INTRINSIC_1", "list_to_tuple")),
    "ASYNC_GEN_WRAP": fixed(("CALL_INTRINSIC_1", "async_gen_wrap")),
    "PRINT_EXPR": fixed(("CALL_INTRINSIC_1", "print"), ("POP_TOP", None)),
    "IMPORT_STAR": fixed(("CALL_INTRINSIC_1", "import_star"), ("POP_TOP", None)),
    "PREP_RERAISE_STAR": fixed(("CALL_INTRINSIC_2", "prep_reraise_star")),
    "FORMAT_VALUE": _format,
    "RESUME": count("RESUME"),
    "JUMP_IF_TRUE_OR_POP": forward("JUMP_IF_TRUE_OR_POP"),
    "JUMP_IF_FALSE_OR_POP": forward("JUMP_IF_FALSE_OR_POP"),
    "POP_JUMP_FORWARD_IF_TRUE": tested(forward("POP_JUMP_IF_TRUE")),
    "POP_JUMP_FORWARD_IF_FALSE": tested(forward("POP_JUMP_IF_FALSE")),
    "POP_JUMP_FORWARD_IF_NONE": forward("POP_JUMP_IF_NONE"),
    "POP_JUMP_FORWARD_IF_NOT_NONE": forward("POP_JUMP_IF_NOT_NONE"),
    "POP_JUMP_BACKWARD_IF_TRUE": tested(backward("POP_JUMP_IF_TRUE")),
    "POP_JUMP_BACKWARD_IF_FALSE": tested(backward("POP_JUMP_IF_FALSE")),
    "POP_JUMP_BACKWARD_IF_NONE": backward("POP_JUMP_IF_NONE"),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": backward("POP_JUMP_IF_NOT_NONE"),
}


# For the emitter.

LOAD_CLOSURE = "LOAD_CLOSURE"
LOAD_ATTR_SHIFT = 0
POP_JUMP_IF = "POP_JUMP_FORWARD_IF_"
TO_BOOL: tuple[str, ...] = ()
FORWARD_FORMS = {
    "JUMP_BACKWARD": "JUMP_FORWARD",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP_FORWARD",
    "POP_JUMP_BACKWARD_IF_TRUE": "POP_JUMP_FORWARD_IF_TRUE",
    "POP_JUMP_BACKWARD_IF_FALSE": "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_NONE": "POP_JUMP_FORWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE": "POP_JUMP_FORWARD_IF_NOT_NONE",
}


def comparison(index: int) -> int:
    """The argument of COMPARE_OP."""
    return index


def call(argc: int) -> Steps:
    return (("PRECALL", argc), ("CALL", argc))


def call_with_names(argc: int, names: int) -> Steps:
    return (("KW_NAMES", names), ("PRECALL", argc), ("CALL", argc))


def make_function(closure: bool) -> Steps:
    return (("MAKE_FUNCTION", 8 if closure else 0),)


def plain_lookup(name: str, arg: int) -> Steps:
    """A method look-up as the plain look-up with a NULL beside it; everything else as it is."""
    if name == "LOAD_METHOD":
        return (("LOAD_ATTR", arg), ("PUSH_NULL", 0), ("SWAP", 2))
    return ((name, arg),)
