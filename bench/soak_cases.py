# SPDX-License-Identifier: Apache-2.0
"""The calls of soak.py: the requests of each API's clients, and their answers.

Each answer is compared with that of the undisturbed server. If the call determines
every bit, the bytes must be equal. Otherwise (the web UI's API cannot determine them)
the pixels are compared: they differ by a level or two, depending on the batch.
"""
import base64
import http.client
import json
import pathlib
import random
import socket
import struct
import sys
import threading
import time
import urllib.parse
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "test" / "cli"))

import serve_test  # noqa: E402
from serve_test import call  # noqa: E402

# A call waits while a process is missing. Only a call without any answer is lost.
serve_test.PATIENCE_S = 600

SUBJECTS = ("a red circle", "a blue square", "a green star", "a purple hexagon")
# Errors that ask the client to try again.
BUSY = ("overloaded", "stopping")


def png(size, pixel):
    """Returns a PNG file. A function of x and y determines its pixels."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(size))
                    for y in range(size))

    def chunk(kind, data):
        body = kind + data
        return (struct.pack(">I", len(data)) + body
                + struct.pack(">I", zlib.crc32(body)))

    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")).decode()


def pixels(file):
    """Returns the samples of an image's PNG file in base64: 8 bits, three for each
    pixel."""
    data, at, packed, width, height = base64.b64decode(file), 8, b"", 0, 0
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2), "another kind of PNG"
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    raw, stride, out = zlib.decompress(packed), 3 * width, []
    above = bytes(stride)
    for y in range(height):
        begin = y * (stride + 1)
        line = bytearray(raw[begin + 1:begin + 1 + stride])
        for i in range(stride if raw[begin] else 0):
            a, b, c = line[i - 3] if i > 2 else 0, above[i], 0
            if raw[begin] == 4:
                c = above[i - 3] if i > 2 else 0
                guess = min((abs(b - c), 0, a), (abs(a - c), 1, b),
                            (abs(a + b - 2 * c), 2, c))[2]
            else:
                guess = (0, a, b, (a + b) // 2)[raw[begin]]
            line[i] = (line[i] + guess) & 255
        out.append(line)
        above = line
    return b"".join(out)


def alike(some, others):
    """Returns whether no sample of any image differs by more than two levels."""
    return len(some) == len(others) and all(
        len(p) == len(q) and max(abs(x - y) for x, y in zip(p, q)) <= 2
        for p, q in ((pixels(a), pixels(b)) for a, b in zip(some, others)))


class Lost(Exception):
    """An accepted call that did not get its images."""


class Busy(Exception):
    """A call that was not accepted."""


def code_of(text):
    error = json.loads(text)["error"]
    return error if isinstance(error, str) else error["code"]


def posted(url, path, body):
    status, text = call(url, "POST", path, body)
    if status in (200, 202):
        return text
    if code_of(text) in BUSY:
        raise Busy(status)
    raise Lost(f"{path}: {status} {text[:300]!r}")


def by_openai(url, body):
    reply = json.loads(posted(url, "/v1/images/generations", body))
    return tuple(x["b64_json"] for x in reply["data"])


def by_edit(url, body):
    reply = json.loads(posted(url, "/v1/images/edits", body))
    return tuple(x["b64_json"] for x in reply["data"])


def by_stream(url, body):
    text = posted(url, "/v1/images/generations",
                  dict(body, stream=True, partial_images=2)).decode()
    events = [x.split("data: ", 1)[1] for x in text.split("\n\n")
              if x.startswith("event: ")]
    last = json.loads(events[-1]) if events else {}
    if last.get("type") != "image_generation.completed":
        raise Lost(f"stream: {text[-300:]!r}")
    return (last["b64_json"],)


def by_a1111(url, body):
    return tuple(json.loads(posted(url, "/sdapi/v1/txt2img", body))["images"])


def by_job(url, body):
    job = json.loads(posted(url, "/v1/jobs", body))
    while job["status"] in ("queued", "running"):
        time.sleep(0.05)
        status, text = call(url, "GET", f"/v1/jobs/{job['id']}")
        if status != 200:
            raise Lost(f"job {job['id']}: {status} {text[:300]!r}")
        job = json.loads(text)
    if job["status"] != "completed":
        raise Lost(f"job: {job['status']} {job.get('error')}")
    return tuple(x["b64_json"] for x in job["result"]["images"])


def cases(card):
    """Returns the calls whose images are compared: (function, body)."""
    size = 64 if card else 128
    edge = f"{size}x{size}"
    steps = 20 if card else 4
    source = png(size, lambda x, y: (255, 255 * x // size, 255 * y // size))
    mask = png(size, lambda x, y: (255,) * 3 if x < size // 2 else (0,) * 3)
    out = []
    for n, subject in enumerate(SUBJECTS):
        plain = {"prompt": f"{subject} on a white background", "size": edge,
                 "seed": n, "steps": steps, "deterministic": True}
        start = dict(plain, image=source, strength=0.8)
        out += [(by_openai, dict(plain, n=2)),
                (by_openai, dict(plain, seed=n + 10, output_format="webp")),
                (by_stream, dict(plain, seed=n + 20)),
                (by_edit, dict(start, mask_image=mask, seed=n + 30)),
                (by_job, dict(plain, seed=n + 40, n=3, preview_every=2)),
                (by_job, dict(start, mask=mask, seed=n + 50, format="jpeg")),
                (by_job, dict(plain, seed=n + 60, steps=5 * steps)),
                (by_a1111, {"prompt": plain["prompt"], "width": size,
                            "height": size, "seed": n + 70, "steps": steps})]
    return out


def leave(url, body):
    """Plays a client that disconnects before it is answered."""
    parts = urllib.parse.urlsplit(url)
    text = json.dumps(dict(body, n=4))
    with socket.create_connection((parts.hostname, parts.port)) as it:
        it.sendall(f"POST /v1/images/generations HTTP/1.1\r\nHost: {parts.netloc}"
                   f"\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        time.sleep(0.05)


def take_back(url, body):
    """Creates a job and cancels it."""
    job = json.loads(posted(url, "/v1/jobs", dict(body, n=4)))
    call(url, "DELETE", f"/v1/jobs/{job['id']}")


def spoil(url, body):
    """Sends a call that is rejected because of a field."""
    status, text = call(url, "POST", "/v1/images/generations",
                        dict(body, steps=0))
    if status != 400:
        raise Lost(f"steps 0: {status} {text[:300]!r}")


class Load:
    """Clients that call until the load is ended."""

    def __init__(self, url, card, clients, seed, pause_s=0):
        self.url = url
        self.cases = cases(card)
        self.seed = seed
        self.pause_s = pause_s
        self.whole = {}
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.counts = dict.fromkeys(
            ("answered", "alike", "unequal", "lost", "busy", "left"), 0)
        self.faults = []
        self.threads = [threading.Thread(target=self.run, args=[k], daemon=True)
                        for k in range(clients)]

    def draw_all(self):
        """Checks every case. Cases that were drawn before are compared."""
        for at, (draw, body) in enumerate(self.cases):
            picture = draw(self.url, body)
            self.whole.setdefault(at, picture)
            if (how := self.compared(at, picture)) == "unequal":
                self.note(how, f"case {at}, undisturbed")

    def compared(self, at, pictures):
        """Compares a call's answer with that of the undisturbed server."""
        if pictures == self.whole[at]:
            return "answered"
        exact = self.cases[at][1].get("deterministic")
        return ("unequal" if exact or not alike(pictures, self.whole[at])
                else "alike")

    def note(self, what, fault=None):
        with self.lock:
            self.counts[what] += 1
            if fault and len(self.faults) < 20:
                self.faults.append(fault)

    def run(self, number):
        chance = random.Random(f"{self.seed} {number}")
        while not self.ending.wait(self.pause_s):
            at = chance.randrange(len(self.cases))
            draw, body = self.cases[at]
            try:
                if chance.random() < 0.1:
                    odd = chance.choice((leave, take_back, spoil))
                    odd(self.url, self.cases[0][1])
                    self.note("left")
                else:
                    how = self.compared(at, draw(self.url, body))
                    self.note(how, f"case {at}: another picture"
                              if how == "unequal" else None)
            except Busy:
                self.note("busy")
                time.sleep(0.5)
            except (Lost, OSError, http.client.HTTPException,
                    ValueError) as fault:
                self.note("lost", f"case {at}: {fault!r}")

    def start(self):
        for x in self.threads:
            x.start()

    def end(self):
        self.ending.set()
        for x in self.threads:
            x.join()
