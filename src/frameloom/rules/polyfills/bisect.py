"""bisect in plain Python, traced in place of the functions in C."""

from __future__ import annotations

import bisect

from frameloom.interpreter.registry import polyfill


@polyfill(bisect.bisect_left)
def bisect_left(a, x, lo=0, hi=None, *, key=None):
    """The first position at which `x` can be inserted."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    high = len(a) if hi is None else hi
    while lo < high:
        middle = (lo + high) // 2
        item = a[middle]
        if (item if key is None else key(item)) < x:
            lo = middle + 1
        else:
            high = middle
    return lo


@polyfill(bisect.bisect_right)
def bisect_right(a, x, lo=0, hi=None, *, key=None):
    """The last position at which `x` can be inserted."""
    if lo < 0:
        raise ValueError("lo must be non-negative")
    high = len(a) if hi is None else hi
    while lo < high:
        middle = (lo + high) // 2
        item = a[middle]
        if x < (item if key is None else key(item)):
            high = middle
        else:
            lo = middle + 1
    return lo


@polyfill(bisect.insort_left)
def insort_left(a, x, lo=0, hi=None, *, key=None):
    """Insert `x` before what is equal."""
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


@polyfill(bisect.insort_right)
def insort_right(a, x, lo=0, hi=None, *, key=None):
    """Insert `x` behind what is equal."""
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)
