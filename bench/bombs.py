#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do files that expand to more than they promise harm other clients?

A server with the model `turbo` draws for a few clients, each of which sends its next
request as soon as it has an answer. In every second period another client sends bombs
(test/cli/bombs.py), one at a time, each through one of the interfaces in
test/cli/bomb_doors.py. The report shows the clients' latencies with and without bombs,
the slowest answer to a bomb, the largest memory that a process used above four bytes
for each promised pixel, and how many suspicions the server logged. It needs only
Python's standard library.

usage: bombs.py ATELIER [--periods N] [--seconds S] [--clients N] [--count N]
                [--seed N] [--model NAME] [--quick-build]
"""
import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "test" / "cli"))

import bombs  # noqa: E402
from bomb_doors import DOORS, MOST_PX, Memory, call  # noqa: E402
from measured_program import read_arguments  # noqa: E402


class Server:
    def __init__(self, program, model):
        self.data = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "serve", "--json", "--listen", "127.0.0.1:0", "--data",
             self.data.name, "--processes", "split", "--set",
             f"devices=[{{name='cpu:0',variants=['{model}']}}]"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.log = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stderr:
            self.log.append(line)

    def processes(self):
        while True:
            health = json.loads(call(self.url, "GET", "/health")[1])
            if health["status"] == "ok":
                break
            time.sleep(0.1)
        return {"control": (self.process.pid, 0),
                **{x["role"]: (x["pid"], x["restarts"])
                   for x in health["processes"]}}

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        self.data.cleanup()


def draw_on(url, seeds, until, out):
    """Runs one client without pauses. Its results are (moment, seconds, status)."""
    while time.monotonic() < until.value:
        began = time.monotonic()
        try:
            status, _ = call(url, "POST", "/v1/images/generations", {
                "prompt": "a red circle above a blue square",
                "seed": seeds.randrange(1 << 32)})
        except OSError as fault:
            status = repr(fault)
        out.put((began, time.monotonic() - began, status))


def send_bombs(url, work, pids, begin, until, out):
    """Sends one bomb after the other. Its results are (name, interface, seconds,
    status, bytes above the promised ones, pid of the process that used them)."""
    for path, name, pixels, door in work:
        now = time.monotonic()
        if now >= until:
            return
        if now < begin:
            time.sleep(begin - now)
        file = pathlib.Path(path).read_bytes()
        memory = Memory(pids)
        began = time.monotonic()
        try:
            status, _ = DOORS[door](url, file)
        except OSError as fault:
            status = repr(fault)
        took = time.monotonic() - began
        rise, pid = memory.rise()
        promised = 4 * (pixels if pixels <= MOST_PX else 0)
        out.put((name, DOORS[door].__name__, took, status, rise - promised, pid))


def drained(from_queue):
    out = []
    while not from_queue.empty():
        out.append(from_queue.get())
    return out


def part(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] \
        if values else float("nan")


def make_work(given, folder):
    """Returns every bomb as a file with every interface, in an order drawn by the
    seed."""
    work = []
    for kind in bombs.FAMILIES:
        for i, (name, file, pixels) in enumerate(
                bombs.bombs(kind, given.count, given.seed)):
            path = pathlib.Path(folder) / f"{kind}-{i}"
            path.write_bytes(file)
            work += [(str(path), f"{kind} {name}", pixels, door)
                     for door in range(len(DOORS))]
    random.Random(given.seed).shuffle(work)
    return work


def main():
    about = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    about.add_argument("program")
    about.add_argument("--periods", type=int, default=4)
    about.add_argument("--seconds", type=float, default=60)
    about.add_argument("--clients", type=int, default=4)
    about.add_argument("--count", type=int, default=200)
    about.add_argument("--seed", type=int, default=1)
    about.add_argument("--model", default="turbo@4")
    given = read_arguments(about, "program")
    with tempfile.TemporaryDirectory() as folder:
        measure(given, make_work(given, folder))


def measure(given, work):
    server = Server(given.program, given.model)
    try:
        url = server.url
        for _ in range(4):
            status, body = call(url, "POST", "/v1/images/generations",
                                {"prompt": "a red circle"})
            assert status == 200, body[:500]
        before = server.processes()
        names = {pid: role for role, (pid, _) in before.items()}
        context = multiprocessing.get_context("fork")
        drawn, sent = context.Queue(), context.Queue()
        all_drawn, all_sent = {False: [], True: []}, []
        for period in range(given.periods):
            armed = period % 2 == 1
            until = context.Value("d", time.monotonic() + given.seconds)
            workers = [context.Process(
                target=draw_on, args=(url, random.Random(f"{period} {i}"), until,
                                      drawn)) for i in range(given.clients)]
            if armed:
                workers.append(context.Process(target=send_bombs, args=(
                    url, work[len(all_sent):], [x[0] for x in before.values()],
                    0, until.value, sent)))
            for x in workers:
                x.start()
            while any(x.is_alive() for x in workers):
                all_drawn[armed] += drained(drawn)
                all_sent += drained(sent)
                time.sleep(0.1)
            for x in workers:
                x.join()
            all_drawn[armed] += drained(drawn)
            all_sent += drained(sent)
        after = server.processes()
    finally:
        server.end()
    tails = {}
    for armed, rows in all_drawn.items():
        took = [1000 * x[1] for x in rows if x[2] == 200]
        others = collections.Counter(x[2] for x in rows if x[2] != 200)
        tails[armed] = part(took, 0.99)
        print(f"{'with' if armed else 'without'} bombs: {len(took)} pictures, "
              f"p50 {part(took, 0.5):.0f} p99 {tails[armed]:.0f} "
              f"worst {max(took, default=0):.0f} ms; other answers {dict(others)}")
    print(f"p99 with over without: {tails[True] / tails[False]:.2f}")
    print(f"bombs: {len(all_sent)} of {len(work)} sent, answers "
          f"{dict(collections.Counter(x[3] for x in all_sent))}")
    for title, at, unit in (("slowest", 2, 1), ("largest", 4, 1 << 20)):
        for x in sorted(all_sent, key=lambda x: -x[at])[:5]:
            print(f"  {title}: {x[at] / unit:.2f} {'s' if unit == 1 else 'MiB'} "
                  f"{x[0]} through {x[1]}, {x[3]}, of {names.get(x[5])}")
    print(f"suspected: {sum('suspected' in x for x in server.log)}; restarts: "
          f"{sum(x[1] for x in after.values())}; processes "
          f"{'the same' if after == before else f'{before} -> {after}'}")


if __name__ == "__main__":
    main()
