# SPDX-License-Identifier: Apache-2.0
"""What soak.py observes of a server while it runs, and the deaths that it causes."""
import json
import os
import random
import re
import signal
import threading
import time

from soak_cases import call

LINE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$', re.M)


def metrics(server):
    """Returns all lines of /metrics as {(name, labels): value}."""
    return {(name, labels): float(value) for name, labels, value
            in LINE.findall(server.ask("/metrics").decode())}


def alive(server, field="alive"):
    """Returns the pids of the engine's processes and of the server by their names."""
    # The status is 503 while an indispensable process is missing.
    _, text = call(server.url, "GET", "/health")
    found = {x["role"]: x["pid"] for x in json.loads(text)["processes"]
             if x[field]}
    return dict(found, server=server.process.pid)


def restarts(server):
    """Returns how often the engine's processes were started again."""
    _, text = call(server.url, "GET", "/health")
    return sum(x["restarts"] for x in json.loads(text)["processes"])


def look_at(pid):
    """Returns its private memory in KiB, its descriptors and its threads; None if it
    ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            lines = dict(x.split(":", 1) for x in file if ":" in x)
        return {"anon_kib": int(lines["RssAnon"].split()[0]),
                "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                "threads": int(lines["Threads"])}
    except (OSError, KeyError):
        return None


def until_idle(server, roles, patience=120):
    """Waits until all processes run, no request is open and no client is connected.
    Returns the resources held then."""
    end = time.monotonic() + patience
    while True:
        now = metrics(server)
        parts = alive(server)
        if (set(parts) >= set(roles)
                and now[("atelier_requests_running", "")] == 0
                and now[("atelier_requests_waiting", "")] == 0
                and now[("atelier_jobs_open", "")] == 0
                # This call itself has a connection.
                and now[("atelier_http_connections", "")] <= 1):
            break
        assert time.monotonic() < end, ("never idle", parts, now)
        time.sleep(0.1)
    # The engine's counts are up to half a second old. A short-lived file appears only
    # in some of the samples. No call is made between them: the server closes a call's
    # connection a moment after its client did.
    time.sleep(1)
    slots, there = metrics(server)[("atelier_arena_slots_used", "")], alive(server)
    time.sleep(1)
    parts = {}
    for _ in range(30):
        for role, pid in there.items():
            seen = look_at(pid)
            assert seen is not None, f"{role} ended while nothing was asked of it"
            parts[role] = {x: min(seen[x], parts.get(role, seen)[x])
                           for x in seen}
        time.sleep(0.1)
    return {"slots": slots, "parts": parts}


class Watch:
    """Samples memory, and each recovery as soon as it is counted."""

    def __init__(self, server, period, young):
        self.server = server
        self.period = period
        # A process that became ready more recently than this is not sampled: it still
        # loads.
        self.young = young
        self.samples = {}
        self.recoveries = {"step": [], "picture": []}
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        begin = time.monotonic()
        due = begin
        seen = {}
        born = {}
        while not self.ending.wait(0.2):
            now = metrics(self.server)
            for until, all_of_them in self.recoveries.items():
                label = f'until="{until}"'
                count, total = (now[(f"atelier_recovery_seconds_{x}", label)]
                                for x in ("count", "sum"))
                count_before, sum_before = seen.get(until, (count, total))
                seen[until] = count, total
                more = int(count - count_before)
                # If two happened between two samples, only their mean is known.
                all_of_them += [(total - sum_before) / max(more, 1)] * more
            if time.monotonic() < due:
                continue
            due += self.period
            for role, pid in alive(self.server, "ready").items():
                first = born.setdefault(pid, time.monotonic())
                old = time.monotonic() - first >= self.young
                if (old or role == "server") and (x := look_at(pid)):
                    self.samples.setdefault(role, []).append(
                        (time.monotonic() - begin, x["anon_kib"]))

    def start(self):
        self.thread.start()

    def end(self):
        self.ending.set()
        self.thread.join()


class Killer:
    """Kills random processes of the engine, one after the other. Every fourth time it
    stops the server for up to LONGEST_STOP_S instead, which must end no process."""

    LONGEST_STOP_S = 5

    def __init__(self, server, every, seed):
        self.server = server
        self.every = every
        self.chance = random.Random(f"{seed} kills")
        self.kills = {}
        self.stops = 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def stop_the_server(self):
        os.kill(self.server.process.pid, signal.SIGSTOP)
        time.sleep(self.chance.uniform(0, self.LONGEST_STOP_S))
        os.kill(self.server.process.pid, signal.SIGCONT)
        self.stops += 1

    def run(self):
        turn = 0
        while not self.ending.wait(self.every):
            turn += 1
            if turn % 4 == 0:
                self.stop_the_server()
                continue
            parts = alive(self.server)
            del parts["server"]
            # If the drawn process is already dead, no other one is killed in its place.
            known = sorted(set(parts) | set(self.kills))
            role = self.chance.choice(known)
            pid = parts.get(role)
            if pid:
                os.kill(pid, signal.SIGKILL)
                self.kills[role] = self.kills.get(role, 0) + 1

    def start(self):
        self.thread.start()

    def end(self):
        self.ending.set()
        self.thread.join()
