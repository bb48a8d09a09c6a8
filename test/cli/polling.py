# SPDX-License-Identifier: Apache-2.0
"""Waiting for something that another process brings about, without an event to
wait for."""
import time


def polled(look, what, patience_s, pause_s=0.02):
    """Return the first true result of `look`.

    Raise AssertionError with `what` (or what it returns, if it is a function)
    if there is none within the patience.
    """
    until = time.monotonic() + patience_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < until, what() if callable(what) else what
        time.sleep(pause_s)
