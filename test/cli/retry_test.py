# SPDX-License-Identifier: Apache-2.0
"""Clients that disconnect and return, over plain sockets.

Usage: retry_test.py --program ATELIER --report FILE [--only PART]
"""
import http.client
import json
import re
import signal
import socket
import sys
import urllib.parse

from process_test import PATIENCE_S, expect, main
from serve_test import ask, call, end_of, server

OPENAI = "/v1/images/generations"
A1111 = "/sdapi/v1/txt2img"
# Requests run one at a time and take seconds.
SLOW = ["--set", "devices[0].test_card_step_ms=50", "--set",
        "devices[0].seats=1", "--set", "devices[0].max_batch=1"]


def body_for(path, steps):
    size = ({"width": 64, "height": 64} if path == A1111
            else {"size": "64x64"})
    return {"prompt": "a circle", "seed": 7, "steps": steps, **size}


def sent(url, path, steps, key=None):
    """Returns the socket of a client that has sent its call and waits."""
    parts = urllib.parse.urlsplit(url)
    text = json.dumps(body_for(path, steps))
    it = socket.create_connection((parts.hostname, parts.port),
                                  timeout=PATIENCE_S)
    more = f"Idempotency-Key: {key}\r\n" if key else ""
    it.sendall(f"POST {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{more}"
               f"Content-Length: {len(text)}\r\n\r\n{text}".encode())
    return it


def answer(url, path, steps, key):
    """Returns status and images of the same call by a client that waits."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request("POST", path, json.dumps(body_for(path, steps)),
                       {"Idempotency-Key": key})
    reply = connection.getresponse()
    status, text = reply.status, reply.read()
    connection.close()
    if status != 200:
        return status, text
    told = json.loads(text)
    return status, told["images"] if path == A1111 else told["data"]


def counts(url):
    """Returns (cancelled, answered, refused, waiting, running)."""
    text = ask(url, "/metrics")[1]
    def one(pattern):
        return int(float(re.search(f"^{pattern} (.*)$", text, re.M)[1]))
    return (*(one(f'atelier_requests_total{{outcome="{x}"}}')
              for x in ("cancelled", "answered", "refused")),
            one("atelier_requests_waiting"), one("atelier_requests_running"))


def case_clients_that_go_take_back_what_waits_too(program):
    with server(program, *SLOW) as (process, told):
        url = told["url"]
        clients = [sent(url, path, 150) for path in (OPENAI, A1111) * 3]
        program.wait_for(lambda: counts(url) == (0, 0, 0, 5, 1), process)
        # The waiting clients close first, then the one whose image is being drawn.
        for x in reversed(clients):
            x.close()
        program.wait_for(lambda: counts(url) == (6, 0, 0, 0, 0), process)
        status, _ = answer(url, OPENAI, 1, "k")
        expect(status == 200, status)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_retries_without_a_key_take_the_place_of_each_other(program):
    for path in (OPENAI, A1111):
        with server(program, *SLOW) as (process, told):
            url = told["url"]
            for attempt in range(3):
                client = sent(url, path, 150)
                program.wait_for(
                    lambda n=attempt: counts(url) == (n, 0, 0, 0, 1), process)
                client.close()
            program.wait_for(lambda: counts(url) == (3, 0, 0, 0, 0), process)
            expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_retries_with_a_key_are_drawn_once(program):
    for path in (OPENAI, A1111):
        with server(program, *SLOW) as (process, told):
            url = told["url"]
            for _ in range(2):
                client = sent(url, path, 100, "k")
                program.wait_for(lambda: counts(url) == (0, 0, 0, 0, 1),
                                 process)
                client.close()
            status, pictures = answer(url, path, 100, "k")
            expect(status == 200 and len(pictures) == 1, status, pictures)
            # The reply was lost in transit.
            again = answer(url, path, 100, "k")
            expect(again == (status, pictures), again)
            program.wait_for(lambda: counts(url) == (0, 1, 0, 0, 0), process)
            status, text = answer(url, path, 101, "k")
            expect(status == 422 and b"key_reused" in text, status, text)
            expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_nobody_is_waited_for_longer_than_said(program):
    with server(program, *SLOW, "--set", "http.retry_ms=100") as (process,
                                                                  told):
        url = told["url"]
        client = sent(url, OPENAI, 150, "k")
        program.wait_for(lambda: counts(url) == (0, 0, 0, 0, 1), process)
        client.close()
        program.wait_for(lambda: counts(url) == (1, 0, 0, 0, 0), process)
        jobs = json.loads(call(url, "GET", "/v1/jobs")[1])["data"]
        expect([x["status"] for x in jobs] == ["cancelled"], jobs)
        # A later call is drawn.
        client = sent(url, OPENAI, 150, "k")
        program.wait_for(lambda: counts(url) == (1, 0, 0, 0, 1), process)
        client.close()
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_retry", all_cases()))
