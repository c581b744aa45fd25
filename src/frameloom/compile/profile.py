"""What was found to vary, kept for other processes in the file that `config.profile_path` names.

The file is JSON: which form it has, and for each code object what its captures have found out, by the code's place and a digest of what it does, so
that nothing is taken for a function that has changed.  Whoever writes reads first, and puts a whole new file in the place of the old
one.  A file that is not understood is neither used nor written to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
import tempfile
import types
from collections.abc import Mapping
from typing import Any

from frameloom import config
from frameloom.compile.cache import CodeRecord
from frameloom.compile.trace import Held
from frameloom.symbolic.domain import Domain
from frameloom.symbolic.source import ROOTS, STEPS

FORM = "frameloom profile"
VERSION = 1

logger = logging.getLogger("frameloom")


class NotUnderstood(Exception):
    """What stands in the file is no profile of this form."""


class Profile:
    """One file, as this process last read it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.functions: dict[str, dict] = {}
        self.usable = True
        with self._told("is not used"):
            self.functions = self._read()

    def keep(self, key: str, found: dict) -> None:
        """Add what was found out of one code object, and write the file if that is new."""
        if not self.usable or self._added(key, found) == self.functions.get(key):
            return
        with self._told("is not written"):
            self.functions = self._read()
            self.functions[key] = self._added(key, found)
            self._write()

    def _added(self, key: str, found: dict) -> dict:
        known = self.functions.get(key, {})
        return {kind: [*known.get(kind, []), *[each for each in found[kind] if each not in known.get(kind, [])]] for kind in found}

    def _read(self) -> dict[str, dict]:
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return {}
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotUnderstood(f"it is no JSON ({error})") from None
        return _functions_of(content)

    def _write(self) -> None:
        directory = os.path.dirname(os.path.abspath(self.path))
        handle, path = tempfile.mkstemp(prefix=".frameloom-profile-", dir=directory)
        try:
            with open(handle, "w", encoding="utf-8") as file:
                json.dump({"form": FORM, "version": VERSION, "functions": self.functions}, file, indent=1, sort_keys=True)
            os.replace(path, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise

    @contextlib.contextmanager
    def _told(self, then: str) -> Any:
        """Say once why the file cannot be used, and leave it alone from then on."""
        try:
            yield
        except (OSError, ValueError, NotUnderstood) as error:
            self.usable, self.functions = False, {}
            logger.warning("frameloom: the profile %s %s: %s; sizes and numbers are learnt anew", self.path, then, error)


def _functions_of(content: Any) -> dict[str, dict]:
    """What a file says of code objects.  Raises NotUnderstood."""
    if type(content) is not dict or content.get("form") != FORM:
        raise NotUnderstood("it was not written by frameloom")
    if content.get("version") != VERSION:
        raise NotUnderstood(f"it has version {content.get('version')!r}, and this is {VERSION}")
    functions = content.get("functions")
    if type(functions) is not dict or not all(map(_is_function, functions.values())):
        raise NotUnderstood("its contents are damaged")
    return functions


KINDS = {"decisions", "numbers"}


def _is_function(found: Any) -> bool:
    return type(found) is dict and found.keys() == KINDS and all(type(each) is list and {*map(type, each)} <= {list} for each in found.values())


_profiles: dict[str, Profile] = {}


def current() -> Profile | None:
    """The profile in force, read when it is asked for first."""
    path = config.current().profile_path
    if path is None:
        return None
    if path not in _profiles:
        _profiles[path] = Profile(path)
    return _profiles[path]


def forget() -> None:
    """Read files anew when they are asked for next."""
    _profiles.clear()


def restore(record: CodeRecord, code: types.CodeType, domain: Domain) -> None:
    """Add what the profile in force knows of a code object to its record."""
    profile = current() if domain.varies else None
    found = None if profile is None else profile.functions.get(key_of(code))
    if found is None:
        return
    record.decisions |= frozenset(_restored(found["decisions"], domain.restored))
    record.promoted |= set(_restored(found["numbers"], _path_restored))


def keep(record: CodeRecord, code: types.CodeType, domain: Domain) -> None:
    """Add what the record of a code object knows to the profile in force."""
    profile = current()
    if profile is None:
        return
    decisions = sorted(filter(None, map(domain.kept, record.decisions)))
    numbers = sorted(filter(None, map(_path_kept, record.promoted)), key=repr)
    if decisions or numbers:
        profile.keep(key_of(code), {"decisions": decisions, "numbers": numbers})


def _restored(kept: list, restore: Any) -> list:
    """What can be restored of a list: the rest belongs to objects that are not here."""
    found = []
    for each in kept:
        with contextlib.suppress(ValueError, TypeError):
            found.append(restore(each))
    return found


def key_of(code: types.CodeType) -> str:
    """A code object in words: where it stands, and what it does."""
    names = repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    digest = hashlib.sha256(code.co_code + names.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}:{sys.implementation.cache_tag}:{digest}"


# -- paths ---------------------------------------------------------------------------------------------------------------

PLAIN = frozenset({str, int, bool, type(None)})


def _path_kept(path: tuple) -> list | None:
    """A path as lists, texts and numbers; None for one that leads through what has no name."""
    steps = [[step, _key_kept(key)] for step, key in path]
    return None if any(key is None for _, key in steps) else steps


def _key_kept(key: Any) -> list | None:
    if type(key) in PLAIN:
        return ["is", key]
    held = key.held if type(key) is Held else None
    if type(held) is types.ModuleType and sys.modules.get(held.__name__) is held:
        return ["module", held.__name__]
    return None


def _path_restored(kept: list) -> tuple:
    """The path that was kept so.  Raises ValueError for one that leads nowhere here."""
    root, *steps = kept
    return (_step_restored(root, ROOTS), *[_step_restored(step, STEPS) for step in steps])


def _step_restored(kept: list, among: Mapping[str, Any]) -> tuple:
    step, key = kept
    if type(step) is not str or step not in among:
        raise ValueError(f"no step {step!r}")
    return step, _key_restored(*key)


def _key_restored(kind: Any, key: Any) -> Any:
    if kind == "is" and type(key) in PLAIN:
        return key
    if kind == "module" and type(sys.modules.get(key)) is types.ModuleType:
        return Held(sys.modules[key])
    raise ValueError(f"no key {key!r}")
