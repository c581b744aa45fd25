"""`locals()`, `vars()` and `dir()` of the running frame."""

from __future__ import annotations

import time

from tests.rules.running import breaks, whole


def stop() -> float:
    """A break."""
    return time.time()


def test_names_and_their_order():
    def program(a, b=2, *rest, k=3, **named):
        inner = lambda: (a, c)  # noqa: E731
        first = list(locals().items())[:5]
        c = 4
        del b
        return first, list(locals()), dir(), list(vars()), inner()

    whole(program, lambda: 1)


def test_the_dictionary_of_a_frame():
    def program(a):
        first = locals()
        first["more"], first["a"] = 5, "changed"
        seen = dict(first), a
        b = 2
        again = locals()
        return seen, first is again, sorted(first), sorted(again), again["a"], b

    whole(program, lambda: 1)


def test_comprehensions_and_generators():
    def told(a):
        yield sorted(locals())
        b = a + 1
        yield locals(), b

    def program(a):
        listed = [sorted(locals()) for k in range(2)]
        lazy = list(sorted(locals()) for k in range(1))
        return listed, lazy, sorted(locals()), list(told(a)), {k: sorted(locals()) for k in "ab"}

    whole(program, lambda: 1)


def test_a_callee_and_a_class_body():
    class Settings:
        def __init__(self, a, b=2):
            self.__dict__.update(locals())
            del self.self

    def program(a):
        class Body:
            q = 1
            seen = sorted(name for name in locals() if name[0] != "_")
            same = locals() is vars()

        return vars(Settings(a)), Body.seen, Body.same

    whole(program, lambda: 1)


def test_names_on_both_sides_of_a_break():
    def program(a):
        first = locals()
        first["more"] = 1
        stop()
        again = locals()
        return first is again, sorted(first), sorted(again)

    breaks("FL109", program, lambda: 1)


def test_names_in_a_loop_with_a_break():
    def program(a):
        lengths = []
        for turn in range(3):
            names = locals()
            names[str(turn)] = turn
            lengths.append(len(names))
            stop()
        return lengths, sorted(names)

    breaks("FL109", program, lambda: 1)


def test_a_break_behind_the_last_look_at_names_cuts():
    def program(a):
        names = dict(locals())
        stop()
        return names, a + 1

    breaks("FL109", program, lambda: 1)
