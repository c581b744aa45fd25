"""CPython 3.13."""

from __future__ import annotations

from ..canonical import INTRINSICS_1, INTRINSICS_2
from .rows import COMPARISONS, CONVERSIONS, SHARED, attribute_or_method, choice, count, fixed, forward, load_global, name, plain
from .rows import COMPARISON_MASKS, Expansion, Steps, View, returned_const, super_attr

NULL_FIRST = False
CONTINUES: tuple[str, ...] = ()
PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
LANDINGS = {"FOR_ITER": ("END_FOR", "POP_TOP"), "SEND": ("END_SEND",)}


def _compare(view: View, arg: int, after: int) -> Expansion:
    return (("COMPARE_OP", (COMPARISONS[arg >> 5], bool(arg & 16))),)


def _call(view: View, arg: int, after: int) -> Expansion:
    return (("CALL", (arg, ())),)


def _resume(view: View, arg: int, after: int) -> Expansion:
    return (("RESUME", arg & 3),)  # a further bit says how deep the frame is in handlers


ROWS = {
    **SHARED,
    "BINARY_SLICE": plain("BINARY_SLICE"),
    "STORE_SLICE": plain("STORE_SLICE"),
    "LOAD_FAST_CHECK": count("LOAD_FAST"),
    "LOAD_FAST_AND_CLEAR": count("LOAD_FAST_AND_CLEAR"),
    "LOAD_LOCALS": plain("LOAD_LOCALS"),
    "LOAD_FROM_DICT_OR_DEREF": count("LOAD_FROM_DICT_OR_DEREF"),
    "LOAD_FROM_DICT_OR_GLOBALS": name("LOAD_FROM_DICT_OR_GLOBALS"),
    "LOAD_GLOBAL": load_global(null_first=False),
    "LOAD_ATTR": attribute_or_method(null_first=False),
    "LOAD_SUPER_ATTR": super_attr(null_first=False),
    "CALL": _call,
    "CALL_KW": count("CALL_KW"),
    "MAKE_FUNCTION": fixed(("MAKE_FUNCTION", 0)),
    "SET_FUNCTION_ATTRIBUTE": count("SET_FUNCTION_ATTRIBUTE"),
    "COMPARE_OP": _compare,
    "TO_BOOL": plain("TO_BOOL"),
    "UNARY_NOT": plain("UNARY_NOT"),
    "CALL_INTRINSIC_1": choice("CALL_INTRINSIC_1", ("", *INTRINSICS_1)),
    "CALL_INTRINSIC_2": choice("CALL_INTRINSIC_2", ("", *INTRINSICS_2)),
    "CONVERT_VALUE": choice("CONVERT_VALUE", CONVERSIONS),
    "FORMAT_SIMPLE": fixed(("FORMAT_VALUE", (None, False))),
    "FORMAT_WITH_SPEC": fixed(("FORMAT_VALUE", (None, True))),
    "END_FOR": fixed(("END_FOR", 1)),
    "END_SEND": plain("END_SEND"),
    "CLEANUP_THROW": plain("CLEANUP_THROW"),
    "RESUME": _resume,
    "RETURN_CONST": returned_const,
    "POP_JUMP_IF_TRUE": forward("POP_JUMP_IF_TRUE"),
    "POP_JUMP_IF_FALSE": forward("POP_JUMP_IF_FALSE"),
    "POP_JUMP_IF_NONE": forward("POP_JUMP_IF_NONE"),
    "POP_JUMP_IF_NOT_NONE": forward("POP_JUMP_IF_NOT_NONE"),
}


# For the emitter.

LOAD_CLOSURE = "LOAD_FAST"
LOAD_ATTR_SHIFT = 1
POP_JUMP_IF = "POP_JUMP_IF_"
TO_BOOL = ("TO_BOOL",)
FORWARD_FORMS = {"JUMP_BACKWARD": "JUMP_FORWARD", "JUMP_BACKWARD_NO_INTERRUPT": "JUMP_FORWARD"}


def comparison(index: int) -> int:
    """The argument of COMPARE_OP: its low bits tell specialised code which outcomes are true."""
    return index << 5 | COMPARISON_MASKS[index]


def call(argc: int) -> Steps:
    return (("CALL", argc),)


def call_with_names(argc: int, names: int) -> Steps:
    return (("LOAD_CONST", names), ("CALL_KW", argc))


def make_function(closure: bool) -> Steps:
    return (("MAKE_FUNCTION", None), ("SET_FUNCTION_ATTRIBUTE", 8)) if closure else (("MAKE_FUNCTION", None),)


def plain_lookup(name: str, arg: int) -> Steps:
    """A method look-up as the plain look-up with a NULL beside it; everything else as it is."""
    if name in ("LOAD_ATTR", "LOAD_SUPER_ATTR") and arg & 1:
        return ((name, arg & ~1), ("PUSH_NULL", 0))
    return ((name, arg),)
