#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a server lose that is interrupted at random under load?

A server that draws test cards is stopped and continued, alone or with its workers, its
workers are killed, and published states are overwritten before a device is killed.
Clients of every API call meanwhile. Each image is compared with that of the undisturbed
server, and a pause must end no process. Exit status 0: no call was lost, every image
was equal, no worker died of a pause, and no slot stayed in use. The program needs only
Python's standard library.

With --model the server has two copies of that model instead, and files of one are
removed, emptied, cut or replaced as well, then put back. Its requests must be refused
with the reason or drawn right, and the other's drawn as ever.

usage: interruptions.py ATELIER [--count N] [--longest S] [--clients N] [--seed N]
                        [--model FOLDER] [--log FILE]
"""
import argparse
import contextlib
import mmap
import os
import pathlib
import random
import signal
import struct
import sys
import tempfile
import time

from http_load import Server
from lost_models import LostFiles, two_models
from soak_cases import Load
from soak_watch import alive, metrics, until_idle

from polling import polled

PATIENCE_S = 120


class Arena:
    """The state slots of a running engine, as one of its workers has them mapped."""

    HEADER = struct.Struct("<QIIQQ3QQ3II")

    def __init__(self, pid):
        file = next(x for x in pathlib.Path(f"/proc/{pid}/fd").iterdir()
                    if os.readlink(x).startswith("/memfd:atelier"))
        with open(file, "r+b") as opened:
            self.bytes = mmap.mmap(opened.fileno(), 0)
        (_, _, _, _, _, *sizes, ring, states, pixels, encoded,
         processes) = self.HEADER.unpack_from(self.bytes)
        self.slots, self.size = states, sizes[0]
        # The header, two rings for each process but the first, the words of the slots.
        at = 128 + 2 * (processes - 1) * (320 + ring)
        self.words = at
        self.buffers = at + 64 * (states + pixels + encoded)

    def published(self):
        """Returns the state slots that hold a publication."""
        return [n for n in range(self.slots) if self.word(n) != 0]

    def word(self, slot):
        return struct.unpack_from("<Q", self.bytes, self.words + 64 * slot + 8)[0]

    def change_word(self, slot, to):
        struct.pack_into("<Q", self.bytes, self.words + 64 * slot + 8, to)

    def change_byte(self, slot, at):
        for buffer in (0, 1):
            place = self.buffers + (2 * slot + buffer) * self.size + at
            self.bytes[place] ^= 0x5A


class Interruptions:
    """What happens to the server, one thing after another."""

    def __init__(self, server, seed, longest_s, models=None):
        """`models`: the folder of the models `well` and `frail`, if there is one."""
        self.server = server
        self.longest_s = longest_s
        self.faults = []
        self.killed = set()
        self.roles = set(self.workers())
        self.chance = random.Random(f"{seed} interruptions")
        self.files = models and LostFiles(server, models, self.chance)

    def workers(self):
        found = alive(self.server)
        del found["server"]
        return found

    def all_ready(self):
        # The server's word is up to half a second old.
        there = alive(self.server, "ready")
        return (set(there) >= self.roles
                and not self.killed & set(there.values()))

    def end(self, pid):
        self.killed.add(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def lost(self):
        return metrics(self.server)[("atelier_workers_lost_total", "")]

    def pause(self, pids):
        """Stops these processes for a time and expects that no worker dies of it."""
        polled(self.all_ready, "the workers are not ready", PATIENCE_S)
        before, lost = self.workers(), self.lost()
        length = self.chance.uniform(1, self.longest_s)
        for pid in pids(before):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(length)
        order = pids(before)
        self.chance.shuffle(order)
        for pid in order:
            os.kill(pid, signal.SIGCONT)
        # A supervisor that took the pause for silence kills within one look.
        time.sleep(1)
        if self.workers() != before or self.lost() != lost:
            self.faults.append(f"a pause of {length:.1f} s ended a worker: "
                               f"{before} -> {self.workers()}")

    def stop_the_server(self):
        self.pause(lambda _: [self.server.process.pid])

    def stop_all(self):
        self.pause(lambda there: [self.server.process.pid, *there.values()])

    def kill_one(self):
        parts = self.workers()
        if parts:
            self.end(parts[self.chance.choice(sorted(parts))])

    def change_states(self):
        """Overwrites published states of a device, and kills it."""
        devices = {x: pid for x, pid in self.workers().items() if x != "cpu"}
        if not devices:
            return
        pid = devices[self.chance.choice(sorted(devices))]
        try:
            os.kill(pid, signal.SIGSTOP)
            arena = Arena(pid)
        except (OSError, StopIteration):
            # It had ended, or had not yet mapped the arena.
            self.end(pid)
            return
        for slot in arena.published():
            if self.chance.random() < 0.5:
                arena.change_byte(slot, self.chance.randrange(4096))
            else:
                arena.change_word(slot, self.chance.choice(
                    (1, 3, 2 * self.chance.randrange(1, 200),
                     0x7FFFFFFFFF, (1 << 64) - 1)))
        self.end(pid)

    def lose_a_file(self):
        """Takes a file of one model, often with a death of a worker."""
        self.files.lose(self.kill_one)
        self.faults += self.files.faults
        self.files.faults.clear()

    def run(self, rounds):
        kinds = [self.stop_the_server, self.stop_all, self.kill_one,
                 self.change_states]
        if self.files:
            kinds.append(self.lose_a_file)
        seen = dict.fromkeys((x.__name__ for x in kinds), 0)
        for n in range(rounds):
            kind = (kinds[n] if n < len(kinds) else self.chance.choice(kinds))
            kind()
            seen[kind.__name__] += 1
            time.sleep(self.chance.uniform(0, 1))
        return seen


def interrupted(given, server, models=None):
    """Runs the whole test; returns what happened, and the faults."""
    load = Load(server.url, models is None, given.clients, given.seed)
    roles = alive(server)
    load.draw_all()
    storm = Interruptions(server, given.seed, given.longest, models)
    until_idle(server, roles)
    load.start()
    seen = storm.run(given.count)
    load.end()
    after = until_idle(server, roles)
    load.draw_all()
    faults = storm.faults + load.faults
    if after["slots"] != 0:
        faults.append(f"{after['slots']:g} slots are in use at rest")
    if not load.counts["answered"]:
        faults.append("no call was answered")
    if storm.files:
        seen |= storm.files.counts | storm.files.answers
        print(f"slowest refusal: {storm.files.worst_refusal_s:.2f} s")
    return seen, load.counts, faults


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("--count", type=int, default=300)
    words.add_argument("--longest", type=float, default=60,
                       help="seconds of the longest pause")
    words.add_argument("--clients", type=int, default=4)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--model", help="the folder of a model, which is copied")
    words.add_argument("--log", default=os.devnull,
                       help="where the server's log goes")
    given = words.parse_args()
    cards = ",".join(f"{{name='cpu:{n}',executor='test_card',"
                     f"test_card_step_ms=10,max_batch=4,seats=6}}"
                     for n in range(2))
    with open(given.log, "wb") as log, tempfile.TemporaryDirectory() as folder:
        if given.model:
            drawing = two_models(folder, given.model)
        else:
            drawing = ["--set", f"devices=[{cards}]"]
        server = Server(given.atelier, "--processes", "split", *drawing,
                        "--set", "processes.restart_first_ms=10",
                        "--set", "processes.restart_most_ms=200", stderr=log)
        try:
            seen, counts, faults = interrupted(
                given, server, pathlib.Path(folder) if given.model else None)
        finally:
            server.process.send_signal(signal.SIGCONT)
            server.end()
    print(", ".join(f"{n} {what}" for what, n in (seen | counts).items()))
    for fault in faults:
        print("fault:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
