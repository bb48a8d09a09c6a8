#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a client notice of others that try to fill the server?

One server with keys draws for one client, first alone, then beside attackers of which
half have a key. Each attacker repeats the request that costs the server most for what
it costs the attacker. The report shows the client's latencies, those of GET /health, the
control process's memory at its highest and after the attack, what it keeps then, and the
series of /metrics.
Exit status 0: nothing was refused to the client, each of its images is the one that it
got alone, and the server still answers. The attackers have the lowest priority for the
processors, because they would run on other machines. With --honest, three keys that mean
no harm take the attackers' place: one keeps an hour of work queued, one fetches results
all the time, and one sends masked edits. With --share N the client's key has N parts of the
devices where each other key has one. The program needs only
Python's standard library.

usage: attackers.py ATELIER [--honest] [--share N] [--seconds S] [--seed N]
                    [--only NAME]... [--model NAME] [--test-card] [--set KEY=VALUE]...
                    [--report FILE] [--quick-build]
"""
import argparse
import base64
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import signal
import tempfile
import threading
import time

from attacks import ATTACKS, HONEST, KEYS, MODEL, call, write_keys
from http_load import Server
from measured_program import read_arguments


def attack(what, url, key, seed, seconds, tries):
    """Runs in a process of its own until its time is over. It ends with an error if
    an honest key is refused."""
    os.nice(19)
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            what(url, key, chance)
        except (OSError, http.client.HTTPException):
            # A refusal may close the connection.
            time.sleep(0.05)
        with tries.get_lock():
            tries.value += 1


def at(part, values):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


class Client:
    """Draws one image after another, and asks for /health beside that."""

    def __init__(self, url):
        self.url = url
        self.images = {}

    def draw(self, seconds):
        """Returns latencies of images and of /health, and what went wrong."""
        images, healths, faults = [], [], []
        over = threading.Event()

        def ask():
            while not over.wait(0.1):
                began = time.monotonic()
                status, _ = call(self.url, None, "GET", "/health")
                healths.append(time.monotonic() - began)
                if status != 200:
                    faults.append(("/health", status))

        asking = threading.Thread(target=ask)
        asking.start()
        end = time.monotonic() + seconds
        number = 0
        while time.monotonic() < end:
            seed, number = number % 8, number + 1
            began = time.monotonic()
            status, got = call(
                self.url, "honest", "POST", "/v1/images/generations",
                {"prompt": "a red circle above a blue square", "seed": seed,
                 "deterministic": True, **MODEL})
            images.append(time.monotonic() - began)
            if status != 200:
                faults.append(("image", status, got[:200].decode()))
                continue
            file = base64.b64decode(json.loads(got)["data"][0]["b64_json"])
            if self.images.setdefault(seed, file) != file:
                faults.append(("image", "other bytes", seed))
        over.set()
        asking.join()
        return {"images": images, "healths": healths, "faults": faults}


def anon_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("RssAnon"):
                return int(line.split()[1])
    return 0


def open_jobs(url, key):
    """Yields the names of the key's own open jobs, newest first, from all pages."""
    page = "/v1/jobs?limit=1000&own=true"
    after = ""
    while True:
        status, got = call(url, key, "GET", page + after)
        if status != 200:
            # The server has forgotten the last job of the page before (404), or has no
            # room for the reply yet.
            after = "" if status == 404 else after
            time.sleep(0.2)
            continue
        told = json.loads(got)
        for x in told["data"]:
            if x["status"] in ("queued", "running"):
                yield x["id"]
        if not told.get("has_more"):
            return
        after = f"&after={told['data'][-1]['id']}"


def cancel_all(url):
    """Ends the work that the keys left open, and waits until none runs."""
    while True:
        names = [(key, x) for key in KEYS for x in open_jobs(url, key)]
        for key, x in names:
            call(url, key, "POST", f"/v1/jobs/{x}/cancel")
        _, told = call(url, "operator", "GET", "/health")
        told = json.loads(told)
        if not names and not told["waiting"] and not told["running"]:
            return
        time.sleep(0.2)


def run(given, server):
    pid, url = server.process.pid, server.url
    MODEL.update({} if given.test_card else {"model": given.model})
    client = Client(url)
    client.draw(3)
    alone = client.draw(given.seconds / 3)
    before = anon_kib(pid)
    highest = [before]
    tries = {}
    attackers = []
    for i, (what, key) in enumerate(HONEST if given.honest else ATTACKS):
        if given.only and what.__name__ not in given.only:
            continue
        tries[what.__name__] = multiprocessing.Value("i", 0)
        attackers.append(multiprocessing.Process(
            name=what.__name__, target=attack,
            args=(what, url, key, given.seed + i, given.seconds,
                  tries[what.__name__])))
    over = threading.Event()

    def watch():
        while not over.wait(0.25):
            highest.append(anon_kib(pid))

    watching = threading.Thread(target=watch)
    watching.start()
    for x in attackers:
        x.start()
    beside = client.draw(given.seconds)
    for x in attackers:
        x.join(30)
        if x.exitcode or x.is_alive():
            beside["faults"].append(("a key beside it", x.name, x.exitcode))
        x.kill()
        x.join()
    over.set()
    watching.join()
    began = time.monotonic()
    cancel_all(url)
    cancelling = time.monotonic() - began
    afterwards = client.draw(5)
    time.sleep(5)
    _, got = call(url, "operator", "GET", "/metrics")
    series = sum(not x.startswith(b"#") for x in got.splitlines() if x)
    _, kept = call(url, "operator", "GET", "/v1/admin/caches")

    def told(x):
        return {"images": len(x["images"]),
                **{f"p{q}_ms": round(1000 * at(q / 100, x["images"]), 1)
                   for q in (50, 95, 99)},
                "health_p99_ms": round(1000 * at(0.99, x["healths"]), 1),
                "health_worst_ms": round(1000 * max(x["healths"]), 1),
                "faults": x["faults"][:20]}

    return {"seconds": given.seconds, "share": given.share,
            "cancelling_s": round(cancelling, 1),
            "attempts": {x: n.value for x, n in tries.items()},
            "alone": told(alone), "beside": told(beside),
            "afterwards": told(afterwards),
            "beside_over_alone": {
                f"p{q}": round(at(q / 100, beside["images"])
                               / at(q / 100, alone["images"]), 2)
                for q in (50, 99)},
            "control_mib": {"before": round(before / 1024, 1),
                            "highest": round(max(highest) / 1024, 1),
                            "afterwards": round(anon_kib(pid) / 1024, 1)},
            "series": series, "kept": json.loads(kept)}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("--honest", action="store_true",
                       help="three keys with much to do in place of attackers")
    words.add_argument("--share", type=int, default=1,
                       help="the client's share in the file of keys, 1..1000 (default: 1)")
    words.add_argument("--seconds", type=float, default=600)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", action="append", default=[])
    words.add_argument("--model", default="turbo",
                       help="what the client draws with (default: turbo)")
    words.add_argument("--test-card", action="store_true",
                       help="in place of the shipped models")
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--report")
    given = read_arguments(words)
    if not 1 <= given.share <= 1000:
        words.error(f"--share: {given.share} outside 1..1000")
    known = {x.__name__ for x, _ in (HONEST if given.honest else ATTACKS)}
    if set(given.only) - known:
        words.error(f"--only: {set(given.only) - known} are none of {known}")
    with tempfile.TemporaryDirectory() as folder:
        more = ["--set", f"http.keys={write_keys(folder, given.share)}"]
        more += [x for text in given.set for x in ("--set", text)]
        server = Server(given.atelier, *more,
                        models="" if given.test_card else None)
        try:
            report = run(given, server)
            server.process.send_signal(signal.SIGTERM)
            report["exit_status"] = server.process.wait(60)
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
            server.data.cleanup()
    print(json.dumps(report, indent=1))
    if given.report:
        pathlib.Path(given.report).write_text(json.dumps(report, indent=1),
                                              encoding="utf-8")
    fine = (not report["alone"]["faults"] and not report["beside"]["faults"]
            and not report["afterwards"]["faults"]
            and report["exit_status"] == 0)
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
