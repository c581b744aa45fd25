"""The report file of an internal error."""
from __future__ import annotations

from frameloom import config
from frameloom.diagnostics.failure import write_report
from frameloom.diagnostics.location import Location


def test_report_has_all_that_is_needed(tmp_path) -> None:
    code = (lambda x: x).__code__
    try:
        raise AssertionError("stack is one too deep")
    except AssertionError as error:
        with config.patch(report_directory=str(tmp_path)):
            path = write_report(error, code, (Location("model.py", 3, qualname="f"),), {"plan": "inputs: x\n"})
    text = open(path, encoding="utf-8").read()
    assert path.startswith(str(tmp_path))
    assert text.startswith("internal error of frameloom: AssertionError: stack is one too deep\n")
    for part in ("test_failure.py", "model.py:3 in f", "traceback\n---------\n", 'raise AssertionError("stack', "plan\n----\ninputs: x"):
        assert part in text
