# SPDX-License-Identifier: Apache-2.0
"""Faults around the built program: disks that fill up, clients that never read.

Usage: doors_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from process_test import PATIENCE_S, expect, main  # noqa: E402
from journal_test import Jobs  # noqa: E402
from polling import polled  # noqa: E402
from serve_test import (APIS, CARD, Lines, ask, by_openai,  # noqa: E402
                        server)


def requests():
    return 20 + int(500 * float(os.environ.get("ATELIER_TEST_SCALE") or 0.01))


def on_small_disk(folder, kib, after=""):
    """Returns the words before a command that give it a disk of its own at `folder`."""
    return ["unshare", "-rm", "sh", "-c",
            f'mount -t tmpfs -o size={kib}k none "{folder}" && "$@"; code=$?; '
            f'{after} exit $code', "sh"]


def has_small_disks(folder):
    done = subprocess.run([*on_small_disk(folder, 64), "true"],
                          capture_output=True, check=False)
    return done.returncode == 0


def is_whole_png(file):
    data = file.read_bytes()
    return data.startswith(b"\x89PNG") and data.endswith(b"IEND\xaeB`\x82")


def case_a_disk_that_fills_up_ends_generate_with_whole_files(program):
    out = program.folder / "out"
    out.mkdir()
    if not has_small_disks(out):
        return "skipped"
    count = requests()
    prompts = program.folder / "prompts.txt"
    prompts.write_text("".join(f"circle {n}\n" for n in range(count)))
    seen = program.folder / "seen"
    command = [*on_small_disk(out, 2 * count, f'cp -a "{out}" "{seen}";'),
               program.path, "generate", "--prompts", "prompts.txt", "-o",
               "out", "--size", "64x64", "--steps", "1", "--set",
               "devices=[{name='cpu:0',executor='test_card'}]"]
    done = subprocess.run(command, cwd=program.folder, env=program.environment,
                          capture_output=True, text=True,
                          timeout=10 * PATIENCE_S, check=False)
    expect(done.returncode == 1, done.returncode, done.stderr)
    expect("No space left" in done.stderr and "out/" in done.stderr,
           done.stderr)
    files = sorted(seen.iterdir())
    expect(0 < len(files) < count, len(files))
    for file in files:
        expect(file.suffix == ".png" and is_whole_png(file), file)
    return None


def case_a_disk_that_fills_up_loses_no_picture_of_jobs(program):
    data = program.folder / "data"
    data.mkdir()
    if not has_small_disks(data):
        return "skipped"
    seeds = 4
    # The disk has room for a tenth of the data.
    room = max(64, requests() // 2)
    command = [*on_small_disk(data, room), program.path, "serve", "--json",
               *CARD, "--processes", "single"]
    process = subprocess.Popen(command, cwd=program.folder,
                               env=program.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    told = json.loads(process.stdout.readline())
    try:
        url = told["url"]
        log = Lines(process)
        whole = {seed: by_openai(url, seed)[0] for seed in range(seeds)}
        jobs = []
        for n in range(requests()):
            status, job = Jobs.post(url, {"prompt": "a circle",
                                          "size": "64x64", "seed": n % seeds},
                                    n)
            expect(status == 202, status, job)
            jobs.append(job["id"])
            # Other clients are served meanwhile.
            if n % 10 == 0:
                expect(by_openai(url, n % seeds)[0] == whole[n % seeds], n)
        log.wait("stay in memory", "No space left")
        for n, job in enumerate(jobs):
            expect(Jobs.pictures(url, job) == [whole[n % seeds]], n)
        results = pathlib.Path(f"/proc/{told['pid']}/root{data}/atelier/results")
        files = list(results.iterdir())
        expect(0 < len(files) < len(jobs), len(files))
        for file in files:
            expect(file.suffix == ".picture" and is_whole_png(file), file)
        os.kill(told["pid"], signal.SIGTERM)
        expect(process.wait(PATIENCE_S) == 0, log.all)
        log.thread.join()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(told["pid"], signal.SIGKILL)
        process.wait()
    return None


def resident_bytes(pid):
    with open(f"/proc/{pid}/status") as lines:
        for line in lines:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def is_sanitized(pid):
    """Returns whether a process contains a sanitizer, whose memory counts as the
    process's."""
    with open(f"/proc/{pid}/maps") as lines:
        return "libasan" in lines.read()


def deaf_client(url, text):
    """Opens a client that sends a request and reads nothing."""
    parts = urllib.parse.urlsplit(url)
    it = socket.socket()
    it.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    it.connect((parts.hostname, parts.port))
    it.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        it.send(text.encode())
    return it


def case_clients_that_never_read_stop_nobody(program):
    seeds, deaf, ahead = 4, 12, 20
    mib = 1 << 20
    with server(program, "--processes", "single", "--set", "http.unsent_mib=1",
                "--set", "http.idle_ms=3000") as (process, told):
        url = told["url"]
        whole = {(api, seed): api(url, seed)
                 for api in APIS for seed in range(seeds)}
        # One reply is large, and one job has many events.
        _, large = Jobs.post(url, {"prompt": "a", "size": "512x512", "n": 48,
                                   "steps": 1, "seed": 1}, "large")
        size = sum(map(len, Jobs.pictures(url, large["id"])))
        expect(size * deaf * ahead > 300 * mib, size)
        before = resident_bytes(process.pid)
        one = f"GET /v1/jobs/{large['id']} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        clients = [deaf_client(url, one * ahead) for _ in range(deaf)]
        most = before
        for n in range(requests()):
            if n % 5 == 0:
                _, job = Jobs.post(url, {"prompt": "a", "size": "256x256",
                                         "steps": 40, "preview_every": 1},
                                   f"events {n}")
                clients.append(deaf_client(
                    url, f"GET /v1/jobs/{job['id']}/events?images=b64_json "
                    "HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
            which = APIS[n % len(APIS)], n // len(APIS) % seeds
            expect(which[0](url, which[1]) == whole[which], n)
            most = max(most, resident_bytes(process.pid))
        # Each client may hold the reply that is being sent and the one behind it.
        bound = len(clients) * (2 * size + 2 * mib) + 64 * mib
        expect(most - before < bound or is_sanitized(process.pid),
               (most - before) // mib, bound // mib)

        def left():
            text = ask(url, "/metrics")[1]
            open_now = text.split("\natelier_http_connections ")[1].split()[0]
            # This call itself has a connection.
            return float(open_now) <= 1

        polled(left, "they are held for ever", PATIENCE_S, 0.1)
        for x in clients:
            x.close()
        expect(by_openai(url, 1) == whole[by_openai, 1])
        process.send_signal(signal.SIGTERM)
        expect(process.wait(PATIENCE_S) == 0)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("doors_fault", all_cases()))
