#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a client notice of others that try to fill the server?

One server with keys draws for one client, first alone, then beside attackers of which
half have a key. Each attacker repeats the request that costs the server most for what
it costs the attacker. The report shows the client's latencies, those of GET /health, the
control process's memory at its highest and after the attack, and the series of /metrics.
Exit status 0: nothing was refused to the client, each of its images is the one that it
got alone, and the server still answers. The attackers have the lowest priority for the
processors, because they would run on other machines. The program needs only Python's
standard library.

usage: attackers.py ATELIER [--seconds S] [--seed N] [--only NAME]... [--model NAME]
                    [--test-card] [--set KEY=VALUE]... [--report FILE]
"""
import argparse
import base64
import hashlib
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import signal
import socket
import tempfile
import threading
import time
import urllib.parse

from http_load import Server
from soak_cases import png

KEYS = {"honest": "user", "first": "user", "second": "user", "third": "user",
        "fourth": "user", "fifth": "user", "operator": "admin"}


def secret(name):
    return hashlib.sha256(f"a key of {name}".encode()).hexdigest()


def write_keys(folder):
    path = pathlib.Path(folder) / "keys"
    path.write_text("".join(
        f"{name} {role} {hashlib.sha256(secret(name).encode()).hexdigest()}\n"
        for name, role in KEYS.items()), encoding="ascii")
    path.chmod(0o600)
    return path


def call(url, key, method, path, body=None, patience=120):
    """Returns the status and the bytes of a reply."""
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=patience)
    headers = {"X-API-Key": secret(key)} if key else {}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        c.request(method, path, body, headers)
        reply = c.getresponse()
        return reply.status, reply.read()
    finally:
        c.close()


def connected(url):
    at = urllib.parse.urlsplit(url)
    return socket.create_connection((at.hostname, at.port), timeout=30)


def head_of(url, method, path, *lines):
    host = urllib.parse.urlsplit(url).netloc
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "",
                        ""]).encode()


# Attackers without a key. Each function makes one attempt.

def invented_methods(url, _, chance):
    with connected(url) as s:
        for _ in range(20):
            word = "M" + "".join(chance.choices("ABCDEFGH", k=2000))
            s.sendall(head_of(url, word, "/health"))
            if not s.recv(4096):
                return


def bodies_of_readers(url, _, chance):
    """GETs with a large body that never ends."""
    with connected(url) as s:
        s.sendall(head_of(url, "GET", chance.choice(("/health", "/", "/v1")),
                          "Content-Length: 67108864"))
        for _ in range(64):
            s.sendall(b"x" * 65536)
        s.recv(4096)


def half_heads(url, _, __):
    """Connections that stay in the middle of a request."""
    held = [connected(url) for _ in range(50)]
    for s in held:
        s.sendall(b"GET /health HTTP/1.1\r\nHo")
    time.sleep(2)
    for s in held:
        s.close()


def wrong_keys(url, _, chance):
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=30)
    for _ in range(100):
        c.request("GET", "/v1/models",
                  headers={"X-API-Key": f"{chance.random()}"})
        c.getresponse().read()
    c.close()


def broken_connections(url, _, __):
    for _ in range(100):
        s = connected(url)
        s.sendall(head_of(url, "GET", "/openapi.json"))
        s.close()


# Attackers with a key.

def large_json(url, key, chance):
    """Bodies that take long to parse and are then refused, or echoed."""
    call(url, key, "POST", "/v1/images/generations",
         b'{"prompt":"a","seed":' + b"1" * 30_000_000 + b"}")
    call(url, key, "POST", "/sdapi/v1/txt2img",
         {"prompt": "a", "steps": 1, "width": 64, "height": 64,
          chance.choice(("junk", "script_name")): "x" * 20_000_000})


def pasted_images(url, key, _):
    """A small repaint of a large image, many times."""
    call(url, key, "POST", "/sdapi/v1/img2img",
         {"prompt": "a red circle", "init_images": [LARGE], "mask": MASK,
          "width": 64, "height": 64, "steps": 1, "batch_size": 32,
          "inpaint_full_res": True, "denoising_strength": 1})


def unread_replies(url, key, _):
    """Large replies that nobody reads."""
    status, got = call(url, key, "POST", "/v1/jobs",
                       {"prompt": "a red circle", "n": 16, "steps": 1,
                        "size": "256x256"})
    if status != 202:
        return
    name = json.loads(got)["id"]
    held = []
    for _ in range(40):
        s = connected(url)
        s.sendall(head_of(url, "GET", f"/v1/jobs/{name}",
                          f"X-API-Key: {secret(key)}"))
        held.append(s)
    time.sleep(3)
    for s in held:
        s.close()


def much_queued(url, key, _):
    """An hour of work of the highest priority, kept in the queue."""
    for _ in range(40):
        status, _ = call(url, key, "POST", "/v1/jobs",
                         {"prompt": "a blue square", "n": 64,
                          "priority": "high"})
        if status != 202:
            time.sleep(1)
            return


def cancelled_jobs(url, key, chance):
    for _ in range(50):
        status, got = call(url, key, "POST", "/v1/jobs",
                           {"prompt": "x" * 60_000 + str(chance.random()),
                            "n": 4})
        if status == 202:
            name = json.loads(got)["id"]
            with connected(url) as s:
                s.sendall(head_of(url, "HEAD", f"/v1/jobs/{name}/events",
                                  f"X-API-Key: {secret(key)}"))
                s.recv(1024)
            call(url, key, "DELETE", f"/v1/jobs/{name}")


LARGE = png(768, lambda x, y: (x * y % 251, (x ^ y) % 256, (x + 7 * y) % 256))
MASK = png(768, lambda x, y: (255, 255, 255) if x < 32 and y < 32 else (0, 0, 0))

ATTACKS = [(invented_methods, None), (bodies_of_readers, None),
           (half_heads, None), (wrong_keys, None), (broken_connections, None),
           (large_json, "first"), (pasted_images, "second"),
           (unread_replies, "third"), (much_queued, "fourth"),
           (cancelled_jobs, "fifth")]


def attack(what, url, key, seed, seconds, tries):
    """Runs in a process of its own until its time is over."""
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

    def __init__(self, url, model):
        self.url = url
        self.model = {"model": model} if model else {}
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
                 "deterministic": True, **self.model})
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


def cancel_all(url):
    """Ends the work that attackers left open."""
    while True:
        _, got = call(url, "operator", "GET", "/v1/jobs?limit=200")
        open_ones = [x for x in json.loads(got)["data"]
                     if x["status"] in ("queued", "running", "in_progress")]
        if not open_ones:
            return
        for x in open_ones:
            call(url, "operator", "DELETE", f"/v1/jobs/{x['id']}")
        time.sleep(0.2)


def run(given, server):
    pid, url = server.process.pid, server.url
    client = Client(url, None if given.test_card else given.model)
    client.draw(3)
    alone = client.draw(given.seconds / 3)
    before = anon_kib(pid)
    highest = [before]
    tries = {}
    attackers = []
    for i, (what, key) in enumerate(ATTACKS):
        if given.only and what.__name__ not in given.only:
            continue
        tries[what.__name__] = multiprocessing.Value("i", 0)
        attackers.append(multiprocessing.Process(
            target=attack, args=(what, url, key, given.seed + i, given.seconds,
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
        x.kill()
        x.join()
    over.set()
    watching.join()
    cancel_all(url)
    afterwards = client.draw(5)
    time.sleep(5)
    _, got = call(url, "operator", "GET", "/metrics")
    series = sum(not x.startswith(b"#") for x in got.splitlines() if x)

    def told(x):
        return {"images": len(x["images"]),
                **{f"p{q}_ms": round(1000 * at(q / 100, x["images"]), 1)
                   for q in (50, 95, 99)},
                "health_p99_ms": round(1000 * at(0.99, x["healths"]), 1),
                "health_worst_ms": round(1000 * max(x["healths"]), 1),
                "faults": x["faults"][:20]}

    return {"seconds": given.seconds,
            "attempts": {x: n.value for x, n in tries.items()},
            "alone": told(alone), "beside": told(beside),
            "afterwards": told(afterwards),
            "control_mib": {"before": round(before / 1024, 1),
                            "highest": round(max(highest) / 1024, 1),
                            "afterwards": round(anon_kib(pid) / 1024, 1)},
            "series": series}


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("atelier")
    words.add_argument("--seconds", type=float, default=600)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", action="append", default=[])
    words.add_argument("--model", default="turbo",
                       help="what the client draws with (default: turbo)")
    words.add_argument("--test-card", action="store_true",
                       help="in place of the shipped models")
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--report")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        more = ["--set", f"http.keys={write_keys(folder)}"]
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
