# SPDX-License-Identifier: Apache-2.0
"""Images of a running server by `generate --server`, and files that a running server
reads again.

Usage: remote_test.py --program ATELIER --report FILE [--only PART]
"""
import fcntl
import hashlib
import http.client
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import urllib.parse

from process_test import KEYS, PATIENCE_S, TIMINGS, expect, main
from serve_test import Lines, ask, call, end_of, server


def local_and_remote(program, url, name, arguments):
    """Makes the same call locally and remotely; returns both objects and both files."""
    out = {}
    for where, more in (("here", ["--set", "devices=[{name='cpu:0',"
                                  "executor='test_card'}]"]),
                        ("there", ["--server", url])):
        path = f"{where}-{name}"
        code, text, err = program.run(["generate", *arguments, "-o", path,
                                       "--json", *more])
        expect(code == 0, code, err)
        out[where] = (json.loads(text), (program.folder / path).read_bytes())
    return out["here"], out["there"]


def case_a_server_makes_the_same_pictures(program):
    with server(program) as (process, told):
        for name, arguments in (
                ("a.png", ["a b", "--seed", "18446744073709551615", "--size",
                           "64x48", "--steps", "3", "--sampler", "euler",
                           "--guidance", "2.3", "--negative", "c",
                           "--rng", "philox", "--deterministic",
                           "--priority", "high", "--deadline-ms", "60000"]),
                ("b.jpg", ["a", "--seed", "2", "--size", "64x64",
                           "--quality", "40", "--sampler", "ddim", "--eta",
                           "0.3"]),
                ("c.webp", ["--seed", "3", "--", "-dash \u4e16 \U0001f308"])):
            # Words after the mark come last.
            if "--" in arguments:
                mark = arguments.index("--")
                (program.folder / "p.txt").write_text(arguments[mark + 1])
                arguments = arguments[:mark] + ["--prompts", "p.txt"]
            here, there = local_and_remote(program, told["url"], name,
                                           arguments)
            expect(here[1] == there[1], name, "the files differ")
            expect(list(there[0]) == KEYS, list(there[0]))
            expect(list(there[0]["timings_ms"]) == TIMINGS)
            expect(there[0]["timings_ms"]["total"] > 0, there[0])
            for field in KEYS:
                if field not in ("path", "timings_ms"):
                    expect(here[0][field] == there[0][field], field, here[0],
                           there[0])
        image = ["b", "--init", "here-a.png", "--strength", "0.5", "--seed", "4"]
        here, there = local_and_remote(program, told["url"], "d.png", image)
        expect(here[1] == there[1] and here[0]["steps_run"]
               == there[0]["steps_run"], here[0], there[0])
        sums = []
        for more in ([], ["--server", told["url"]]):
            code, text, err = program.run(
                ["edit", "here-a.png", "--mask", "here-d.png", "c", "--seed",
                 "5", "-o", f"e{len(sums)}.png", "--json", *more,
                 *([] if more else ["--set", "devices=[{name='cpu:0',"
                                    "executor='test_card'}]"])])
            expect(code == 0, err)
            sums.append(json.loads(text)["sha256"])
        expect(sums[0] == sums[1], sums)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_many_pictures_of_a_prompt_file(program):
    (program.folder / "p.txt").write_text("one\ntwo\nthree\n")
    with server(program, "--set", "limits.requests=5") as (process, told):
        # The server refuses some of these, and the command tries them again.
        code, out, err = program.run(
            ["generate", "--prompts", "p.txt", "-n", "10", "--seed", "7",
             "--size", "64x64", "--server", told["url"] + "/", "-o", "d/",
             "--json"])
        expect(code == 0, code, err)
        expect(len(out.splitlines()) == 30 == len(program.files()) - 1 -
               len([x for x in program.files() if x.startswith("data")]),
               program.files())
        code, out, err = program.run(
            ["generate", "a", "--size", "64x64", "--server", told["url"],
             "-o", "x.png"])
        expect(code == 0 and "x.png  64x64" in err, out, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_what_a_server_cannot_do_is_told(program):
    def refused(status, pattern, *arguments):
        code, out, err = program.run(["generate", "a", "-o", "x.png",
                                      *arguments])
        expect(code == status and pattern in err, code, err)
        expect(out == "" and not (program.folder / "x.png").exists())

    with server(program) as (process, told):
        url = told["url"]
        refused(2, "--server", "--server", url, "--policy", "vanilla")
        refused(2, "--server", "--server", url, "--device", "cpu:0")
        refused(2, "--key", "--key", "k")
        refused(2, "--steps", "--server", url, "--steps", "151")
        refused(3, "nosuch", "--server", url, "--model", "nosuch")
        refused(2, "size", "--server", url, "--size", "4096x2048",
                "--set", "limits.picture_px=16777216",
                "--set", "limits.side_px=4096")
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    refused(3, "connect", "--server", url)
    refused(2, "not a server address", "--server", "nonsense")


def own_certificate(program, name):
    """Makes a self-signed pair of files for localhost; returns None without openssl."""
    if not shutil.which("openssl"):
        return None
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
         f"/CN={name}", "-addext", "subjectAltName=DNS:localhost", "-keyout",
         f"{name}-key.pem", "-out", f"{name}.pem"], cwd=program.folder,
        check=True, capture_output=True, timeout=PATIENCE_S)
    return ["--set", f"http.certificate={name}.pem",
            "--set", f"http.private_key={name}-key.pem"]


def case_a_certificate_that_is_not_trusted_is_told_with_a_remedy(program):
    files = own_certificate(program, "studio")
    if not files:
        return "skipped"
    own_certificate(program, "other")
    with server(program, *files) as (process, told):
        port = urllib.parse.urlsplit(told["url"]).port
        by_name = f"https://localhost:{port}"

        def asked(url, *more):
            made = program.run(["generate", "a", "--size", "64", "--server",
                                url, "-o", "x.png", "--force", *more])
            state = program.run(["status", "--server", url, *more])
            expect(made[0] == state[0], made, state)
            load = program.run(["bench", "serve", "--rate", "50", "--requests",
                                "2", "--mix", "size=64x64", "--server", url,
                                *more])
            expect(load[0] == made[0], made, load)
            for _, _, err in (made, state, load):
                expect(made[0] == 0 or err.count("\n") == 1, err)
            return made[0], made[2]

        for url, more, status, parts in (
                (by_name, [], 3, ["self-signed", "--cacert FILE"]),
                (by_name, ["--cacert", "studio.pem"], 0, ["x.png"]),
                (by_name, ["--cacert", "other.pem"], 3, ["--cacert FILE"]),
                (by_name, ["--cacert", "none.pem"], 2,
                 ["--cacert: cannot read certificates from 'none.pem'"]),
                (by_name, ["--cacert", "studio-key.pem"], 2,
                 ["--cacert: cannot read certificates"]),
                (f"https://127.0.0.1:{port}", ["--cacert", "studio.pem"], 3,
                 ["is for 'localhost', not for '127.0.0.1'", "use that name"]),
                (f"http://localhost:{port}", [], 1, ["use https://"])):
            code, err = asked(url, *more)
            expect(code == status and all(x in err for x in parts), url, more,
                   code, err)
        # The store of this machine may be another one.
        program.environment["SSL_CERT_FILE"] = "studio.pem"
        code, err = asked(by_name)
        expect(code == 0, err)
        del program.environment["SSL_CERT_FILE"]
        # The server of its own data folder needs no trust.
        expect(program.run(["status"])[0] == 0)
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    with server(program) as (process, told):
        port = urllib.parse.urlsplit(told["url"]).port
        code, _, err = program.run(["generate", "a", "-o", "y.png", "--server",
                                    f"https://localhost:{port}"])
        expect(code == 3 and "http://" in err, code, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    return None


def case_a_full_server_is_asked_until_the_deadline(program):
    with server(program, "--set", "limits.requests=1", "--set",
                "devices[0].test_card_step_ms=100") as (process, told):
        url = told["url"]
        job = json.loads(call(url, "POST", "/v1/jobs", {
            "prompt": "a", "size": "64x64", "steps": 150})[1])["id"]
        asked = ["generate", "a", "--size", "64x64", "--steps", "1", "-o",
                 "x.png", "--server", url]
        code, _, err = program.run([*asked, "--deadline-ms", "300"])
        expect(code == 4 and "overloaded" in err, code, err)
        # Without a deadline it waits for its turn.
        waits = program.start(asked)
        program.wait_for(lambda: refusals(url) >= 2, waits)
        expect(call(url, "DELETE", f"/v1/jobs/{job}")[0] == 200)
        _, err = waits.communicate(timeout=PATIENCE_S)
        expect(waits.returncode == 0, waits.returncode, err.decode())
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def refusals(url):
    text = call(url, "GET", "/metrics")[1].decode()
    name = 'atelier_request_refusals_total{reason="overloaded"} '
    return float(text.split(name)[1].split()[0]) if name in text else 0


def case_a_key_goes_along(program):
    keys = program.folder / "keys"
    keys.write_text("ann user %s\n" % hashlib.sha256(b"apple").hexdigest())
    keys.chmod(0o600)
    with server(program, "--set", "http.keys=keys") as (process, told):
        arguments = ["generate", "a", "--size", "64x64", "--force", "-o",
                     "x.png", "--server", told["url"]]
        code, _, err = program.run(arguments)
        expect(code == 2 and "--key is missing" in err, code, err)
        code, _, err = program.run([*arguments, "--key", "pear"])
        expect(code == 2 and "--key" in err and "pear" not in err, code, err)
        expect(program.run([*arguments, "--key", "apple"])[0] == 0)
        with_key = os.environ | {"ATELIER_KEY": "apple"}
        code, _, err = program.run(arguments, env=with_key)
        expect(code == 0, err)
        code, out, err = program.run(["status", "--json", "--server",
                                      told["url"]], env=with_key)
        expect(code == 0 and "processes" in json.loads(out), out, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_limited_key_waits_for_its_image(program):
    keys = program.folder / "keys"
    keys.write_text("ann user %s 5\n" % hashlib.sha256(b"apple").hexdigest())
    keys.chmod(0o600)
    with server(program, "--set", "http.keys=keys", "--set",
                "devices[0].test_card_step_ms=100") as (process, told):
        # Polls of three seconds are more than five.
        code, _, err = program.run(
            ["generate", "a", "--size", "64x64", "--steps", "30", "-o", "x.png",
             "--server", told["url"], "--key", "apple"])
        expect(code == 0 and (program.folder / "x.png").exists(), code, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_an_interrupt_takes_the_jobs_back(program):
    with server(program, "--set", "devices[0].test_card_step_ms=100") as (
            process, told):
        asking = program.start(
            ["generate", "a", "-n", "50", "--steps", "100", "--size", "64x64",
             "--server", told["url"], "-o", "d/"])

        def running():
            health = json.loads(ask(told["url"])[1])
            return health["running"] > 0

        program.wait_for(running, asking)
        asking.send_signal(signal.SIGINT)
        _, err = asking.communicate(timeout=PATIENCE_S)
        expect(asking.returncode == 130, asking.returncode, err.decode())
        program.wait_for(lambda: not running(), process)
        jobs = json.loads(call(told["url"], "GET", "/v1/jobs?limit=1000")[1])
        states = {x["status"] for x in jobs["data"]}
        expect(states == {"cancelled"}, states)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


class DownBehindProxy(http.server.BaseHTTPRequestHandler):
    """A server that accepts a job, and a proxy that then answers in its place."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = f"{self.command} {self.path.partition('?')[0]}"
        self.server.heard.append(name)
        status, body = {
            "GET /health": (200, {"status": "ready"}),
            "GET /v1/variants": (200, {}),
            "POST /v1/jobs": (202, {"id": "job_1"}),
        }.get(name, (503, {}))
        text = json.dumps(body).encode()
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def case_an_interrupt_ends_it_behind_a_proxy_whose_server_is_down(program):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), DownBehindProxy) as down:
        down.heard = []
        serving = threading.Thread(target=down.serve_forever)
        serving.start()
        try:
            asking = program.start(
                ["generate", "a", "--server",
                 f"http://127.0.0.1:{down.server_address[1]}", "-o", "x.png"])
            program.wait_for(lambda: "GET /v1/jobs/job_1" in down.heard, asking)
            asking.send_signal(signal.SIGINT)
            try:
                _, err = asking.communicate(timeout=PATIENCE_S)
            finally:
                asking.kill()
            expect(asking.returncode == 130, asking.returncode, err.decode())
            expect("POST /v1/jobs/job_1/cancel" in down.heard, down.heard)
            expect(not (program.folder / "x.png").exists())
        finally:
            down.shutdown()
            serving.join()


def case_a_server_that_dies_is_told(program):
    with server(program, "--set", "devices[0].test_card_step_ms=100") as (
            process, told):
        asking = program.start(["generate", "a", "--steps", "100", "--size",
                                "64x64", "--server", told["url"], "-o", "x.png"])
        program.wait_for(
            lambda: json.loads(ask(told["url"])[1])["running"] > 0, asking)
        process.kill()
        _, err = asking.communicate(timeout=PATIENCE_S)
        expect(asking.returncode == 3 and b"unavailable" in err,
               asking.returncode, err.decode())


def started(program, *arguments):
    process = program.start(["serve", "--json", "--listen", "127.0.0.1:0",
                             *arguments])
    line = process.stdout.readline()
    expect(line, "it did not start")
    return process, json.loads(line)["url"], Lines(process)


def case_files_are_read_again_at_a_hangup(program):
    def key_of(name):
        return {"Authorization": "Bearer " + name}

    def write_keys(*names):
        (program.folder / "keys").write_text("".join(
            "%s admin %s\n" % (x, hashlib.sha256(x.encode()).hexdigest())
            for x in names))

    def write(text):
        (program.folder / "c.toml").write_text(
            "[[devices]]\nname = 'cpu:0'\nexecutor = 'test_card'\n" + text)

    def sees(url, name):
        return ask(url, "/v1/variants", key_of(name))[0]

    write_keys("ann", "bob")
    (program.folder / "keys").chmod(0o600)
    write("[http]\nkeys = 'keys'\n[limits]\nsteps = 20\n")
    process, url, log = started(program, "--config", "c.toml")
    try:
        expect([sees(url, x) for x in ("ann", "bob", "eve")] == [200, 200, 401])
        process.send_signal(signal.SIGHUP)
        log.wait("the configuration is unchanged")
        # Nothing of a faulty configuration is applied, and every fault is reported.
        write_keys("eve")
        write("[http]\nkeys = 'keys'\nthreads = 0\nbody_mib = 1\n")
        process.send_signal(signal.SIGHUP)
        log.wait("no changes were applied", "http.threads")
        expect([sees(url, x) for x in ("ann", "eve")] == [200, 401])
        # Nothing is applied if the file of keys is invalid.
        (program.folder / "keys").write_text("nonsense\n")
        write("[http]\nkeys = 'keys'\nbody_mib = 1\n")
        process.send_signal(signal.SIGHUP)
        log.wait("no changes were applied", "keys:1")
        big = "x" * (2 << 20)
        expect(sees(url, "ann") == 200)
        expect(upload(url, key_of("ann"), big) == 400)
        # Settings that can change are applied, and the others are reported by name.
        write_keys("ann", "eve")
        write("[http]\nkeys = 'keys'\nbody_mib = 1\nthreads = 3\n"
              "[limits]\nsteps = 10\n[log]\nlevel = 'debug'\n")
        process.send_signal(signal.SIGHUP)
        log.wait("http.body_mib is 1, was 64")
        log.wait("http.threads is 3", "until a restart")
        log.wait("limits.steps is 10", "until a restart")
        log.wait("http.keys, with 2 keys")
        expect([sees(url, x) for x in ("ann", "bob", "eve")] == [200, 401, 200])
        expect(upload(url, key_of("ann"), big) == 413)
        level = json.loads(ask(url, "/v1/admin/log", key_of("ann"))[1])
        expect(level == {"level": "debug"}, level)
        expect(process.poll() is None)
        process.send_signal(signal.SIGTERM)
        expect(process.wait(PATIENCE_S) == 0)
    finally:
        process.kill()
        process.wait()


def upload(url, headers, body):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request("POST", "/v1/jobs", body, headers)
    return connection.getresponse().status


def case_the_end_of_its_terminal_ends_it(program):
    master, slave = os.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = program.start(
        ["serve", "--json", "--listen", "127.0.0.1:0", "--set",
         "devices=[{name='cpu:0',executor='test_card'}]"],
        preexec_fn=take_terminal)
    os.close(slave)
    try:
        expect(process.stdout.readline(), "it did not start")
        log = Lines(process)
        process.send_signal(signal.SIGHUP)
        log.wait("read again")
        expect(process.poll() is None, "a hangup by hand ended it")
        os.close(master)
        expect(process.wait(PATIENCE_S) == 0, process.returncode)
    finally:
        process.kill()
        process.wait()


def case_a_load_on_a_server_shows_its_queue(program):
    with server(program, "--set", "devices=[{name='cpu:0',executor='test_card',"
                "test_card_step_ms=5,seats=1,max_batch=1}]") as (process, told):
        code, out, err = program.run(
            ["bench", "serve", "--server", told["url"], "--rate", "200",
             "--requests", "10", "--json"])
        expect(code == 0, out, err)
        load = json.loads(out)
        expect(load["answered"] == 10 and load["queue_ms"]["max"] > 0, load)
        expect(load["queue_ms"]["max"] <= load["latency_ms"]["max"], load)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_remote", all_cases()))
