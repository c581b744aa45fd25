"""Handlers of the canonical opcodes, by theme."""

from frameloom.interpreter.opcodes import (  # noqa: F401  each module registers its handlers
    building,
    calling,
    exceptions,
    generators,
    groups,
    jumps,
    matching,
    names,
    operations,
    refused,
    stack,
    variables,
)
from frameloom.interpreter.loop import install_refusals

install_refusals()
