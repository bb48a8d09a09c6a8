# SPDX-License-Identifier: Apache-2.0
"""Looks at a server of the built program while one client asks for much: what others
get of its processors.

Usage: crowded_test.py --program ATELIER --report FILE [--only PART]
"""
import os
import pathlib
import sys
import zlib

import bombs
from bomb_doors import img2img_mask
from process_test import expect, main
from serve_test import server


def threads_of(pid):
    """Returns the clock ticks that each thread of a process has used, and its nice
    value, by number."""
    out = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            # The thread has ended in the meantime.
            continue
        out[int(task.name)] = int(fields[11]) + int(fields[12]), int(fields[16])
    return out


def case_only_the_thread_for_pixels_yields_to_replies(program):
    large = bombs.png(4096, 2048, data=zlib.compress(
        bytes(bombs.raw_bytes(4096, 2048, 8, 2))))
    with server(program, "--processes", "split", "--set",
                "limits.decode_ms=60000") as (process, told):
        own = os.getpriority(os.PRIO_PROCESS, process.pid)
        before = threads_of(process.pid)

        def worked():
            """Returns how much more each thread has worked, most first."""
            now = threads_of(process.pid)
            return sorted(((ticks - before.get(x, (0, 0))[0], nice)
                           for x, (ticks, nice) in now.items()), reverse=True)

        # A tick is ten milliseconds: the thread for pixels has used far more than others.
        while worked()[0][0] < 20:
            status, got = img2img_mask(told["url"], large)
            expect(status == 200, status, got[:500])
        most, *others = worked()
        # A higher value than 10 stays as the server was started with it.
        expect(most[1] == max(own, 10), most, others)
        expect(all(nice == own for _, nice in others), most, others)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_crowded", all_cases()))
