"""Exception groups and `except*` (PEP 654)."""

from __future__ import annotations

import pytest

from tests.rules.running import compared, whole


class Own(ExceptionGroup):
    """Stays of its class when it is split."""

    def derive(self, exceptions):
        return Own(self.message, exceptions)


class Marked(ExceptionGroup):
    def __new__(cls, message, exceptions, mark):
        made = super().__new__(cls, message, exceptions)
        made.mark = mark
        return made

    def derive(self, exceptions):
        return Marked(self.message, exceptions, self.mark)


class Careless(ExceptionGroup):
    def derive(self, exceptions):
        return exceptions


class Problem(BaseException):
    pass


def shape(error):
    """All that is told of an exception but the traceback."""
    if error is None:
        return None
    links = type(error.__cause__).__name__, type(error.__context__).__name__, error.__suppress_context__
    inside = [shape(each) for each in getattr(error, "exceptions", ())]
    return type(error).__name__, str(error), links, getattr(error, "__notes__", None), inside


def nested():
    return ExceptionGroup("outer", [ValueError(1), TypeError(2), ExceptionGroup("inner", [KeyError(3), ValueError(4)])])


def construction():
    given = [ValueError(1), KeyError(2)]
    made = BaseExceptionGroup("both", given), ExceptionGroup("one", (given[0],)), BaseExceptionGroup("base", [Problem()])
    given.append(TypeError(3))
    kinds = [type(each) for each in made]
    same = made[0].exceptions is made[0].exceptions, made[0].exceptions[0] is given[0], made[0].args[1] is given
    return made, kinds, same, [str(each) for each in made], [repr(each) for each in made], made[0].message


def refused():
    said = []
    for cls in (ExceptionGroup, BaseExceptionGroup, Own):
        for given in ([], [1], [ValueError(), "x"], [Problem()]):
            try:
                made = cls("m", given)
            except (TypeError, ValueError) as error:
                said.append((type(error), str(error)))
            else:
                said.append(type(made))
    return said


def split():
    group = nested()
    group.__context__ = LookupError()
    group.add_note("noted")
    parts = group.split(ValueError) + group.split((KeyError, TypeError)) + group.split(lambda error: "1" in str(error))
    everything = group.split(ExceptionGroup), group.split(Exception), group.split(())
    same = everything[0][0] is group, everything[1][0] is group, everything[2][1] is group
    kept = parts[0].__notes__ is group.__notes__, parts[0].exceptions[0] is group.exceptions[0], parts[0].__context__
    return [shape(part) for part in parts], same, kept, parts


def subgroup():
    group = nested()
    return shape(group.subgroup(KeyError)), group.subgroup(LookupError), group.subgroup(lambda error: True) is group


def derived():
    one, other = Own("own", [ValueError(1), KeyError(2)]).split(KeyError)
    marked = Marked("marked", [ValueError(1), KeyError(2)], 7).subgroup(KeyError)
    plain = nested().derive([LookupError(5)])
    return one, type(one), type(other), type(marked), marked.mark, shape(plain), plain


def derived_wrong():
    try:
        Careless("c", [ValueError(), KeyError()]).split(KeyError)
    except TypeError as error:
        return str(error)


def asked_wrong():
    said = []
    for wanted in (3, int, (ValueError, 3), None, "text"):
        try:
            nested().split(wanted)
        except TypeError as error:
            said.append(str(error))
    return said


def notes_are_copied():
    found = []
    for notes in ((1, 2), "ab", 3):
        group = nested()
        group.__notes__ = notes
        found.append(getattr(group.subgroup(KeyError), "__notes__", "none"))
    return found


def handled(error):
    seen = []
    try:
        raise error()
    except* ValueError as group:
        seen.append(("value", shape(group)))
    except* (TypeError, KeyError) as group:
        seen.append(("type or key", shape(group)))
    except* Exception:
        seen.append("other")
    else:
        seen.append("nothing")
    finally:
        seen.append("at last")
    return seen


def naked():
    return ValueError(1)


def own():
    return Own("own", [ValueError(1), KeyError(2), LookupError(3)])


def rest_goes_on():
    try:
        try:
            raise nested()
        except* ValueError as group:
            pass
    except ExceptionGroup as error:
        return shape(error)


def raised_again():
    try:
        try:
            raise nested()
        except* ValueError:
            raise
    except ExceptionGroup as error:
        return shape(error)


def raised_anew():
    try:
        try:
            raise nested()
        except* ValueError as group:
            raise group
    except ExceptionGroup as error:
        return shape(error)


def others_raised():
    try:
        try:
            raise nested()
        except* ValueError:
            raise LookupError("new")
        except* KeyError:
            raise
        except* TypeError as group:
            raise RuntimeError from group
    except ExceptionGroup as error:
        return shape(error)


def all_handled_one_raised():
    try:
        try:
            raise ExceptionGroup("g", [ValueError()])
        except* ValueError:
            raise KeyError(1)
    except KeyError as error:
        return shape(error)


def naked_raised_again():
    try:
        try:
            raise ValueError(1)
        except* ValueError:
            raise
    except ExceptionGroup as error:
        return shape(error)


def naked_goes_by():
    try:
        try:
            raise ValueError(1)
        except* TypeError:
            pass
    except ValueError as error:
        return shape(error)


def classes_refused():
    said = []
    for wanted in (5, ExceptionGroup, (ValueError, BaseExceptionGroup)):
        try:
            try:
                raise nested()
            except* wanted:
                pass
        except TypeError as error:
            said.append((str(error), type(error.__context__)))
    return said


def one_traceback():
    try:
        raise nested()
    except ExceptionGroup as error:
        part = error.subgroup(ValueError)
        return part.__traceback__ is error.__traceback__, part.exceptions[0].__traceback__


WHOLE = (
    construction, refused, split, subgroup, derived, derived_wrong, asked_wrong, notes_are_copied, rest_goes_on, raised_again,
    raised_anew, others_raised, all_handled_one_raised, naked_raised_again, naked_goes_by, classes_refused, one_traceback,
)  # fmt: skip


@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_groups_are_captured(function):
    whole(function)


@pytest.mark.parametrize("error", (naked, nested, own, Problem, ArithmeticError), ids=lambda error: error.__name__)
def test_except_star(error):
    def caught():
        try:
            return handled(error)
        except BaseException as left:
            return shape(left)

    whole(caught)


def escapes():
    """What a clause raises leaves the function: with the traceback of eager."""
    try:
        raise nested()
    except* ValueError:
        raise LookupError("new")


def kept():
    try:
        raise nested()
    except* ValueError as group:
        found = group
    except* Exception:
        pass
    return found


@pytest.mark.parametrize("function", (escapes, kept))
def test_exceptions_that_outlive_the_trace(function):
    compared(function, (), 2, tuple)


GROUP = nested()


def given(group):
    try:
        raise group
    except* ValueError as part:
        seen = shape(part)
    except* Exception as rest:
        seen = seen, shape(rest)
    return seen, shape(group.subgroup(KeyError))


def raised_before(group):
    """A group with a traceback of its own is split after a break."""
    try:
        raise group
    except* ValueError as part:
        found = part, part.__traceback__ is group.__traceback__
    except* TypeError:
        raise KeyError(1)
    except* KeyError:
        raise
    finally:
        found = found, found[0].__traceback__ is None
    return found


def test_a_group_that_exists_already():
    compared(given, (nested,), 2, tuple)
    compared(raised_before, (nested,), 2, tuple)
    whole(lambda: (shape(GROUP.subgroup(ValueError)), GROUP.split(Exception)[0] is GROUP))
