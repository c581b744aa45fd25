"""Text made of what a capture knows of tensors: shapes, sizes, dtypes."""

from __future__ import annotations

import pytest
import torch

import frameloom

TEXTS = [
    lambda x: f"{x.shape}",
    lambda x: f"{x.shape!r:>30}",
    lambda x: f"{x.shape[1:]} of {x.dim()}",
    lambda x: str(x.size()) + repr(x.shape) + format(x.shape),
    lambda x: "%s, %s" % (x.shape, x.dtype),
    lambda x: "{} {}".format(x.shape, [x.shape, torch.Size([]), torch.Size([True])]),
    lambda x: str({"size": x.shape, "device": x.device}),
]


@pytest.mark.parametrize("text", TEXTS, ids=map(str, range(len(TEXTS))))
def test_text(text) -> None:
    def function(x):
        made = text(x)
        return x * 2, made, len(made)

    frameloom.reset()
    compiled = frameloom.compile(function, backend="eager")
    for rows in (2, 3, 4, 2):
        x = torch.ones(rows, 3)
        found, expected = compiled(x), function(x)
        assert torch.equal(found[0], expected[0]) and found[1:] == expected[1:]
    assert not frameloom.stats().breaks
    assert not frameloom.stats().eager


class Width(int):
    def __repr__(self) -> str:
        return "a width"


def test_numbers_of_a_class_of_the_program() -> None:
    def function(x):
        return x * 2, str(torch.Size([Width(3), 4]))

    frameloom.reset()
    assert frameloom.compile(function, backend="eager")(torch.ones(1))[1] == function(torch.ones(1))[1]
