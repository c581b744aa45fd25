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
