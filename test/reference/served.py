# SPDX-License-Identifier: Apache-2.0
"""Runs `atelier serve` for clients of other makers, from PyPI."""
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "cli"))
from polling import polled  # noqa: E402, F401 - for those that import this


def needs(folder, *names):
    """Continues with the interpreter of the virtual environment `folder`, if it is one;
    leaves with status 77 without one of the packages."""
    folder = os.environ.get("ATELIER_TORCH") or folder
    python = os.path.join(folder, "bin", "python")
    if os.path.exists(python) and sys.prefix != os.path.abspath(folder):
        os.execv(python, [python] + sys.argv)
    for name in names:
        if importlib.util.find_spec(name) is None:
            print(f"skipped: {name} is not installed in {folder}")
            sys.exit(77)


class Server:
    """Runs `atelier serve` with the test card, on a free port, until the end of the
    block. Its output goes to standard error. `models` names a folder of models to use
    instead; None means the program's own."""

    def __init__(self, program, *more, models=""):
        self.program = program
        self.more = more
        self.models = models

    def __enter__(self):
        self.data = tempfile.TemporaryDirectory()
        env = dict(os.environ)
        if self.models is not None:
            env["ATELIER_MODELS"] = self.models
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", "127.0.0.1:0", "--json",
             "--data", self.data.name, *self.more],
            stdout=subprocess.PIPE, env=env, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit("atelier serve did not start")
        self.facts = json.loads(line)
        self.url = self.facts["url"]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.data.cleanup()
        assert status == 0, f"atelier serve ended with status {status}"


def run(cases):
    """Runs the functions, prints which fail, and leaves with their number."""
    failed = 0
    for case in cases:
        try:
            case()
            print(f"passed: {case.__name__}")
        except Exception as error:  # clients raise various exceptions
            failed += 1
            print(f"FAILED: {case.__name__}: {type(error).__name__}: {error}")
    sys.exit(failed)
