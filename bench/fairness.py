#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long does a key with few requests wait beside a key with many?

A server has one model and two keys. The first key requests its next image as soon as it
has an answer: first without other load, then beside the second key's jobs of several
images, which were all accepted before. The report shows both distributions of the first
key's latencies and the ratio of their 95th percentiles. Each answer must be an image of
the same size. The images' last bits may differ, because batches are summed in another
order. The program needs only Python's standard library.

usage: fairness.py ATELIER [--model NAME] [--requests N] [--jobs N] [--images N]
                   [--set KEY=VALUE]... [--quick-build]
"""
import argparse
import base64
import hashlib
import http.client
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.parse

from measured_program import read_arguments


def call(url, key, method, path, body=None):
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=600)
    c.request(method, path, body and json.dumps(body), {"X-API-Key": key})
    reply = c.getresponse()
    return reply.status, json.loads(reply.read())


def wait_for(url, key, count):
    """Returns the seconds of each of `count` requests, and their images."""
    took = []
    images = []
    for number in range(count):
        began = time.monotonic()
        status, got = call(url, key, "POST", "/v1/images/generations", {
            "prompt": "a red circle above a blue square", "seed": number})
        assert status == 200, got
        took.append(time.monotonic() - began)
        png = base64.b64decode(got["data"][0]["b64_json"])
        assert png.startswith(b"\x89PNG\r\n"), "no image"
        # The width and height.
        images.append(png[16:24])
    return took, images


def at(part, values):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def shown(values):
    return ", ".join(f"{name} {at(part, values) * 1000:.0f} ms" for name, part
                     in (("p50", .5), ("p95", .95), ("worst", 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("atelier")
    parser.add_argument("--model", default="turbo@4")
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--set", action="append", default=[])
    options = read_arguments(parser)
    with tempfile.TemporaryDirectory() as data:
        keys = pathlib.Path(data) / "keys"
        keys.write_text("".join(
            f"{name} user {hashlib.sha256(name.encode()).hexdigest()}\n"
            for name in ("light", "heavy")))
        keys.chmod(0o600)
        settings = [f"devices=[{{name='cpu:0',variants=['{options.model}']}}]",
                    f"http.keys='{keys}'", "http.jobs=1000", *options.set]
        server = subprocess.Popen(
            [options.atelier, "serve", "--json", "--listen", "127.0.0.1:0",
             "--data", data, *(x for s in settings for x in ("--set", s))],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = json.loads(server.stdout.readline())["url"]
            wait_for(url, "light", 5)
            alone, images = wait_for(url, "light", options.requests)
            for number in range(options.jobs):
                status, got = call(url, "heavy", "POST", "/v1/jobs", {
                    "prompt": "a blue star", "n": options.images,
                    "id": f"heavy-{number}"})
                assert status == 202, got
            beside, again = wait_for(url, "light", options.requests)
            last = call(url, "heavy", "GET",
                        f"/v1/jobs/heavy-{options.jobs - 1}?images=none")[1]
            assert last["status"] in ("queued", "running"), \
                "the other's jobs ended too soon: more of them"
        finally:
            server.terminate()
            server.wait(60)
    assert images == again, "an image of another size beside others"
    print(f"alone: {shown(alone)}")
    print(f"beside {options.jobs} jobs of {options.images} images: "
          f"{shown(beside)}")
    print(f"p95, beside over alone: {at(.95, beside) / at(.95, alone):.2f}")


if __name__ == "__main__":
    main()
