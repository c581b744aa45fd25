"""Patterns on known texts, and the matches that they give."""

from __future__ import annotations

import copy
import re

import pytest

from tests.rules.running import breaks, whole

PATTERN = re.compile(r"layer(?P<number>\d+)(x)?")


@pytest.fixture(autouse=True)
def _library_knows_the_patterns():
    """The first use of a text as a pattern compiles it, and that is a break."""
    for pattern in (r"\d+", "l", r"\d", "[a-z]", "q", "(?i)LAYER", "a"):
        re.compile(pattern)


def text():
    return "layer12"


def test_a_match_is_asked_for_all_that_it_tells():
    def told(s):
        m = PATTERN.match(s)
        if not m:
            return None
        parts = [m.group(1), m["number"], m.groups("-"), m.groupdict(), m.span(), m.start("number"), m.end(), m.group(0, 1)]
        return parts, m.re is PATTERN, m.string, m.lastindex, m.lastgroup, m.regs, m.pos, m.endpos, repr(m), m.expand(r"<\1>")

    whole(told, text)
    whole(told, lambda: "other")


def test_texts_are_searched_split_and_replaced():
    def used(s):
        replaced = re.sub(r"\d+", "#", s), re.subn("l", "L", s, count=1), PATTERN.sub(r"<\1>", string=s)
        return replaced, re.split(r"\d", s), re.findall("[a-z]", s), re.fullmatch("q", s), PATTERN.search(s, 1), re.search("(?i)LAYER", s).span()

    whole(used, text)


def test_a_match_that_leaves_is_made_again():
    def kept(s):
        m = PATTERN.search(s, endpos=6)
        pair = [m, m]
        return pair, pair[0] is pair[1], m is PATTERN.match(s), copy.copy(m) is m, copy.deepcopy(m) is m

    whole(kept, text)
    found = whole(lambda s: PATTERN.match(s), text).of(lambda s: PATTERN.match(s))("layer7")
    assert type(found) is re.Match and found.span() == (0, 6) and found.re is PATTERN


def test_matches_of_the_program_are_asked():
    def asked(m):
        return m.group(1), m.re is PATTERN, m.string, m.end()

    whole(asked, lambda: PATTERN.match("layer3"))
    compiler = whole(asked, lambda: PATTERN.match("layer3"))
    run = compiler.of(asked)
    assert [run(PATTERN.match(s))[0] for s in ("layer3", "layer4", "layer3")] == ["3", "4", "3"]


def test_errors_of_groups_are_the_programs():
    def wrong(s):
        try:
            PATTERN.match(s).group("nope")
        except IndexError as error:
            return str(error)

    whole(wrong, text)


def test_what_calls_back_or_is_wrong_is_left_to_running_code():
    breaks("FL102", lambda s: re.sub("a", lambda m: "b", s), lambda: "aa")
    breaks("FL102", lambda s: PATTERN.match(3), text)

    def template(s):
        try:
            re.sub("a", r"\q", s)
        except re.error as error:
            return error.msg, error.pos

    breaks("FL102", template, lambda: "aa")
