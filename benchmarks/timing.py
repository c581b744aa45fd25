"""Interleaved timing: what is compared runs in turns, and the ratio of each turn is taken before the median."""
from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

TURN = 0.02  # seconds that one turn of one contestant should take


def seconds_for(call: Callable[[], object], times: int) -> float:
    """How long `times` calls take."""
    turns = range(times)
    start = time.perf_counter()
    for _ in turns:
        call()
    return time.perf_counter() - start


def calls_a_turn(call: Callable[[], object]) -> int:
    """How many calls fill a turn, found by doubling."""
    call()
    times = 1
    while (taken := seconds_for(call, times)) < TURN / 4:
        times *= 2
    return max(1, round(times * TURN / taken))


def interleaved(calls: Mapping[str, Callable[[], object]], turns: int = 15) -> dict[str, list[float]]:
    """Seconds a call of each of `calls`, one figure a turn."""
    times = {name: calls_a_turn(call) for name, call in calls.items()}
    found: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for _ in range(turns):
            for name, call in calls.items():
                found[name].append(seconds_for(call, times[name]) / times[name])
    finally:
        gc.enable()
    return found


def median_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """The median of the ratios of turns."""
    return statistics.median(above / below for above, below in zip(over, under))
