# SPDX-License-Identifier: Apache-2.0
"""How many clients can one server handle?

The program asks two questions of `atelier serve` with the test card, each of a new
server. How much do idle event streams cost? How is a steady load of images answered?
The second question includes the time that calls spend in the HTTP APIs, by the server's
own metric, without the model. Both begin with one image whose bytes are checked. The
program needs only Python's standard library. The load is open-loop: a request is due at
its moment whether earlier requests are answered or not, and its latency counts from
that moment.

usage: http_load.py ATELIER [--streams N] [--rate QPS] [--seconds S]
                    [--connections N] [--quick-build]
"""
import argparse
import asyncio
import base64
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
import urllib.request

from measured_program import read_arguments

BODY = json.dumps({"prompt": "a circle", "size": "64x64",
                   "num_inference_steps": 4}).encode()


class Server:
    def __init__(self, program, *more, models="", **streams):
        self.data = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "serve", "--json", "--listen", "127.0.0.1:0", "--data",
             self.data.name, *more], stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, **({} if models is None
                                    else {"ATELIER_MODELS": models})), **streams)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.host, port = self.url.removeprefix("http://").split(":")
        self.port = int(port)

    def ask(self, path, body=None):
        request = urllib.request.Request(
            self.url + path, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return reply.read()

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            lines = dict(x.split(":", 1) for x in f if ":" in x)
        return int(lines["VmRSS"].split()[0])

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.data.cleanup()


def look_at_a_picture(server):
    reply = json.loads(server.ask("/v1/images/generations", BODY))
    picture = base64.b64decode(reply["data"][0]["b64_json"])
    assert picture.startswith(b"\x89PNG"), picture[:8]


async def idle_streams(server, count):
    """Opens streams of a job that waits behind a job that takes very long."""
    blocker = json.dumps({"prompt": "a", "steps": 150}).encode()
    server.ask("/v1/jobs", blocker)
    waits = json.loads(server.ask("/v1/jobs", blocker))["id"]
    before = server.resident_kib()
    head = (f"GET /v1/jobs/{waits}/events HTTP/1.1\r\n"
            f"Host: {server.host}:{server.port}\r\n\r\n").encode()
    streams = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection(server.host, server.port,
                                                       limit=4096)
        writer.write(head)
        assert b"200" in await reader.readline()
        streams.append((reader, writer))
    await asyncio.sleep(1)
    kib = (server.resident_kib() - before) / count
    cpu, began = server.cpu_s(), time.monotonic()
    await asyncio.sleep(20)
    share = (server.cpu_s() - cpu) / (time.monotonic() - began)
    fresh = []
    for _ in range(100):
        began = time.monotonic()
        await asyncio.to_thread(server.ask, "/health")
        fresh.append(time.monotonic() - began)
    print(f"{count} idle event streams: {kib:.2f} KiB each, {100 * share:.2f} % "
          f"of a core, heartbeats included; a new client's GET /health: median "
          f"{1000 * sorted(fresh)[50]:.2f} ms, worst {1000 * max(fresh):.2f} ms")
    for _, writer in streams:
        writer.close()


async def read_reply(reader):
    """Reads a reply with a Content-Length; returns its status and its Retry-After."""
    status, length, retry = 0, 0, False
    while line := (await reader.readline()).strip().lower():
        if line.startswith(b"http/"):
            status = int(line.split()[1])
        elif line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        elif line.startswith(b"retry-after:"):
            retry = True
    await reader.readexactly(length)
    return status, retry


async def steady_load(server, rate, seconds, connections):
    head = (f"POST /v1/images/generations HTTP/1.1\r\n"
            f"Host: {server.host}:{server.port}\r\n"
            f"Content-Type: application/json\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n").encode() + BODY
    free = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await asyncio.open_connection(server.host, server.port))
    took, refused, faults = [], 0, []

    async def one(due):
        nonlocal refused
        pair = await free.get()
        reader, writer = pair
        writer.write(head)
        status, retry = await read_reply(reader)
        free.put_nowait(pair)
        if status == 200:
            took.append(time.monotonic() - due)
        elif status == 429 and retry:
            refused += 1
        else:
            faults.append(status)

    began = time.monotonic() + 0.1
    tasks, memory = [], []
    for k in range(int(rate * seconds)):
        due = began + k / rate
        await asyncio.sleep(max(0, due - time.monotonic()))
        tasks.append(asyncio.create_task(one(due)))
        if k % int(rate) == 0:
            memory.append(server.resident_kib())
    await asyncio.gather(*tasks)
    spent = time.monotonic() - began
    took.sort()
    half = memory[len(memory) // 2:]
    print(f"{connections} connections, {rate}/s for {seconds} s: "
          f"{len(took) / spent:.1f} pictures/s, {refused} refused with 429 and "
          f"Retry-After, other answers {faults}; latency median "
          f"{1000 * took[len(took) // 2]:.1f} ms, 99 % "
          f"{1000 * took[len(took) * 99 // 100]:.1f} ms; resident "
          f"{memory[0] / 1024:.0f} MiB at first, {half[0] / 1024:.1f} at half "
          f"time, {half[-1] / 1024:.1f} at the end")


def door_share(server, part, share):
    """Returns the bound, in ms, below which that share of the calls stayed."""
    buckets = []
    for line in server.ask("/metrics").decode().splitlines():
        if line.startswith("atelier_http_door_seconds_bucket{part=\"" + part):
            bound = line.split('le="')[1].split('"')[0]
            buckets.append((float(bound), float(line.rsplit(" ", 1)[1])))
    most = buckets[-1][1]
    return 1000 * next(b for b, n in buckets if n >= share * most), int(most)


def tell_of_the_door(server):
    for part in ("submit", "respond"):
        (half, calls), (tail, _) = (door_share(server, part, x)
                                    for x in (0.5, 0.99))
        print(f"the door's own time, {part}, of {calls} calls: half within "
              f"{half:g} ms, 99 % within {tail:g} ms")


def main():
    about = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    about.add_argument("program")
    about.add_argument("--streams", type=int, default=5000)
    about.add_argument("--rate", type=float, default=200)
    about.add_argument("--seconds", type=float, default=60)
    about.add_argument("--connections", type=int, default=1000)
    args = read_arguments(about, "program")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = Server(args.program, "--set", "devices[0].test_card_step_ms=60000",
                    "--set", "devices[0].max_batch=1",
                    "--set", "devices[0].seats=1")
    try:
        asyncio.run(idle_streams(server, args.streams))
    finally:
        server.end()
    server = Server(args.program)
    try:
        look_at_a_picture(server)
        asyncio.run(steady_load(server, args.rate, args.seconds,
                                args.connections))
        tell_of_the_door(server)
    finally:
        server.end()


if __name__ == "__main__":
    main()
