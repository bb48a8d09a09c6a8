# SPDX-License-Identifier: Apache-2.0
"""Kills, ends and starts the built program's server, and asks for its jobs.

Usage: journal_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import http.client
import json
import os
import resource
import signal
import sqlite3
import sys
import urllib.parse

from polling import polled
from process_test import PATIENCE_S, expect, main
from serve_test import CARD, Lines, ask, by_job, by_openai, call, end_of, server


def journal_file(program):
    return program.folder / "data" / "atelier" / "jobs.sqlite"


JOURNAL = ["--set", "http.journal=\"on\""]


class Jobs:
    """Jobs submitted to servers that start and end, with the expected result of
    each."""

    def __init__(self):
        self.all = []

    def hand_in(self, url, count):
        """Submits `count` jobs. Some edit an image, some are of several; each has its
        key."""
        for n in range(len(self.all), len(self.all) + count):
            body = {"prompt": f"a circle {n}", "size": "64x64", "steps": 20,
                    "seed": n}
            if n % 3 == 1:
                body["n"] = 2
            if n % 3 == 2 and self.all[0].get("images"):
                body["image"] = self.all[0]["images"][0]
                body["strength"] = 0.9
            status, job = self.post(url, body, n)
            expect(status == 202, status, job)
            self.all.append({"body": body, "id": job["id"], "n": n})

    @staticmethod
    def post(url, body, n):
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                                timeout=PATIENCE_S)
        connection.request("POST", "/v1/jobs", json.dumps(body),
                           {"Content-Type": "application/json",
                            "Idempotency-Key": f"key {n}"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())

    @staticmethod
    def pictures(url, job):
        def ended():
            status, text = call(url, "GET", f"/v1/jobs/{job}")
            expect(status == 200, status, text)
            seen = json.loads(text)
            return seen if seen["status"] not in ("queued", "running") else None

        seen = polled(ended, f"{job} never ended", PATIENCE_S)
        expect(seen["status"] == "completed", seen)
        return [x["b64_json"] for x in seen["result"]["images"]]

    def draw_undisturbed(self, program):
        """Draws each job with another, undisturbed server."""
        with server(program, "--data", "calm") as (process, told):
            for x in self.all:
                status, job = self.post(told["url"], x["body"], x["n"])
                expect(status == 202, status, job)
                x["images"] = self.pictures(told["url"], job["id"])
            expect(end_of(process, signal.SIGTERM)[0] == 0)

    def check(self, url):
        """Checks that each job has its images, and no other job exists."""
        for x in self.all:
            expect(self.pictures(url, x["id"]) == x["images"],
                   "another picture of", x["id"])
            # The key is known, so that the same call does not make another job.
            status, job = self.post(url, x["body"], x["n"])
            expect(status == 202 and job["id"] == x["id"], status, job)
        listed = json.loads(call(url, "GET", "/v1/jobs?limit=1000")[1])["data"]
        expect(sorted(x["id"] for x in listed)
               == sorted(x["id"] for x in self.all), listed)


def kill_all(process, url):
    """Kills the whole server at once, as a loss of power does."""
    pids = [x["pid"] for x in json.loads(ask(url)[1])["processes"] if x["pid"]]
    for pid in {process.pid, *pids}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)


def case_a_killed_server_draws_its_jobs_after_the_next_start(program):
    rounds = max(2, int(100 * float(os.environ.get("ATELIER_TEST_SCALE")
                                    or 0.01)))
    slow = [*JOURNAL, "--set", "devices[0].test_card_step_ms=4"]
    jobs = Jobs()
    with server(program, *slow) as (process, told):
        jobs.hand_in(told["url"], 2)
        jobs.draw_undisturbed(program)
        expect(journal_file(program).stat().st_mode & 0o777 == 0o600)
        kill_all(process, told["url"])
    for turn in range(rounds):
        with server(program, *slow) as (process, told):
            jobs.hand_in(told["url"], 6)
            # The kill comes before any progress, or in the middle of the work.
            until = (0, 3, 8)[turn % 3]

            def drawn():
                listed = json.loads(call(told["url"], "GET",
                                         "/v1/jobs?limit=1000")[1])["data"]
                return sum(x["pictures_done"] for x in listed) >= until

            program.wait_for(drawn, process)
            kill_all(process, told["url"])
    jobs.draw_undisturbed(program)
    # The jobs also survive an orderly end.
    for _ in range(2):
        with server(program, *slow) as (process, told):
            jobs.check(told["url"])
            code, err = end_of(process, signal.SIGTERM)
            expect(code == 0, code, err)


def case_a_server_that_ends_too_soon_draws_the_rest_after_the_next_start(
        program):
    slow = [*JOURNAL, "--set", "devices[0].test_card_step_ms=20",
            "--set", "processes.grace_ms=100"]
    jobs = Jobs()
    with server(program, *slow) as (process, told):
        jobs.hand_in(told["url"], 12)
        # The last job is still waiting.
        taken_back = jobs.all[-1]["id"]
        expect(call(told["url"], "DELETE", f"/v1/jobs/{taken_back}")[0] == 200)
        code, err = end_of(process, signal.SIGTERM)
        expect(code == 0, code, err)
    with server(program, *slow) as (process, told):
        # It was drawn no further.
        status, text = call(told["url"], "GET", f"/v1/jobs/{taken_back}")
        expect(json.loads(text)["status"] == "cancelled", text)
        jobs.draw_undisturbed(program)
        for x in jobs.all[:-1]:
            expect(jobs.pictures(told["url"], x["id"]) == x["images"], x["id"])
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_an_image_cancelled_alone_is_not_drawn_after_a_kill(program):
    def seen():
        return json.loads(call(told["url"], "GET", f"/v1/jobs/{job}")[1])

    # The job is never drawn, however long the calls take.
    slow = ["--set", "devices[0].test_card_step_ms=1000"]
    with server(program, *JOURNAL, *slow) as (process, told):
        status, text = call(told["url"], "POST", "/v1/jobs",
                            {"prompt": "a", "size": "64x64", "steps": 150,
                             "n": 3, "seed": 5})
        expect(status == 202, text)
        job = json.loads(text)["id"]
        cancel = ["jobs", "cancel", job, "--image", "1", "--json"]
        code, out, err = program.run(cancel)
        expect(code == 0 and json.loads(out)["cancelled_images"] == [1], out,
               err)
        code, out, err = program.run(cancel)
        expect(code == 1 and f"image 1 of job '{job}' has ended" in err, err)
        code, out, err = program.run(["jobs", "cancel", job, "--image", "3"])
        expect(code == 3 and "no image '3'; its images are 0..2" in err, err)
        code, out, err = program.run(["jobs", "--server", told["url"]])
        expect(code == 0 and out.startswith(job + "  ")
               and " 0 of 3 images, 1 cancelled, " in out, out, err)
        # This write also writes the order before it.
        expect(call(told["url"], "POST", "/v1/jobs",
                    {"prompt": "b", "size": "64x64", "steps": 1})[0] == 202)
        kill_all(process, told["url"])
    with server(program, *JOURNAL) as (process, told):
        expect(seen()["cancelled_images"] == [1], seen())
        program.wait_for(lambda: seen()["status"] == "cancelled", process)
        images = seen()["result"]["images"]
        expect([x["seed"] for x in images] == [5, 7], images)
        code, out, err = program.run(["jobs", "cancel", job])
        expect(code == 1 and "has ended" in err, err)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_what_can_be_drawn_no_longer_says_why(program):
    slow = ["--set", "devices[0].test_card_step_ms=50"]
    with server(program, *JOURNAL, *slow) as (process, told):
        status, text = call(told["url"], "POST", "/v1/jobs",
                            {"prompt": "a", "size": "64x64", "steps": 150})
        expect(status == 202, text)
        job = json.loads(text)["id"]
        kill_all(process, told["url"])
    with server(program, *JOURNAL, "--set", "limits.steps=100") as (process,
                                                                   told):
        def seen():
            return json.loads(call(told["url"], "GET", f"/v1/jobs/{job}")[1])

        program.wait_for(lambda: seen()["status"] == "failed", process)
        expect(seen()["error"]["code"] == "invalid_argument"
               and "steps" in seen()["error"]["message"], seen())
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_journal_that_is_none_is_refused_and_left_alone(program):
    file = journal_file(program)
    file.parent.mkdir(parents=True)
    for content in (b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 4096):
        file.write_bytes(content)
        code, out, err = program.run(["serve", *CARD, *JOURNAL])
        expect(code == 2 and str(file) in err, code, err)
        expect(file.read_bytes() == content)
    file.unlink()
    with server(program, *JOURNAL) as (process, told):
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    with sqlite3.connect(file) as journal:
        journal.execute("PRAGMA user_version = 99")
    journal.close()
    code, out, err = program.run(["serve", *CARD, *JOURNAL])
    expect(code == 2 and "version 99" in err and str(file) in err, code, err)
    # A server without the journal still starts.
    with server(program) as (process, told):
        expect(end_of(process, signal.SIGTERM)[0] == 0)
    code, out, err = program.run(["serve", *CARD, *JOURNAL, "--set",
                                  "http.results_disk_mib=0"])
    expect(code == 2 and "http.journal" in err
           and "http.results_disk_mib" in err, code, err)


def case_one_server_has_the_journal(program):
    with server(program, *JOURNAL) as (process, told):
        code, out, err = program.run(["serve", *CARD, *JOURNAL])
        expect(code == 3 and str(journal_file(program)) in err, code, err)
        expect(by_job(told["url"], 1)[0] is not None)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_a_full_disk_refuses_jobs_and_loses_none(program):
    def nothing_large():
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))

    process = program.start(["serve", "--json", *CARD, *JOURNAL, "--processes",
                             "single"], preexec_fn=nothing_large)
    taken = []
    try:
        url = json.loads(process.stdout.readline())["url"]
        log = Lines(process)
        refused = None
        for n in range(400):
            status, text = call(url, "POST", "/v1/jobs",
                                {"prompt": "a" * 900, "size": "64x64",
                                 "steps": 1, "seed": n})
            if status != 202:
                refused = status, json.loads(text)["error"]
                break
            taken.append((n, json.loads(text)["id"]))
        expect(refused is not None and refused[0] == 507
               and refused[1]["code"] == "not_journalled", refused)
        expect(len(taken) > 5, len(taken))
        log.wait("jobs are refused", str(journal_file(program)))
        # Other requests continue.
        expect(by_openai(url, 1)[0] is not None)
        for n, job in taken:
            expect(Jobs.pictures(url, job), job)
    finally:
        process.kill()
        process.wait()
    with server(program, *JOURNAL) as (process, told):
        for n, job in taken:
            expect(Jobs.pictures(told["url"], job), job)
        expect(by_job(told["url"], 1)[0] is not None)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_what_kills_its_process_is_poison_after_a_kill_too(program):
    poison = [*JOURNAL, "--processes", "split", "--set",
              "preprocess.test_crash_seed=666"]
    # The restart takes long enough to be observed.
    slow = ["--set", "processes.restart_first_ms=2000"]

    def restarts(url):
        return [x["restarts"] for x in json.loads(ask(url)[1])["processes"]
                if x["role"] == "cpu"][0]

    def seen(url, job):
        return json.loads(call(url, "GET", f"/v1/jobs/{job}")[1])

    with server(program, *poison, *slow) as (process, told):
        status, text = call(told["url"], "POST", "/v1/jobs",
                            {"prompt": "a", "size": "64x64", "seed": 666})
        expect(status == 202, text)
        job = json.loads(text)["id"]
        # The first trial by itself ended like the first attempt.
        program.wait_for(lambda: restarts(told["url"]) == 2, process)
        kill_all(process, told["url"])
    with sqlite3.connect(journal_file(program)) as journal:
        held = journal.execute("SELECT phase, trials FROM suspicion").fetchall()
    journal.close()
    expect(held == [("preparing", 1)], held)
    with server(program, *poison) as (process, told):
        program.wait_for(lambda: seen(told["url"], job)["status"] == "failed",
                         process)
        expect(seen(told["url"], job)["error"]["code"] == "poison",
               seen(told["url"], job))
        # One trial was left.
        program.wait_for(lambda: restarts(told["url"]) == 1, process)
        expect(by_job(told["url"], 1)[0] is not None)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_journal", all_cases()))
