# SPDX-License-Identifier: Apache-2.0
"""Fill a cache's folder and a server's cache from a list of prompts, and look at
the entries, as an operator would.

Usage: cache_warm_test.py --program ATELIER --report FILE [--only PART]
"""
import contextlib
import json
import re
import signal
import sys

from process_test import PATIENCE_S, expect, main
from profile_cache_test import measured
from serve_test import ask, end_of

CARD = "devices=[{name='cpu:0',executor='test_card',variants=['card@10']}]"
SLOW = CARD.replace("'test_card',", "'test_card',test_card_step_ms=50,")
PROMPTS = ["a small red circle at the top left",
           "three blue cubes under water", "a green owl on a branch"]


def settings(device=CARD, folder="cache"):
    return ["--set", device, "--set", "policy.name='nirvana'",
            "--set", "planner.profile='p.json'", "--set", "cache.memory_mib=16",
            "--set", f"cache.folder='{folder}'",
            "--set", "arena.capture_slots=8",
            "--set", "scheduler.facts_ms=5000"]


def prepare(program, skips=(25,)):
    """A profile by which similar prompts start from states, and a list."""
    measured(program, "--captions", "10", "--stored", "2")
    x = json.loads((program.folder / "p.json").read_text())
    x["reuse"]["latents"] = [{"skip": skip, "similarity": 0.4}
                             for skip in skips]
    (program.folder / "p.json").write_text(json.dumps(x))
    (program.folder / "list").write_text("\n".join(PROMPTS) + "\n")


def warm(program, *more, status=0, set=None, text=None):
    code, out, err = program.run(
        ["cache", "warm", "--json", *(settings() if set is None else set),
         *(() if "--size" in more else ("--size", "64x64")),
         *(() if "--prompts" in more else ("--prompts", "list")), *more],
        text=text)
    expect(code == status, code, out, err)
    return json.loads(out) if out else {}, err


@contextlib.contextmanager
def serving(program, *more, device=CARD, folder="cache"):
    process = program.start(["serve", "--json", *settings(device, folder),
                             "--listen", "127.0.0.1:0", *more])
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate())
        yield process, json.loads(line)["url"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def drawn(program, url, prompt, *more):
    code, out, err = program.run(
        ["generate", prompt, "--server", url,
         *(() if "--size" in more else ("--size", "64x64")),
         *(() if "--cache" in more else ("--cache", "read")),
         "--json", "-o", "x.png", "--force", *more])
    expect(code == 0, code, err)
    return json.loads(out)


def reused(program, url, prompt, *more):
    """The answer that started from earlier work; one in fifty does not."""
    for _ in range(20):
        x = drawn(program, url, prompt, *more)
        if "reused" in x:
            return x
    raise AssertionError(x)


def entries(url, query="", headers=None):
    status, text = ask(url, "/v1/admin/caches/entries" + query, headers)
    expect(status == 200, status, text)
    return json.loads(text)


def case_a_list_fills_the_folder_that_a_server_starts_from(program):
    prepare(program)
    told, _ = warm(program)
    expect(told == {"prompts": 3, "there": 0, "drawn": 3, "kept": 3}, told)
    code, out, err = program.run(["cache", "verify", "--json", "--folder",
                                  "cache"])
    expect(code == 0 and json.loads(out)["entries"] == 3, out, err)
    # What is there is not drawn again; a repeated prompt is drawn once.
    (program.folder / "list").write_text(
        "\n".join([*PROMPTS, "a yellow sun", "a yellow sun"]))
    told, _ = warm(program)
    expect(told == {"prompts": 5, "there": 4, "drawn": 1, "kept": 1}, told)
    # Another size is other work.
    told, _ = warm(program, "--size", "96x64", "--prompts", "-",
                   text=PROMPTS[0].encode())
    expect(told == {"prompts": 1, "there": 0, "drawn": 1, "kept": 1}, told)
    with serving(program) as (process, url):
        x = reused(program, url, "a large red circle at the top left")
        expect(x["route"] == "latent, K=5" and x["steps_run"] == 5, x)
        # The note, which the file has too, tells it to people.
        note = x["notes"][0]["text"]
        for part in (f"entry {x['reused']['entry']}", "route 'latent, K=5'",
                     "left out 5 of 10 steps",
                     f"similarity {x['reused']['similarity']:.3f}"):
            expect(part in note, part, note)
        file = (program.folder / "x.png").read_bytes()
        expect(note.encode() in file, note)
        # Numbers do not count entries; they have the order of the list alone.
        entry = next(each for each in entries(url, "?limit=1000")["data"]
                     if each["entry"] == x["reused"]["entry"])
        expect(entry["prompt"] == PROMPTS[0] and entry["steps"] == [5]
               and entry["model"] == "card" and entry["variant"] == "card@10"
               and entry["size"] == "64x64" and entry["answers"] >= 1
               and entry["saved_steps"] >= 5 and entry["tenant"] == ""
               and entry["key"] == "" and entry["age_s"] < 3600, entry)
        expect(re.search(r'atelier_reuse_total\{kind="latent"\} [1-9]',
                         ask(url, "/metrics")[1]), "no metric")
        expect(end_of(process, signal.SIGTERM)[0] == 0)


def case_entries_are_listed_page_by_page(program):
    prepare(program)
    warm(program)
    with serving(program) as (_, url):
        first = entries(url, "?limit=2")
        expect(first["has_more"] and len(first["data"]) == 2, first)
        last = first["data"][-1]["entry"]
        rest = entries(url, f"?limit=2&after={last}")
        expect(not rest["has_more"], rest)
        expect(sorted(x["prompt"] for x in first["data"] + rest["data"])
               == sorted(PROMPTS), first, rest)
        expect(entries(url, "?key=nobody")["data"] == [])
        status, text = ask(url, "/v1/admin/caches/entries?limit=0")
        expect(status == 400 and "limit '0'" in text, status, text)
        # The plan has its reasons.
        plan = json.loads(ask(url, "/v1/admin/plan")[1])
        expect(any("thresholds" in x for x in plan["reasons"]), plan)


def case_a_callers_similarity_is_above_the_threshold(program):
    prepare(program)
    warm(program)
    near = "a large red circle at the top left"
    with serving(program) as (_, url):
        least = reused(program, url, near)["reused"]["similarity"]
        expect(0.4 < least < 0.99, least)
        x = reused(program, url, near, "--cache-similarity",
                   f"{least - 0.01:.3f}")
        expect(x["reused"]["similarity"] >= least - 0.01, x)
        for _ in range(5):
            x = drawn(program, url, near, "--cache-similarity",
                      f"{least + 0.01:.3f}")
            expect(x["route"] == "scratch", x)
        code, _, err = program.run(
            ["generate", near, "--server", url, "--size", "64x64",
             "--cache-similarity", "0.2", "-o", "y.png"])
        expect(code == 2 and "cache_similarity 0.2 outside 0.4..1" in err, code,
               err)
        code, _, err = program.run(
            ["generate", near, "--server", url, "--size", "64x64", "--cache",
             "write", "--cache-similarity", "0.8", "-o", "y.png"])
        expect(code == 2 and "has no effect with cache 'write'" in err, code,
               err)


def case_a_key_has_a_cache_of_its_own(program):
    prepare(program)
    told, _ = warm(program, "--key", "alice")
    expect(told["kept"] == 3, told)
    # The work of another key is other work.
    told, _ = warm(program)
    expect(told["there"] == 0 and told["kept"] == 3, told)
    code, out, err = program.run(
        ["cache", "clear", "--json", "--key", "alice", "--folder", "cache"])
    expect(code == 0 and json.loads(out) == {"removed": 3}, out, err)
    told, _ = warm(program, "--key", "alice")
    expect(told["there"] == 0, told)
    code, out, err = program.run(
        ["cache", "clear", "--json", "--older-than", "30d", "--folder",
         "cache"])
    expect(code == 0 and json.loads(out) == {"removed": 0}, out, err)


def case_a_server_is_filled_by_requests(program):
    prepare(program)
    with serving(program) as (process, url):
        told, err = warm(program, "--server", url, set=[])
        expect(told == {"prompts": 3, "there": 0, "drawn": 3}, told, err)
        program.wait_for(lambda: len(entries(url)["data"]) == 3, process)
        expect(sorted(x["prompt"] for x in entries(url)["data"])
               == sorted(PROMPTS), entries(url))
        # Its folder is its own.
        told, err = warm(program, status=3)
        expect("is in use by process" in err, err)
    with serving(program, "--set", "cache.memory_mib=0", "--set",
                 "cache.folder=''") as (_, url):
        _, err = warm(program, "--server", url, set=[], status=2)
        expect("has no cache" in err, err)
    _, err = warm(program, "--server", "http://127.0.0.1:9", set=[], status=3)
    expect("127.0.0.1:9" in err, err)


def case_a_run_that_was_interrupted_goes_on(program):
    prepare(program)
    (program.folder / "list").write_text(
        "\n".join(f"word{i} word{i + 1} word{i + 2}" for i in range(30)))
    process = program.start(["cache", "warm", "--prompts", "list", "--size",
                             "64x64", "--json", *settings(SLOW)])
    payload = program.folder / "cache" / "payload"
    program.wait_for(
        lambda: payload.exists()
        and sum(x.is_file() for x in payload.rglob("*")) >= 3, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 130, process.returncode, err)
    first = json.loads(out)
    expect(3 <= first["kept"] < 30 and first["drawn"] == first["kept"], first)
    told, _ = warm(program)
    expect(told == {"prompts": 30, "there": first["kept"],
                    "drawn": 30 - first["kept"],
                    "kept": 30 - first["kept"]}, first, told)


def case_what_leaves_for_others_is_named(program):
    prepare(program)
    told, err = warm(program, status=1,
                     set=[*settings(), "--set", "cache.entries=2"])
    expect(told == {"prompts": 3, "there": 0, "drawn": 3, "kept": 2}, told)
    expect("drawn by the route 'scratch', but not kept: cache.disk_mib, "
           "cache.entries" in err, err)


def case_states_of_a_small_arena_are_kept_one_by_one(program):
    prepare(program, skips=(5, 10, 15, 20, 25))
    slots = ["--set", "arena.capture_slots=5"]
    told, _ = warm(program, set=[*settings(), *slots])
    expect(told["kept"] == 3, told)
    _, err = warm(program, status=2,
                  set=[*settings(), "--set", "arena.capture_slots=4"])
    expect("arena.capture_slots: 4 are fewer than the 5 states" in err, err)


def case_what_cannot_be_cached_is_refused_by_name(program):
    prepare(program)
    before = program.files()
    for more, status, pattern in (
            (["--prompts", "none"], 2, r"--prompts: .*none"),
            (["--set", "policy.name='vanilla'"], 2,
             r"policy\.name: 'vanilla' keeps nothing"),
            (["--set", "cache.folder=''"], 2, r"cache\.folder is missing"),
            (["--set", "cache.memory_mib=0"], 2, r"cache\.(folder|memory_mib)"),
            (["--set", "planner.profile=''"], 2, r"no 'reuse'"),
            (["--folder", ""], 2, r"--folder: '' is not a folder"),
            (["--cacert", "x"], 2, r"--cacert: it has no effect without"),
            (["--size", "7"], 2, r"--size"),
            (["--server", "http://127.0.0.1:9", "--folder", "x"], 2,
             r"--folder: the cache of --server"),
            (["--server", "http://127.0.0.1:9", "--policy", "modm"], 2,
             r"--server: --model, --device")):
        code, out, err = program.run(
            ["cache", "warm", "--json", *settings(),
             *(() if "--prompts" in more else ("--prompts", "list")), *more])
        expect(code == status and re.search(pattern, err), more, code, err)
        expect(out == "", out)
    for line, pattern in (
            ('{"prompt":"a","steps":5}', r"standard input:1: steps: a request"),
            ('{"prompt":"a","image":"x"}', r":1: image: the cache keeps"),
            ("a\n...\n", r":2: '\.\.\.' has no word by which"),
            ("", r"standard input has no prompt")):
        code, _, err = program.run(
            ["cache", "warm", "--prompts", "-", *settings()],
            text=line.encode())
        expect(code == 2 and re.search(pattern, err), line, code, err)
    code, _, err = program.run(["cache", "warm", *settings()])
    expect(code == 2 and "--prompts is missing" in err, code, err)
    code, _, err = program.run(["cache", "stats", "--prompts", "list",
                                "--folder", "cache"])
    expect(code == 2 and "--prompts is for 'warm', not for 'stats'" in err,
           code, err)
    expect(program.files() == before, program.files())


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_cache_warm", all_cases()))
