"""Opcodes that break: one row each."""

from frameloom.interpreter.registry import refuse_opcode

refuse_opcode(
    "FL002",
    "an asynchronous operation",
    "GET_AWAITABLE",
    "GET_AITER",
    "GET_ANEXT",
    "END_ASYNC_FOR",
    "BEFORE_ASYNC_WITH",
)
refuse_opcode(
    "FL001",
    "names of a namespace that is not a function's",
    "LOAD_NAME",
    "STORE_NAME",
    "DELETE_NAME",
    "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_DEREF",
    "LOAD_FROM_DICT_OR_GLOBALS",
    "LOAD_LOCALS",
    "SETUP_ANNOTATIONS",
)
