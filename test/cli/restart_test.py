# SPDX-License-Identifier: Apache-2.0
"""Ends a server under load and starts the next one with its data.

Usage: restart_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import http.client
import json
import pathlib
import shutil
import signal
import sqlite3
import sys
import threading
import urllib.parse

from process_test import PATIENCE_S, expect, main
from serve_test import CARD, ask, by_openai, call, end_of, server
from journal_test import JOURNAL, Jobs, journal_file

FIXTURES = pathlib.Path(__file__).resolve().parent / "journals"


def refused(url, path, body):
    """Returns the status, code and Retry-After of a call that requests work."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request("POST", path, json.dumps(body))
    reply = connection.getresponse()
    error = json.loads(reply.read())["error"]
    connection.close()
    return (reply.status, error if isinstance(error, str) else error["code"],
            int(reply.headers["Retry-After"]))


def case_it_finishes_what_it_took_and_says_that_it_drains(program):
    jobs = Jobs()
    with server(program, *JOURNAL, "--set", "devices[0].test_card_step_ms=20",
                "--set", "processes.grace_ms=60000") as (process, told):
        url = told["url"]
        before = json.loads(ask(url)[1])
        expect(before["draining"] is False and "drain_left_s" not in before,
               before)
        jobs.hand_in(url, 12)
        drawn = []
        waits = threading.Thread(target=lambda: drawn.append(by_openai(url, 3)))
        waits.start()
        program.wait_for(
            lambda: json.loads(ask(url)[1])["accepted"] >= 17, process)
        process.send_signal(signal.SIGTERM)
        program.wait_for(
            lambda: json.loads(ask(url)[1])["status"] == "draining", process)
        status, text = ask(url)
        health = json.loads(text)
        expect(status == 503 and health["draining"] is True
               and 0 < health["drain_left_s"] <= 60, health)
        small = {"prompt": "a", "steps": 1}
        for path in ("/v1/jobs", "/v1/images/generations",
                     "/sdapi/v1/txt2img"):
            expect(refused(url, path, small) == (503, "stopping", 5), path)
        # The drain of a server that is ending cannot be undone.
        call(url, "DELETE", "/v1/admin/drain")
        expect(json.loads(ask(url)[1])["status"] == "draining")
        waits.join()
        expect(drawn[0][0] is not None, drawn)
        code = process.wait(PATIENCE_S)
        expect(code == 0, code)
    jobs.draw_undisturbed(program)
    # Everything was finished, so there is nothing to draw.
    with server(program, *JOURNAL) as (process, told):
        expect(json.loads(ask(told["url"])[1])["accepted"] == 0)
        jobs.check(told["url"])
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_what_it_does_not_finish_in_time_is_the_next_ones(program):
    jobs = Jobs()
    slow = [*JOURNAL, "--set", "devices[0].test_card_step_ms=20"]
    with server(program, *slow, "--set", "processes.grace_ms=300") as (process,
                                                                      told):
        jobs.hand_in(told["url"], 20)
        code, err = end_of(process, signal.SIGTERM)
        expect(code == 0, code, err)
    with sqlite3.connect(journal_file(program)) as journal:
        left, = journal.execute(
            "SELECT count(*) FROM job WHERE ended IS NULL").fetchone()
    journal.close()
    expect(left > 0, left)
    jobs.draw_undisturbed(program)
    with server(program, *slow) as (process, told):
        jobs.check(told["url"])
        # /health reads the engine's state only from time to time.
        program.wait_for(
            lambda: json.loads(ask(told["url"])[1])["answered"] >= left,
            process)
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def prepare(program, name):
    """Makes the data folder with that journal."""
    file = journal_file(program)
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(FIXTURES / name, file)
    file.chmod(0o600)
    return file


def case_journals_of_older_builds_are_drawn(program):
    known = sorted(x.stem for x in FIXTURES.glob("*.sqlite"))
    expect(known and known[0] == "version_1", known)
    for name in known:
        shutil.rmtree(program.folder / "data", ignore_errors=True)
        prepare(program, name + ".sqlite")
        want = json.loads((FIXTURES / f"{name}.json").read_text())
        with server(program, *JOURNAL) as (process, told):
            url = told["url"]
            for job in want["open"]:
                got = Jobs.pictures(url, job["id"])
                calm = draw_alone(url, job)
                expect(got == calm, name, job["id"], "another picture")
            # The next server also treats the same call as the same job.
            first = want["open"][0]
            status, again = post(url, first["body"], first["key"])
            expect(status == 202 and again["id"] == first["id"], status, again)
            expect(end_of(process, signal.SIGTERM)[0] == 0)
        with server(program, *JOURNAL, "--set",
                    "http.results_s=1") as (process, told):
            for job in want["ended"]:
                # The job is known as an earlier one that is no longer kept.
                path = f"/v1/jobs/{job}"
                program.wait_for(
                    lambda path=path: call(told["url"], "GET", path)[0] == 410,
                    process)
            expect(end_of(process, signal.SIGTERM)[0] == 0)


def post(url, body, key):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port,
                                            timeout=PATIENCE_S)
    connection.request("POST", "/v1/jobs", json.dumps(body),
                       {"Content-Type": "application/json",
                        "Idempotency-Key": key})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def draw_alone(url, job):
    """Returns the images of the same call without its name and key."""
    body = {k: v for k, v in job["body"].items() if k != "id"}
    status, text = call(url, "POST", "/v1/jobs", body)
    expect(status == 202, status, text)
    return Jobs.pictures(url, json.loads(text)["id"])


def case_a_journal_of_a_newer_build_is_refused_and_left_alone(program):
    file = prepare(program, "version_1.sqlite")
    with contextlib.closing(sqlite3.connect(file)) as journal:
        version, = journal.execute("PRAGMA user_version").fetchone()
        expect(version == 1, version)
        journal.execute("PRAGMA user_version = 1000")
        journal.commit()
    before = file.read_bytes()
    code, _, err = program.run(["serve", *CARD, *JOURNAL])
    expect(code == 2 and "version 1000" in err and str(file) in err, code, err)
    expect(file.read_bytes() == before)


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_restart", all_cases()))
