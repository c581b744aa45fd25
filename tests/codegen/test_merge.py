"""Which writes are left out: only those whose absence nobody can observe."""
from __future__ import annotations

from typing import Any

from frameloom.codegen.merge import merged
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.graph import Operation
from frameloom.symbolic.session import Session
from frameloom.symbolic.values import Const, Obj


class Box:
    pass


class Scene:
    """Two real objects, and the write log of a trace."""

    def __init__(self) -> None:
        self.session = Session(Domain())
        names = ("first", "second")
        boxes = [Box(), Box()]
        self.first, self.second = (
            self.session.observe.wrap(box, self.session.sources.local(name)) for name, box in zip(names, boxes)
        )
        self.log: list[Operation] = []

    def write(self, kind: str, target: Any, *arguments: Any) -> None:
        self.log.append(Operation(kind, target, arguments, None))

    def left(self) -> list[tuple]:
        """Kind and arguments of what is left, constants as their values."""
        return [
            (op.kind, *(a.value if type(a) is Const else a for a in op.arguments)) for op in merged(self.log, self.session.guards)
        ]


def test_the_last_of_several_writes_takes_the_place_of_the_first() -> None:
    scene = Scene()
    scene.write("attribute.set", scene.first, "a", Const(1))
    scene.write("attribute.set", scene.first, "b", Const(2))
    scene.write("attribute.set", scene.second, "a", Const(3))
    scene.write("attribute.set", scene.first, "a", Const(4))
    assert scene.left() == [("attribute.set", "a", 4), ("attribute.set", "b", 2), ("attribute.set", "a", 3)]


def test_an_effect_in_between_sees_the_first_write() -> None:
    scene = Scene()
    scene.write("attribute.set", scene.first, "a", Const(1))
    scene.write("call", None, Const(print), [Const("x")], ())
    scene.write("attribute.set", scene.first, "a", Const(2))
    assert [kind for kind, *_ in scene.left()] == ["attribute.set", "call", "attribute.set"]


def test_a_deletion_in_between_counts() -> None:
    scene = Scene()
    scene.write("attribute.set", scene.first, "a", Const(1))
    scene.write("attribute.delete", scene.first, "a")
    scene.write("attribute.set", scene.first, "a", Const(2))
    assert len(scene.left()) == 3


def test_an_object_in_between_may_have_a_finaliser() -> None:
    scene = Scene()
    scene.write("attribute.set", scene.first, "a", Obj(Box))
    scene.write("attribute.set", scene.first, "a", Const(2))
    assert len(scene.left()) == 2


def test_an_object_that_stays_alive_does_not_count() -> None:
    scene = Scene()
    made = Obj(Box)
    scene.write("list.replace", scene.first, [made, Const(1)])
    scene.write("list.replace", scene.first, [Const(1), made])
    assert len(scene.left()) == 1


def test_appends_are_never_merged() -> None:
    scene = Scene()
    for _ in range(2):
        scene.write("list.append", scene.first, Const(1))
    assert len(scene.left()) == 2


def guarded(scene: Scene, value: Any) -> None:
    scene.session.guard("EQUAL", scene.first.real.source.child("attribute", "a"), value)


def test_what_is_there_already_is_not_written() -> None:
    scene = Scene()
    guarded(scene, 1)
    scene.write("attribute.set", scene.first, "a", Const(2))
    scene.write("attribute.set", scene.first, "a", Const(1))
    assert scene.left() == []


def test_what_only_compares_equal_is_written() -> None:
    scene = Scene()
    guarded(scene, 1)
    scene.write("attribute.set", scene.first, "a", Const(True))
    assert scene.left() == [("attribute.set", "a", True)]


def test_what_was_deleted_meanwhile_is_written() -> None:
    scene = Scene()
    guarded(scene, 1)
    scene.write("attribute.delete", scene.first, "a")
    scene.write("attribute.set", scene.first, "a", Const(1))
    assert len(scene.left()) == 2


def test_the_last_of_writes_that_stay_apart_is_written() -> None:
    scene = Scene()
    guarded(scene, 1)
    scene.write("attribute.set", scene.first, "a", Obj(Box))
    scene.write("attribute.set", scene.first, "a", Const(1))
    assert len(scene.left()) == 2


def test_a_long_log_is_merged_in_time_that_grows_with_its_length() -> None:
    scene = Scene()
    for number in range(30_000):
        scene.write("attribute.set", scene.first, f"a{number}", Const(number))
        scene.write("attribute.set", scene.second, f"a{number}", Const(number))
    assert len(scene.left()) == 60_000
