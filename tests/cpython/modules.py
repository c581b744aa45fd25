"""The test modules of the running Python that are run under capture."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CONTROL = (
    "test_scope", "test_generators", "test_genexps", "test_listcomps", "test_setcomps", "test_dictcomps", "test_with",
    "test_contextlib", "test_exceptions", "test_exception_group", "test_except_star", "test_exception_variations", "test_raise",
    "test_baseexception", "test_grammar", "test_unpack", "test_unpack_ex", "test_extcall", "test_keywordonlyarg",
    "test_positional_only_arg", "test_yield_from", "test_coroutines", "test_asyncgen", "test_context", "test_traceback",
    "test_sys_settrace", "test_global", "test_decorators", "test_named_expressions", "test_patma",
)
"""Control flow, calls and names."""

OBJECTS = (
    "test_funcattrs", "test_descr", "test_property", "test_super", "test_class", "test_abc", "test_metaclass", "test_subclassinit",
    "test_dataclasses", "test_enum", "test_typing", "test_inspect", "test_copy", "test_weakref", "test_threading_local",
)
"""Classes and what looks at them."""

VALUES = (
    "test_collections", "test_ordered_dict", "test_defaultdict", "test_userdict", "test_userlist", "test_deque", "test_list",
    "test_tuple", "test_dict", "test_set", "test_range", "test_slice", "test_iter", "test_itertools", "test_functools",
    "test_operator", "test_augassign", "test_binop", "test_compare", "test_richcmp", "test_bool", "test_int", "test_float",
    "test_complex", "test_fstring", "test_string", "test_format", "test_random", "test_heapq", "test_bisect", "test_builtin",
)
"""Containers, numbers, text, and the functions that work on them."""

MODULES = (*CONTROL, *OBJECTS, *VALUES)

NO_BOUND = frozenset({"test_coroutines", "test_asyncgen", "test_sys_settrace"})
"""Modules about frames that are never captured: their share is told, and has no bound."""

WAYS = ("replay", "1", "2", "3", "5", "7")
"""How tests are run: each frame by its entry; the same with traces that stop before their n-th instruction."""

HELD = (
    *(module for module in CONTROL if module not in ("test_traceback", "test_sys_settrace")),
    "test_funcattrs", "test_defaultdict", "test_userlist", "test_tuple", "test_range", "test_slice", "test_augassign", "test_binop",
    "test_compare", "test_richcmp", "test_bool", "test_copy", "test_dict", "test_threading_local", "test_property", "test_super",
    "test_class", "test_abc", "test_metaclass", "test_subclassinit", "test_userdict", "test_list", "test_iter", "test_operator", "test_int",
    "test_float", "test_complex", "test_fstring", "test_string", "test_bisect",
)
"""Modules whose tests are all known to end as they should in replay, but for `KNOWN`: every push runs a quarter of them."""

HELD_LONG = (
    "test_sys_settrace", "test_descr", "test_dataclasses", "test_enum", "test_collections", "test_deque", "test_set",
    "test_functools", "test_format", "test_random", "test_heapq", "test_builtin", "test_ordered_dict", "test_itertools", "test_weakref",
    "test_inspect", "test_typing",
)
"""More of them, which take so long that only `make test-all` runs them."""

HELD_IN_ALL_WAYS = (
    "test_scope", "test_grammar", "test_with", "test_listcomps", "test_extcall", "test_global", "test_dictcomps", "test_setcomps",
    "test_decorators", "test_augassign", "test_bool",
)
"""Modules that end so too where traces stop before every n-th instruction."""

FRAME = "a frame in a traceback whose handler has run is not the frame that goes on: its variables and its line are those of the break"
TRACED = "a caller whose frame a callee gives a tracer goes on in another frame behind the call, which has none"
SHARED = "code that is made shares the constants of the user's, whose reference counts grow"

TIMED = "measures the time that a conversion takes: a capture is in it"

SETTRACE_CASES = ("TraceTestCase", "SkipLineEventsTraceTestCase", "TraceOpcodesTestCase", "TestLinesAfterTraceStarted", "TestSetLocalTrace")
"""Those who inherit the tests of tracers; the last two are there from 3.12 on."""

KNOWN: dict[str, str] = {
    "test.test_exceptions.PEP626Tests.test_lineno_after_other_except": FRAME,
    "test.test_exceptions.PEP626Tests.test_lineno_in_try": FRAME,
    **{
        f"test.test_sys_settrace.{case}.{test}": TRACED
        for case in SETTRACE_CASES
        for test in ("test_08_settrace_and_return", "test_09_settrace_and_raise")
    },
    "test.test_coroutines.CoroutineTest.test_for_2": SHARED,
    **{
        f"test.test_int.{case}.test_denial_of_service_prevented_{way}": TIMED
        for case in ("IntStrDigitLimitsTests", "IntSubclassStrDigitLimitsTests")
        for way in ("int_to_str", "str_to_int")
    },
}
"""Tests that end differently, and why: the table counts them as different."""

QUARTERS = 4


def quarter(number: int, modules: tuple[str, ...] = MODULES) -> tuple[str, ...]:
    """Every fourth module, from the `number`-th on."""
    return modules[number % QUARTERS :: QUARTERS]


def quarter_of_commit() -> int:
    """The number of the quarter that belongs to the checked-out commit, by its hash; `QUARTER=n` in the environment overrides it."""
    asked = os.environ.get("QUARTER")
    if asked is not None:
        return int(asked) % QUARTERS
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return int(told.stdout.strip() or "0", 16) % QUARTERS
