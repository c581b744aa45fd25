"""CPython 3.11."""

from __future__ import annotations

from opcode import opmap

from .rows import COMPARISONS, CONVERSIONS, SHARED, backward, call_with_keywords, choice, count, fixed, forward, load_global, name, plain, tested
from .rows import Expansion, View

NULL_FIRST = True
CONTINUES = ("KW_NAMES", "PRECALL")
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
