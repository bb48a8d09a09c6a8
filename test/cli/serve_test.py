# SPDX-License-Identifier: Apache-2.0
"""Starts, uses and ends the built program's server, as an operator would. The file is
long because it is one table of cases beside the functions that start and end a server.

Usage: serve_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import hashlib
import http.client
import json
import os
import queue
import re
import resource
import signal
import socket
import sys
import threading
import time
import urllib.parse

from polling import polled
from process_test import PATIENCE_S, expect, main

CARD = ["--set", "devices=[{name='cpu:0',executor='test_card'}]",
        "--listen", "127.0.0.1:0"]


@contextlib.contextmanager
def server(program, *more):
    """Runs a server with the test card, which ends with the block."""
    process = program.start(["serve", "--json", *CARD, *more])
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate())
        yield process, json.loads(line)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Lines:
    """Collects the lines that a server writes to its log."""

    def __init__(self, process):
        self.all = []
        self.thread = threading.Thread(target=self.read, args=[process],
                                       daemon=True)
        self.thread.start()

    def read(self, process):
        for line in process.stderr:
            self.all.append(line.decode())

    def wait(self, *parts):
        polled(lambda: any(all(p in x for p in parts) for x in self.all),
               lambda: f"{parts} not in {self.all}", PATIENCE_S, 0.01)


def ask(url, path="/health", headers=None, method="GET"):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request(method, path, headers=headers or {})
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


def end_of(process, number):
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, err.decode()


def state_file(program):
    return program.folder / "data" / "atelier" / "server.json"


def case_it_starts_tells_how_it_is_and_ends(program):
    for mode in ("split", "single"):
        with server(program, "--processes", mode) as (process, told):
            expect(told["variants"] == ["test_card@20"], told)
            state = json.loads(state_file(program).read_text())
            expect(state.pop("started") > 0, state)
            expect(state == {"url": told["url"], "pid": process.pid}, state)
            expect(state_file(program).stat().st_mode & 0o777 == 0o600)
            status, body = ask(told["url"])
            health = json.loads(body)
            expect(status == 200 and health["status"] == "ok", body)
            expect(health["counts"] == {"late": 0, "resumed": 0}, body)
            roles = [x["role"] for x in health["processes"]]
            expect(("cpu" in roles) == (mode == "split"), mode, roles)
            code, out, err = program.run(["status", "--json"])
            expect(code == 0 and json.loads(out)["status"] == "ok", out, err)
            code, out, err = program.run(["status"])
            expect(code == 0 and "cpu:0" in out and "ok" in out, out, err)
            lines = [x.split() for x in out.splitlines()]
            expect(["late", "0"] in lines and ["resumed", "0"] in lines, out)
            code, out, err = program.run(["status", "--server", told["url"]])
            expect(code == 0, out, err)
            code, out, err = program.run(["stop"])
            expect(code == 0, out, err)
            expect(process.wait(PATIENCE_S) == 0, process.returncode)
        expect(not state_file(program).exists())
        expect(program.run(["status"])[0] == 3)
        expect(program.run(["stop"])[0] == 3)


def case_its_file_may_say_one_process(program):
    (program.folder / "one.toml").write_text("[processes]\nmode = 'single'\n")
    with server(program, "--config", "one.toml") as (process, told):
        health = json.loads(ask(told["url"])[1])
        expect([x["role"] for x in health["processes"] if x["role"] == "cpu"]
               == [], health)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_signals_end_it(program):
    for number in (signal.SIGINT, signal.SIGTERM):
        with server(program) as (process, _):
            code, err = end_of(process, number)
            expect(code == 0, code, err)


def case_a_taken_address_is_told_before_anything_is_loaded(program):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = "127.0.0.1:%d" % taken.getsockname()[1]
        code, out, err = program.run(["serve", "--listen", where])
        expect(code == 3 and "taken" in err, code, err)
        expect(out == "", out)


def case_every_fault_of_a_configuration_is_told_at_once(program):
    (program.folder / "bad.toml").write_text(
        "[http]\nthreads = 0\nlisten = 'x'\n[arena]\nimage_slot = 4\n")
    code, _, err = program.run(["serve", "--config", "bad.toml"])
    expect(code == 2, code, err)
    for word in ("http.threads", "http.listen", "image_slot"):
        expect(word in err, word, err)


def call(url, method, path, body=None):
    """Returns the status and body of one request."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request(method, path, body and json.dumps(body),
                       {"Content-Type": "application/json"})
    reply = connection.getresponse()
    text = reply.read()
    return reply.status, text


def by_openai(url, seed):
    """Returns an image in base64, or None and the reason, as the next functions do."""
    status, text = call(url, "POST", "/v1/images/generations",
                        {"prompt": "a circle", "size": "64x64", "seed": seed})
    body = json.loads(text)
    if status == 200:
        return body["data"][0]["b64_json"], None
    expect(all(x in body["error"] for x in ("message", "type", "code")), body)
    return None, status


def by_a1111(url, seed):
    status, text = call(url, "POST", "/sdapi/v1/txt2img",
                        {"prompt": "a circle", "width": 64, "height": 64,
                         "seed": seed})
    body = json.loads(text)
    if status == 200:
        return body["images"][0], None
    expect(all(isinstance(body[x], str) for x in ("error", "detail")), body)
    return None, status


def by_job(url, seed):
    status, text = call(url, "POST", "/v1/jobs",
                        {"prompt": "a circle", "size": "64x64", "seed": seed})
    job = json.loads(text)
    if status != 202:
        expect(job["error"]["code"] and job["error"]["message"], job)
        return None, status

    def ended():
        status, text = call(url, "GET", job["poll_url"])
        expect(status == 200, status, text)
        seen = json.loads(text)
        return seen if seen["status"] not in ("queued", "running") else None

    job = polled(ended, f"{job} never ended", PATIENCE_S)
    if job["status"] == "completed":
        return job["result"]["images"][0]["b64_json"], None
    expect(job["status"] == "failed" and job["error"]["code"], job)
    return None, 503


APIS = (by_openai, by_a1111, by_job)


def case_every_request_is_answered_while_processes_die(program):
    count = max(60, int(500 * float(os.environ.get("ATELIER_TEST_SCALE")
                                    or 0.01)))
    seeds, per_death = 4, 10
    with server(program, "--set", "devices[0].test_card_step_ms=4",
                "--set", "processes.restart_most_ms=200",
                "--set", "scheduler.attempts=1000") as (process, told):
        url = told["url"]
        # The images of each API and seed while nothing dies.
        whole = {(api, seed): api(url, seed)
                 for api in APIS for seed in range(seeds)}
        expect(all(x[1] is None for x in whole.values()), whole)
        todo, answers = queue.Queue(), queue.Queue()
        for n in range(count):
            todo.put(n)

        def client():
            while True:
                try:
                    n = todo.get_nowait()
                except queue.Empty:
                    return
                which = APIS[n % len(APIS)], n // len(APIS) % seeds
                try:
                    answers.put((n, which, which[0](url, which[1])))
                except Exception as error:
                    answers.put((n, which, (None, repr(error))))

        clients = [threading.Thread(target=client) for _ in range(8)]
        for x in clients:
            x.start()
        deaths = 0
        drawn = dict.fromkeys(APIS, 0)
        for done in range(1, count + 1):
            n, which, (picture, fault) = answers.get(timeout=PATIENCE_S)
            if picture:
                expect(picture == whole[which][0],
                       f"request {n} got another picture")
                drawn[which[0]] += 1
            else:
                expect(fault in (429, 500, 503, 504), n, which, fault)
            if done % per_death or done == count:
                continue
            alive = [x["pid"] for x in json.loads(ask(url)[1])["processes"]
                     if x["alive"]]
            for pid in alive[deaths % 2:][:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    deaths += 1
        for x in clients:
            x.join()
        expect(deaths > 0)
        expect(all(drawn.values()), drawn)
        code, err = end_of(process, signal.SIGTERM)
        expect(code == 0, code, err)


def case_health_names_the_part_that_is_down(program):
    with server(program, "--processes", "split", "--set",
                "processes.restart_first_ms=600000", "--set",
                "processes.restart_most_ms=600000") as (process, told):
        url = told["url"]

        def health():
            status, text = ask(url)
            return status, json.loads(text)

        pids = {x["role"]: x["pid"] for x in health()[1]["processes"]}
        for role, known in (("cpu:0", ["cpu:0"]), ("cpu", ["cpu", "cpu:0"])):
            expect(health()[1]["down"] != known, health())
            os.kill(pids[role], signal.SIGKILL)
            program.wait_for(lambda: health()[1]["down"] == known, process)
            status, told_now = health()
            expect(status == 503 and told_now["status"] == "degraded",
                   told_now)
        code, err = end_of(process, signal.SIGTERM)
        expect(code == 0, code, err)


def case_a_plan_that_cannot_be_done_is_refused(program):
    for start, told in (
            ({"skip": 10}, r"plan\.routes\[0\]\.stages\[0\]\.skip: 10"),
            ({"from": "latent", "skip": 10},
             r"plan\.routes\[0\]\.stages\[0\]\.from: \"latent\""),
            ({"from": "stage_image", "skip": 10},
             r"plan\.routes\[0\]\.stages\[0\]\.from: \"stage_image\"")):
        check_refused_plan(program, start, told)


def check_refused_plan(program, start, told):
    plan = {"format": "atelier.plan", "version": 1, "policy": "diffserve",
            "workers": [{"count": 1, "batch": 1,
                         "hosting": ["test_card@20"]}],
            "routes": [{"route": 0, "name": "test_card@20", "stages": [
                {"any_of": ["test_card@20"], **start}]}],
            "share": [{"0": 1.0}]}
    (program.folder / "plan.json").write_text(json.dumps(plan))
    code, out, err = program.run(
        ["serve", "--set", "devices=[{name='cpu:0',executor='test_card',"
         "variants=['test_card@20']}]", "--set", "policy.name='fixed'",
         "--set", "planner.plan='plan.json'"])
    expect(code == 2 and re.search(told, err), code, err)


def case_an_arena_for_no_picture_is_refused(program):
    for option in ("arena.state_slot_kib", "arena.image_slot_kib"):
        code, out, err = program.run(["serve", *CARD, "--set", f"{option}=4"])
        expect(code == 2 and option in err and "256x256" in err, code, err)


def case_results_of_jobs_lie_in_the_data_folder(program):
    folder = program.folder / "data" / "atelier" / "results"

    def files():
        # Files that are being written do not count.
        return sorted(folder.glob("*.picture"))

    with server(program) as (process, told):
        url = told["url"]
        _, text = call(url, "POST", "/v1/jobs",
                       {"prompt": "a", "size": "64x64", "n": 2})
        job = json.loads(text)["poll_url"]
        program.wait_for(lambda: len(files()) == 2, process)
        expect(folder.stat().st_mode & 0o777 == 0o700)
        for i, file in enumerate(files()):
            status, image = call(url, "GET", f"{job}/images/{i}")
            expect(status == 200 and image == file.read_bytes(), i)
        # Another server with the same folder runs without a journal.
        with server(program) as (second, other):
            expect(call(other["url"], "POST", "/v1/jobs",
                        {"prompt": "b", "size": "64x64"})[0] == 202)
            expect("results of jobs stay in memory"
                   in end_of(second, signal.SIGTERM)[1])
        expect(len(files()) == 2)
        process.kill()
    expect(len(files()) == 2)
    with server(program) as (process, told):
        expect(list(folder.iterdir()) == [])
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_disk_that_takes_nothing_loses_no_picture(program):
    def nothing_large():
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))

    process = program.start(["serve", "--json", *CARD, "--processes", "single"],
                            preexec_fn=nothing_large)
    try:
        url = json.loads(process.stdout.readline())["url"]
        log = Lines(process)
        jobs = [json.loads(call(url, "POST", "/v1/jobs",
                                {"prompt": "a", "size": "64x64"})[1])["id"]
                for _ in range(3)]

        def done():
            return all(json.loads(call(url, "GET", f"/v1/jobs/{x}")[1])["status"]
                       == "completed" for x in jobs)

        program.wait_for(done, process)

        text = call(url, "GET", "/metrics")[1].decode()
        kept = text.split('atelier_results_bytes{where="memory"} ')[1].split()[0]
        expect(float(kept) > 3000, kept)
        log.wait("stay in memory")
        for job in jobs:
            status, image = call(url, "GET", f"/v1/jobs/{job}/images/0")
            expect(status == 200 and len(image) > 500, status)
        folder = program.folder / "data" / "atelier" / "results"
        expect(list(folder.iterdir()) == [], "something half is left")
        process.send_signal(signal.SIGTERM)
        expect(process.wait(PATIENCE_S) == 0, process.returncode)
        log.thread.join()
        expect("".join(log.all).count("stay in memory") == 1, log.all)
    finally:
        process.kill()
        process.wait()


def case_gauges_are_right_under_load(program):
    """Compares the gauges with the waiting and running requests, and with the state
    after their end."""
    with server(program, "--set", "devices[0].test_card_step_ms=50",
                "--set", "devices[0].seats=2",
                "--set", "devices[0].max_batch=2") as (process, told):
        url = told["url"]

        def gauges():
            _, text = ask(url, "/metrics")
            found = dict(line.rsplit(" ", 1) for line in text.splitlines()
                         if not line.startswith("#"))
            return tuple(int(float(found[f"atelier_{x}"])) for x in
                         ("requests_waiting", "requests_running", "jobs_open"))

        expect(gauges() == (0, 0, 0), gauges())
        jobs = [json.loads(call(url, "POST", "/v1/jobs", {
            "prompt": "a", "size": "64x64", "steps": 150})[1])["id"]
            for _ in range(7)]
        program.wait_for(lambda: gauges() == (5, 2, 7), process)
        for job in jobs[4:]:
            expect(call(url, "DELETE", f"/v1/jobs/{job}")[0] == 200)
        program.wait_for(lambda: gauges() == (2, 2, 4), process)
        health = json.loads(ask(url)[1])
        expect((health["waiting"], health["running"]) == (2, 2), health)
        for job in jobs[:4]:
            call(url, "DELETE", f"/v1/jobs/{job}")
        program.wait_for(lambda: gauges() == (0, 0, 0), process)
        # The time in the APIs covers every call, and each whole reply.
        expect(call(url, "POST", "/v1/images/generations",
                    {"prompt": "a", "size": "64x64", "steps": 1})[0] == 200)

        def doors():
            _, text = ask(url, "/metrics")
            return [f'atelier_http_door_seconds_count{{part="{part}"}} {n}\n'
                    in text for part, n in (("submit", 8), ("respond", 1))]

        program.wait_for(lambda: doors() == [True, True], process)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_calls_without_a_deadline_have_the_servers(program):
    slow = "devices=[{name='cpu:0',executor='test_card',test_card_step_ms=20}]"
    with server(program, "--set", slow, "--set",
                "policy.deadline_ms=200") as (process, told):
        def status(path, **more):
            body = {"prompt": "a circle", "steps": 100, **more}
            return call(told["url"], "POST", path, body)[0]

        openai, webui = "/v1/images/generations", "/sdapi/v1/txt2img"
        expect(status(openai, size="64x64") == 504)
        expect(status(webui, width=64, height=64) == 504)
        expect(status(openai, size="64x64", deadline_ms=60000) == 200)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_keys_are_asked_for(program):
    keys = program.folder / "keys"
    digest = hashlib.sha256(b"apple").hexdigest()
    keys.write_text(f"ann user {digest}\n")
    keys.chmod(0o644)
    code, _, err = program.run(["serve", *CARD, "--set", "http.keys=keys"])
    expect(code == 2 and "0600" in err, code, err)
    keys.chmod(0o600)
    with server(program, "--set", "http.keys=keys") as (process, told):
        expect(told["keys"] == 1, told)
        _, body = ask(told["url"])
        expect("processes" not in json.loads(body), body)
        _, body = ask(told["url"], headers={"Authorization": "Bearer apple"})
        expect("processes" in json.loads(body), body)
        code, out, _ = program.run(["status", "--json", "--key", "apple"])
        expect(code == 0 and "processes" in json.loads(out), out)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_key_learns_nothing_of_anothers_cache(program):
    """Each key has a cache of its own; what all do, only admins see."""
    names = {"ann": "apple", "ben": "banana", "root": "cherry"}
    keys = program.folder / "keys"
    keys.write_text("".join(
        f"{name} {'admin' if name == 'root' else 'user'} "
        f"{hashlib.sha256(key.encode()).hexdigest()}\n"
        for name, key in names.items()))
    keys.chmod(0o600)
    variants = [{"name": name, "native": {"width": 64, "height": 64},
                 "step": [{"batch": 1, "pixels": 4096, "ms": 1}]}
                for name in ("card@10", "card@4")]
    (program.folder / "profile.json").write_text(json.dumps({
        "format": "atelier.profile", "version": 2, "variants": variants,
        "reuse": {"full": "card@10", "small": ["card@4"], "steps": 10,
                  "images": [{"skip": 5, "similarity": 0.9}],
                  "images_by": "prompts"}}))
    card = "devices=[{name='cpu:0',executor='test_card'," \
           "variants=['card@10','card@4']}]"
    more = [x for setting in (
        card, "policy.name=modm", "planner.profile=profile.json",
        "arena.capture_slots=8", "cache.memory_mib=16", "http.keys=keys")
        for x in ("--set", setting)]
    code, _, err = program.run(["serve", *CARD, *more,
                                "--set", "cache.tenants=2"])
    expect(code == 2 and "cache.tenants" in err and "keys of 3 names" in err, code, err)
    with server(program, *more, "--set", "cache.tenants=3") as (process, told):
        url = told["url"]

        def by(name):
            return {"Authorization": f"Bearer {names[name]}",
                    "Content-Type": "application/json"}

        def reuses(name, cache):
            parts = urllib.parse.urlsplit(url)
            connection = http.client.HTTPConnection(
                parts.hostname, parts.port, timeout=PATIENCE_S)
            connection.request("POST", "/v1/images/generations", json.dumps(
                {"prompt": "a red ball on a table", "size": "64x64",
                 "seed": 11, "cache": cache}), by(name))
            reply = connection.getresponse()
            text = reply.read().decode()
            expect(reply.status == 200, text)
            return '"reused"' in text

        def entries():
            _, text = ask(url, "/v1/admin/caches", by("root"))
            return json.loads(text)["earlier_work"]["entries"]

        expect(not reuses("ann", "write"))
        program.wait_for(lambda: entries() == 1, process)
        expect(not reuses("ben", "read"))
        expect(reuses("ann", "read"))
        for path in ("/metrics", "/v1/cluster", "/v1/admin/caches"):
            expect(ask(url, path, by("ann"))[0] == 403, path)
            expect(ask(url, path, by("root"))[0] == 200, path)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_rebound_name_is_refused(program):
    with server(program) as (process, told):
        status, _ = ask(told["url"], headers={"Host": "evil.example"})
        expect(status == 403, status)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def raw(url, text, end=True):
    """Returns the server's reply to these bytes; with `end` nothing follows them."""
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port),
                                  timeout=PATIENCE_S) as c:
        c.sendall(text.encode())
        if end:
            c.shutdown(socket.SHUT_WR)
        out = b""
        while b"\r\n\r\n" not in out:
            more = c.recv(65536)
            if not more:
                break
            out += more
    return out.decode()


def case_what_readers_take_differently_is_refused(program):
    with server(program) as (process, told):
        url = told["url"]
        body = '{"prompt": "a"}'
        post = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
        chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
        for text in (
                post + f"Content-Length:\r\n {len(body)}\r\n\r\n{body}",
                post + f"Origin: {url}\r\nOrigin: https://evil.example\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n{body}",
                "GET /health HTTP/1.1\r\nHost:\r\n\r\n",
                "GET /health HTTP/1.1\nHost: localhost\n\n",
                "GET /health HTTP/1.1\rHost: localhost\r\r",
                "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
                chunked + "0" * 5000 + f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"):
            head = raw(url, text).lower()
            expect(" 400 " in head.splitlines()[0], text[:80], head)
            expect("x-request-id: req_" in head, head)
        # The reply comes at once, not at the end of the reading time.
        began = time.monotonic()
        expect(" 413 " in raw(url, chunked + "ffffffffffffffff\r\n", False))
        expect(time.monotonic() - began < 25, "it was waited for")
        status, text = call(url, "POST", "/v1/jobs",
                            {"prompt": "a", "image": ""})
        expect(status == 400 and json.loads(text)["error"]["param"] == "image",
               text)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_names_of_jobs_are_of_one_key(program):
    keys = program.folder / "keys"
    keys.write_text("".join(
        f"{name} {role} {hashlib.sha256(name.encode()).hexdigest()}\n"
        for name, role in (("ann", "user"), ("bob", "user"), ("eve", "admin"))))
    keys.chmod(0o600)
    more = ["--set", "http.keys=keys", "--set", "http.journal=on"]

    def asked(url, key, method, path, body=None):
        parts = urllib.parse.urlsplit(url)
        c = http.client.HTTPConnection(parts.hostname, parts.port,
                                       timeout=PATIENCE_S)
        c.request(method, path, body and json.dumps(body),
                  {"X-API-Key": key, "X-Request-ID": "mine-7"})
        reply = c.getresponse()
        expect(reply.headers["x-request-id"] == "mine-7", reply.headers)
        return reply.status, json.loads(reply.read())

    job = {"prompt": "a", "size": "64x64", "id": "mine"}
    with server(program, *more) as (process, told):
        url = told["url"]
        for key in ("ann", "bob"):
            expect(asked(url, key, "GET", "/v1/jobs/mine")[0] == 404)
            status, got = asked(url, key, "POST", "/v1/jobs", job)
            expect(status == 202 and got["request_id"] == "mine-7", got)
            expect(asked(url, key, "POST", "/v1/jobs", job)[0] == 400)
        end_of(process, signal.SIGTERM)
    # The journal keeps them apart too.
    with server(program, *more) as (process, told):
        url = told["url"]
        for key in ("ann", "bob"):
            status, got = asked(url, key, "GET", "/v1/jobs/mine?images=none")
            expect(status == 200 and got["key"] == key, got)
            expect(got["request_id"] == "mine-7", got)
            status, got = asked(url, "eve", "GET",
                                f"/v1/jobs/mine?images=none&key={key}")
            expect(status == 200 and got["key"] == key, got)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_key_with_little_to_do_goes_before_one_with_much(program):
    keys = program.folder / "keys"
    keys.write_text("".join(
        f"{name} user {hashlib.sha256(name.encode()).hexdigest()}\n"
        for name in ("ann", "bob")))
    keys.chmod(0o600)

    def asked(url, key, method, path, body=None):
        parts = urllib.parse.urlsplit(url)
        c = http.client.HTTPConnection(parts.hostname, parts.port,
                                       timeout=PATIENCE_S)
        c.request(method, path, body and json.dumps(body), {"X-API-Key": key})
        reply = c.getresponse()
        return reply.status, json.loads(reply.read())

    slow = "devices=[{name='cpu:0',executor='test_card',test_card_step_ms=5}]"
    with server(program, "--set", slow, "--set", "http.keys=keys") as (_, told):
        url = told["url"]
        for number in range(40):
            status, got = asked(url, "ann", "POST", "/v1/jobs", {
                "prompt": "a", "size": "64x64", "steps": 20, "n": 8,
                "id": f"ann-{number}"})
            expect(status == 202, status, got)
        # The work takes four seconds, so a client that waits for all of it is too late.
        for _ in range(2):
            status, got = asked(url, "bob", "POST", "/v1/images/generations", {
                "prompt": "a", "size": "64x64"})
            expect(status == 200, status, got)
        status, got = asked(url, "ann", "GET", "/v1/jobs/ann-39?images=none")
        expect(status == 200 and got["status"] in ("queued", "running"), got)


def case_what_admins_change_is_in_the_log(program):
    keys = program.folder / "keys"
    keys.write_text("".join(
        f"{name} {role} {hashlib.sha256(name.encode()).hexdigest()}\n"
        for name, role in (("ann", "user"), ("eve", "admin"))))
    keys.chmod(0o600)
    slow = "devices=[{name='cpu:0',executor='test_card',test_card_step_ms=1000}]"
    with server(program, "--set", slow, "--set", "http.keys=keys") as (process,
                                                                       told):
        log = Lines(process)

        def asked(key, method, path, body=None):
            parts = urllib.parse.urlsplit(told["url"])
            c = http.client.HTTPConnection(parts.hostname, parts.port,
                                           timeout=PATIENCE_S)
            c.request(method, path, body and json.dumps(body), {"X-API-Key": key})
            reply = c.getresponse()
            reply.read()
            return reply.status

        def waiting(key, name):
            return asked(key, "POST", "/v1/jobs", {"prompt": "a", "id": name})

        expect(waiting("ann", "hers") == 202)
        expect(waiting("ann", "of_ann") == 202)
        expect(waiting("eve", "own") == 202)
        expect(asked("ann", "POST", "/v1/jobs/hers/cancel") == 200)
        expect(asked("eve", "POST", "/v1/jobs/own/cancel") == 200)
        expect(asked("eve", "POST", "/v1/jobs/of_ann/cancel") == 200)
        expect(asked("eve", "GET", "/v1/admin/drain") == 200)
        expect(asked("ann", "POST", "/v1/admin/drain") == 403)
        changes = [("PUT", "/v1/admin/log", {"level": "info"}),
                   ("POST", "/v1/admin/models/none/load", None),
                   ("POST", "/v1/admin/models/none/unload", None),
                   ("POST", "/v1/admin/drain", None),
                   ("DELETE", "/v1/admin/drain", None)]
        for method, path, body in changes:
            asked("eve", method, path, body)
        for method, path, _ in changes:
            log.wait(f"admin 'eve' at 127.0.0.1: {method} {path}\n")
        log.wait("admin 'eve' at 127.0.0.1 cancels a job of 'ann': "
                 "/v1/jobs/of_ann/cancel\n")
        process.kill()
        process.wait()
        log.thread.join()
        lines = [x for x in log.all if "admin '" in x]
        # A user's calls, an admin's own job and what changes nothing leave none.
        expect(len(lines) == len(changes) + 1, lines)


def case_few_descriptors_lower_the_connections(program):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))

    process = program.start(["serve", "--json", *CARD, "--processes", "single"],
                            preexec_fn=few)
    log = Lines(process)
    held = []
    try:
        url = urllib.parse.urlsplit(json.loads(process.stdout.readline())["url"])
        log.wait("http.connections is lowered from 8192 to 150",
                 "the limit of open files is 300")

        def status():
            held.append(socket.create_connection((url.hostname, url.port),
                                                 timeout=PATIENCE_S))
            try:
                held[-1].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return int(held[-1].recv(65536).split()[1])
            except (ConnectionError, IndexError):
                return 0

        for _ in range(150):
            expect(status() == 200)
        expect(status() in (0, 503))
        # A descriptor is free for the next client as soon as one goes.
        for x in held:
            x.close()
        polled(lambda: status() == 200, lambda: log.all, PATIENCE_S, 0.05)
        process.send_signal(signal.SIGTERM)
        expect(process.wait(PATIENCE_S) == 0, log.all)
    finally:
        for x in held:
            x.close()
        process.kill()
        process.wait()


def case_streams_have_previews(program):
    slow = "devices=[{name='cpu:0',executor='test_card',test_card_step_ms=50}]"
    with server(program, "--set", slow) as (process, told):
        host = urllib.parse.urlsplit(told["url"])
        call = http.client.HTTPConnection(host.hostname, host.port,
                                          timeout=PATIENCE_S)
        call.request("POST", "/v1/images/generations",
                     json.dumps({"prompt": "a", "stream": True,
                                 "partial_images": 2}),
                     {"Content-Type": "application/json"})
        names = [x.split()[1] for x in call.getresponse().read().split(b"\n")
                 if x.startswith(b"event:")]
        expect(names.count(b"image_generation.partial_image") >= 1, names)
        expect(names[-1] == b"image_generation.completed", names)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_it_describes_itself(program):
    with server(program) as (process, told):
        url = told["url"]
        whole = json.loads(ask(url, "/openapi.json")[1])
        expect(whole["openapi"] == "3.1.0", whole["openapi"])
        expect(whole["info"]["version"]
               == json.loads(ask(url)[1])["version"], whole["info"])
        paths = {x["path"] for x in json.loads(ask(url, "/v1")[1])["endpoints"]}
        expect(paths == set(whole["paths"]), paths ^ set(whole["paths"]))
        status, text = ask(url, "/v1/chat/completions", method="POST")
        error = json.loads(text)["error"]
        expect(status == 404 and set(error)
               == {"message", "type", "param", "code"}, text)
        expect("/openapi.json" in error["message"], error)
        status, text = ask(url, "/v1/models/gpt-image-1")
        expect(status == 200 and json.loads(text)["id"] == "gpt-image-1", text)
        expect(end_of(process, signal.SIGTERM)[0] == 0)
def case_a_second_server_leaves_the_first_to_be_found(program):
    with server(program) as (first, told):
        mine = json.loads(state_file(program).read_text())
        second = program.start(["serve", "--json", *CARD])
        log = Lines(second)
        try:
            other = json.loads(second.stdout.readline())
            expect(other["url"] != told["url"], other)
            log.wait("another server", told["url"], str(first.pid),
                     "will not find this one")
            expect(json.loads(state_file(program).read_text()) == mine)
            second.send_signal(signal.SIGTERM)
            expect(second.wait(PATIENCE_S) == 0, log.all)
        finally:
            second.kill()
            second.wait()
        # The second server ended, and the first can still be found.
        expect(json.loads(state_file(program).read_text()) == mine)
        code, out, err = program.run(["status"])
        expect(code == 0 and told["url"] in out, out, err)
        code, _, err = program.run(["stop"])
        expect(code == 0, err)
        expect(first.wait(PATIENCE_S) == 0, first.returncode)
    # A killed server leaves no lock.
    with server(program) as (killed, _):
        killed.kill()
        killed.wait()
        with server(program) as (process, told):
            expect(json.loads(state_file(program).read_text())["pid"]
                   == process.pid)
            code, err = end_of(process, signal.SIGTERM)
            expect(code == 0 and "another server" not in err, err)


def case_a_port_alone_listens_on_this_machine(program):
    for arguments in (["--listen", ":0"], ["--listen", "0"],
                      ["--set", "http.listen=:0"], ["--set", "http.listen=0"]):
        process = program.start(["serve", "--json", *CARD[:2], *arguments])
        try:
            told = json.loads(process.stdout.readline())
            expect(told["url"].startswith("http://127.0.0.1:"), told)
            expect(ask(told["url"], "/v1/models")[0] == 200)
            expect(end_of(process, signal.SIGTERM)[0] == 0)
        finally:
            process.kill()
            process.wait()


def case_a_stale_file_is_no_server(program):
    file = state_file(program)
    file.parent.mkdir(parents=True)
    file.write_text('{"url":"http://127.0.0.1:1","pid":1}')
    code, _, err = program.run(["stop"])
    expect(code == 3, code, err)
    with server(program) as (process, told):
        written = file.read_text()
        place = json.loads(written)
        expect(place["pid"] == process.pid)
        # Its number is this server's, and it began before it.
        file.write_text(json.dumps({**place, "started": place["started"] - 1}))
        for command in "status", "stop":
            code, _, err = program.run([command])
            expect(code == 3, command, code, err)
        file.write_text(written)
        code, _, err = program.run(["status"])
        expect(code == 0, code, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_killed_server_leaves_no_process(program):
    with server(program) as (process, told):
        health = json.loads(ask(told["url"])[1])
        pids = [x["pid"] for x in health["processes"] if x["pid"]]
        process.kill()
        process.communicate(timeout=PATIENCE_S)

        def gone(pid):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as text:
                    return b"atelier" not in text.read()
            except OSError:
                return True

        class Ended:
            def poll(self):
                return None

        program.wait_for(lambda: all(gone(x) for x in pids), Ended())
        expect(program.run(["status"])[0] == 3)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_serve", all_cases()))
