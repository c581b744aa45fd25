"""The test modules of the running Python that are run under capture."""

from __future__ import annotations

MODULES = ("test_scope", "test_grammar", "test_with", "test_listcomps", "test_extcall")
