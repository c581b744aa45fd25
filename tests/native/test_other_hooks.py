"""Other engines set frame hooks too: ours chains, never makes a ring, and goes when it should."""

import importlib.util
import subprocess
import sysconfig
from pathlib import Path

import pytest

from frameloom import native
from frameloom.native import SKIP, Callable, Engine, Entry


@pytest.fixture
def foreign(built):
    """The other engine; when the test is over no hook is in."""
    yield built
    built.nobody()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The extension foreign_hook."""
    source = Path(__file__).with_name("foreign_hook.c")
    target = tmp_path_factory.mktemp("foreign") / f"foreign_hook{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(target)], check=True)
    spec = importlib.util.spec_from_file_location("foreign_hook", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry():
    return "entry"


def captured():
    return "user"


def engine():
    return Engine(lambda function, code, *_: Entry(entry.__code__) if code is captured.__code__ else SKIP)


def below():
    return captured(), native.hook_is_in()


def test_ours_above_theirs(foreign):
    f = Callable(below, engine())
    f()
    foreign.put_in()
    try:
        foreign.count()
        assert f() == ("entry", True)
        assert foreign.count() == 1  # the eager frame went on to theirs; the entry is ours alone
        assert foreign.is_in()
    finally:
        foreign.take_out()
    assert not native.hook_is_in()


def test_theirs_comes_and_goes_inside_a_scope(foreign):
    def user():
        before = captured()
        foreign.put_in()
        during = captured()
        foreign.take_out()
        return before, during, captured(), native.hook_is_in()

    assert Callable(user, engine())() == ("entry", "entry", "entry", True)
    assert not native.hook_is_in() and not foreign.is_in()


def test_theirs_stays_when_our_scope_ends(foreign):
    def user():
        foreign.put_in()
        return captured()

    f = Callable(user, engine())
    assert f() == "entry"
    try:
        assert foreign.is_in()
        assert captured() == "user"
        assert f() == "entry"  # ours is beneath theirs still
        assert foreign.is_in()
    finally:
        foreign.take_out()
    assert captured() == "user"
    assert f() == "entry"
    foreign.take_out()
    assert Callable(below, engine())() == ("entry", True)
    assert not native.hook_is_in()


def test_no_ring_when_each_takes_the_other_for_its_predecessor(foreign):
    def inner():
        foreign.put_in()  # what is set now is ours, which goes on to theirs
        return captured(), [captured() for _ in range(3)]

    f = Callable(inner, engine())
    foreign.put_in()
    try:
        assert f() == ("entry", ["entry"] * 3)
        assert Callable(below, engine())()[0] == "entry"
    finally:
        foreign.take_out()
    Callable(below, engine())()
    assert captured() == "user"
