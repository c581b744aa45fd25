"""Storage parts, one file per kind of C storage.  `layout_of(cls)` finds the part an instance of `cls` really has."""

from __future__ import annotations

from frameloom.symbolic.layouts.base import LAYOUTS, REPLAYS, Layout, held_by, held_by_attributes, layout_of
from frameloom.symbolic.layouts import (  # noqa: F401  each module registers its layouts
    attributes,
    cell,
    comparison_key,
    deque_,
    descriptor,
    dict_,
    effect,
    exception,
    function,
    generator,
    getter,
    iterator,
    itertools_,
    list_,
    match,
    method,
    namespace,
    partial,
    payload,
    proxy,
    reference,
    set_,
    slice_,
    super_,
    tuple_,
)

__all__ = ["LAYOUTS", "REPLAYS", "Layout", "held_by", "held_by_attributes", "layout_of"]
