# SPDX-License-Identifier: Apache-2.0
"""Waits for an effect of another process that causes no event here."""
import time


def polled(look, what, patience_s, pause_s=0.02):
    """Returns the first true result of `look`.

    Raises AssertionError with `what` (or its result, if it is a function) if no result
    is true within the patience.
    """
    until = time.monotonic() + patience_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < until, what() if callable(what) else what
        time.sleep(pause_s)
