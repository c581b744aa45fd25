"""Tensors as keys: found by identity, in containers that exist and in fresh ones."""

from __future__ import annotations

import torch

import frameloom


def test_state_kept_by_parameter_is_found_again() -> None:
    state: dict = {}
    first, second = torch.zeros(2), torch.zeros(2)

    @frameloom.compile(backend="eager")
    def count(tensor):
        own = state.setdefault(tensor, [0])
        own[0] += 1
        return tensor + own[0]

    got = [count(t).tolist() for t in (first, second, first, first, second)]
    assert got == [[1, 1], [1, 1], [2, 2], [3, 3], [2, 2]]
    assert list(state.values()) == [[3], [2]]


def test_membership_follows_the_very_tensor() -> None:
    known = torch.zeros(2)
    kept = {known}

    @frameloom.compile(backend="eager")
    def member(tensor):
        return tensor + (1 if tensor in kept else 2)

    assert [member(t).tolist() for t in (known, torch.zeros(2), known)] == [[1, 1], [2, 2], [1, 1]]


def test_fresh_keys_that_become_one_tensor() -> None:
    @frameloom.compile(backend="eager")
    def distinct(a, b):
        return a + len({a: 1, b: 2})

    one = torch.zeros(1)
    assert [distinct(one, torch.zeros(1)).item(), distinct(one, one).item()] == [2, 1]
