"""repr() of containers inside one another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rules.running import breaks, whole


def nested(make: Callable, count: int) -> object:
    made = make([])
    for _ in range(count):
        made = make([made])
    return made


MAKERS = {"list": list, "tuple": tuple, "dict": lambda items: dict(enumerate(items))}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_deep_ones_are_left_to_running_code(make: Callable) -> None:
    whole(lambda: repr(nested(make, 20)))
    breaks("FL006", lambda: repr(nested(make, 120)))
    assert eval(repr(nested(make, 20))) == nested(make, 20)
