"""Strings, bytes and numbers: their methods, their constructors, and the functions that ask for a number or a text."""

from __future__ import annotations

import enum

import pytest

from tests.rules.evaluate import breaks, check


class Shown:
    def __init__(self, text="shown"):
        self.text = text

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<{self.text}>"

    def __format__(self, spec):
        return f"{self.text}|{spec}"


class Numeric:
    def __init__(self, n):
        self.n = n

    def __int__(self):
        return self.n

    def __float__(self):
        return self.n + 0.5

    def __index__(self):
        return self.n

    def __round__(self, digits=0):
        return (self.n, digits)

    def __divmod__(self, other):
        return "divmod", other

    def __rdivmod__(self, other):
        return "rdivmod", other

    def __abs__(self):
        return "abs"

    def __bool__(self):
        return self.n > 0

    def __bytes__(self):
        return b"bytes"

    def __complex__(self):
        return 1j

    def __radd__(self, other):
        return "radd"


class Name(str):
    """A string with a method."""

    def loud(self):
        return self.upper() + "!"


class Count(int):
    """An int with an attribute."""


class Color(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


def strings(s):
    return (s.upper(), s.split(), s.split("l", 1), s.startswith(("he", "x")), s.replace("l", "L"), s.find("o"), s[1], s[-1], s[1:4],
            s[::-1], "l" in s, s * 2, s + "!", s.encode(), s.center(20, "*"), s.partition(" "), s.isidentifier(), list(s), len(s),
            s.title(), s.zfill(20), s.translate({108: "1"}), str.maketrans("a", "b"), s.strip("h"), s.splitlines(), sorted(s),
            s == "hello world", s < "z", hash(s) == hash("hello" + " world"), max(s), s.rsplit(None, 1), s.count("l"), s.join("ab"))


def joined(s):
    return (s.join(["a", "b"]), ",".join(x for x in "abc"), "".join([]), "-".join(("x",)), b",".join([b"a", b"b"]),
            ",".join(map(str, [1, 2])), ",".join({"k": 1}), "".join([Name("n"), "m"]))


def formatted(s):
    x = Shown()
    return (f"{s}{x}{x!r}{x:>4}{1.5:.2f}{s!r:>20}", "{} {}".format(s, x), "{0} {1!r:>9} {0:3}".format(x, s), "{a.text} {b[0]}".format(a=x, b=[1]),
            "{:{w}}".format(5, w=6), "%s %r %d %5.2f %x" % (x, x, 3, 2.5, 255), "%(a)s-%(b)03d" % {"a": x, "b": 7}, "%s" % s, "%%|%s" % [x],
            "{{}}{}".format(x), "{x}".format_map({"x": x}), "%-5s|%5s" % (x, "a"), "%*d" % (5, 42), str(x), repr(x), format(x, "z"), ascii("é"),
            "{!s:>8}".format(x), "%c%c" % (65, "B"), "%s" % (x,), str([x]), "%s" % ((x, 1),))


def text_faults(s):
    found = []
    for fault in (
        lambda: "{}".format(),
        lambda: "{a}".format(),
        lambda: "{} {0}".format(Shown(), 1),
        lambda: "{".format(Shown()),
        lambda: "%s %s" % (Shown(),),
        lambda: "%s" % (Shown(), 1),
        lambda: "%d" % Shown(),
        lambda: "%(a)s" % Shown(),
        lambda: "%q" % (Shown(),),
        lambda: s["x"],
        lambda: s[99],
        lambda: s + 1,
        lambda: 1 + s,
        lambda: s * "x",
        lambda: s.join([1]),
        lambda: s.join(5),
        lambda: 5 in s,
        lambda: int("x"),
        lambda: float([]),
        lambda: int(Shown()),
        lambda: ord("ab"),
        lambda: ord(5),
        lambda: chr(-1),
        lambda: b"a" + "b",
        lambda: s.index("zz"),
        lambda: s.nothing,
        lambda: s < 5,
        lambda: complex("x"),
        lambda: round("x"),
        lambda: abs("x"),
        lambda: -s,
        lambda: divmod(1, "x"),
        lambda: divmod(1, 0),
        lambda: pow(2, -1, 4),
        lambda: bytes("x"),
        lambda: bytes([300]),
        lambda: int("10", 99),
        lambda: hex(1.5),
        lambda: sum(["a"], ""),
        lambda: sum([1, "a"]),
        lambda: max([]),
        lambda: min(1, "a"),
        lambda: max(1, 2, default=3),
        lambda: len(5),
        lambda: hash([]),
    ):
        try:
            found.append(fault())
        except Exception as error:
            found.append((type(error), error.args))
    return found


def numbers(n):
    return (n + 1, n / 2, n // 2, n % 4, n**2, -n, ~n, n << 2, n & 6, n | 1, n ^ 3, divmod(n, 3), abs(-n), round(2.567, 2), round(n, -1), pow(n, 2, 5),
            bin(n), hex(n), oct(n), chr(n + 60), ord("a"), float(n), int("12"), int("ff", 16), int(3.9), int(b"7"), complex(1, 2), complex("1+2j"),
            bool(n), n.bit_length(), n.to_bytes(2, "big"), int.from_bytes(b"\x01\x02", "little"), (1.5).is_integer(), float.fromhex("0x1p3"),
            (2.5).as_integer_ratio(), n.real, n.imag, (1 + 2j).conjugate(), n.numerator, float("nan"), float("inf"), -0.0, sum([0.1] * 10),
            sum([[1], [2]], []), min(3, 1, 2), max([1, 5], key=lambda x: -x), max((), default=7), min("b", "a"), any([0, 1]), all([]), round(2.5),
            sum(range(5)), sum([True, 2]), 5 .__add__(3), int.__add__(1, 2), (1).__add__("x"), sum((1, 2.5)), 7 .__class__)


def protocols(n):
    x = Numeric(n)
    return (int(x), float(x), complex(x), bool(x), [10, 20, 30, 40, 50, 60, 70, 80][x], range(x), "ab" * x, bytes(x), bin(x), chr(Numeric(65)), round(x),
            round(x, 1), divmod(x, 2), divmod(2, x), abs(x), (1, 2, 3)[Numeric(1)], slice(None, x), [1, 2, 3][: Numeric(2)], [1] + x, (1,) + x, 1 + x,
            operator_index(x), "abc"[Numeric(1)], int("11", Numeric(2)), pow(Count(2), 3))


def operator_index(x):
    import operator

    return operator.index(x)


def subclasses(n):
    s, c = Name("ab"), Count(n)
    c.note = "kept"
    return (s.loud(), s + "c", type(s + "c"), s == "ab", {s: 1}["ab"], len(s), s[0], c + 1, type(c + 1), c, s, c.note, int(c), type(int(c)), str(s), type(str(s)),
            c == n, c < 100, Color.RED == "red", Color.RED.upper(), Level.HIGH + 1, [0, 1, 2, 3][Level.HIGH], f"{s:>5}", f"{c:03d}", "x" in s, list(s), c.real,
            "%s %d" % (s, c), s.startswith("a"), range(c)[1], hash(s) == hash("ab"), Level.HIGH > 2, str(c), repr(s), 5 // Count(2), 2 ** Count(3))


def ranges(n):
    r = range(2, n, 3)
    return (r, len(r), r[1], r[-1], r[::2], 5 in r, 6 in r, r.index(5), r.count(5), list(r), list(reversed(r)), r == range(2, n, 3), r.start, r.stop, r.step,
            bool(range(0)), hash(r) == hash(range(2, n, 3)), [*range(3)], tuple(range(5, 0, -2)), range(3) != range(4), repr(r), "x" in r, sum(r))


def slices(n):
    s = slice(1, n)
    t = slice([1], None, 2)
    return s, s.start, s.stop, s.step, s.indices(5), t, t.start, s == slice(1, n), t == slice([1], None, 2), repr(s), repr(t), [1, 2, 3, 4][s]


def data(b):
    return (b[0], b[1:], b + b"x", b * 2, 97 in b, b"b" in b, b.decode(), b.hex(), list(b), bytes(3), bytes([1, 2]), bytes("é", "utf-8"), bytes(x for x in (1, 2)),
            b.split(b"b"), b == b"abc", bytes(range(3)), b"%s-%d" % (b"x", 3), bytes.fromhex("0102"), len(b), b.find(b"c"), str(b), str(b, "ascii"))


@pytest.mark.parametrize(("program", "argument"), [
    (strings, "hello world"), (joined, "-"), (formatted, "text"), (text_faults, "abc"), (numbers, 7), (protocols, 3), (subclasses, 6), (ranges, 17),
    (slices, 4), (data, b"abc"),
], ids=lambda found: getattr(found, "__name__", ""))
def test_program(program, argument):
    check(program, argument)


def test_text_of_bytes_by_wrong_codec_is_the_error_of_eager():
    check(lambda b: b.decode("ascii"), b"\xff")


def test_wrong_arguments_are_left_to_eager():
    assert "FL101" in breaks(lambda s: repr(s, 1), "x")
    check(lambda s: s.upper(1), "x")
