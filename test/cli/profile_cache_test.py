# SPDX-License-Identifier: Apache-2.0
"""Measures which requests may start from earlier work, and serves with the result, as
an operator would.

Usage: profile_cache_test.py --program ATELIER --report FILE [--only PART]
"""
import json
import pathlib
import re
import signal
import sys

from process_test import PATIENCE_S, REPOSITORY, expect, main, needs_models
from serve_test import ask, end_of

CARD = ["--set", "devices=[{name='cpu:0',executor='test_card',"
        "variants=['card@10']}]"]
QUICK = ["--batch", "1", "--steps", "1", "--size", "64x64"]
SKIPS = [5, 10, 15, 20, 25]
SCENES = ["--set", "devices=[{name='cpu:0',variants=['tiny@10']}]"]
BY_IMAGES = ["--set", "cache.memory_mib=16", "--set", "cache.compares='images'",
             "--set", f"cache.encoder='{REPOSITORY}/models/scorer'"]


def measured(program, *more, device=CARD, name="p.json"):
    """Returns the section of a new profile, and the printed text."""
    code, out, err = program.run(["profile", *device, *QUICK, "--cache", "-o",
                                  name, "--force", *more])
    expect(code == 0, code, err)
    return json.loads((program.folder / name).read_text())["reuse"], out


def check_measured(reuse, scorer, stored, resumed, skips):
    by = reuse["measured"]
    expect(by["scorer"] == scorer and by["encoder"] == "words", by)
    expect(re.fullmatch("[0-9a-f]{16}", by["encoder_revision"]), by)
    expect(by["stored"] == stored and by["resumed"] <= resumed, by)
    expect([x["skip"] for x in by["skips"]] == skips, by)
    expect(all(x["images"] == by["resumed"] for x in by["skips"]), by)
    table = reuse["latents"]
    expect({x["skip"] for x in table} <= set(skips), table)
    expect(all(0 <= x["similarity"] < 1 for x in table), table)
    for before, after in zip(table, table[1:]):
        expect(before["skip"] < after["skip"]
               and before["similarity"] <= after["similarity"], table)
    expect(reuse["steps"] == 50, reuse)


def case_thresholds_are_measured_and_written(program):
    reuse, out = measured(program, "--captions", "30", "--stored", "6")
    check_measured(reuse, "pixel correlation", 6, 30, SKIPS)
    expect(reuse["full"] == "card@10" and reuse["measured"]["alpha"] == 0.9,
           reuse)
    expect("compared by words" in out and " 5 of 50 steps skipped" in out, out)
    # Equal seeds measure the same; another share to keep is another measurement.
    again, _ = measured(program, "--captions", "30", "--stored", "6")
    for x in (reuse, again):
        x.pop("retrieval_ms")
    expect(reuse == again, reuse, again)
    other, _ = measured(program, "--captions", "30", "--stored", "6", "--alpha",
                        "0.5", "--seed", "2")
    expect(other["measured"]["alpha"] == 0.5, other)
    expect(other["measured"]["skips"] != reuse["measured"]["skips"], other)
    # A plan shows the deciding figures.
    code, out, err = program.run(["plan", "--profiles", "p.json", "--demand",
                                  "1", "--workers", "1", "--policy", "nirvana"])
    expect(code == 0 and "thresholds measured by pixel correlation" in out, out,
           err)


def case_a_repeated_prompt_keeps_everything(program):
    """Such a request starts from the state that it would have reached itself."""
    prompts = ["a red ball", "blue cubes under water"]
    (program.folder / "prompts").write_text("\n".join(prompts * 6))
    reuse, _ = measured(program, "--prompts", "prompts", "--stored", "2")
    check_measured(reuse, "pixel correlation", 2, 10, SKIPS)
    expect(reuse["measured"]["resumed"] == 10, reuse)
    for x in reuse["measured"]["skips"]:
        expect(abs(x["kept"] - 1) < 1e-6, x)
    expect([x["skip"] for x in reuse["latents"]] == SKIPS, reuse)
    expect(all(0.999 < x["similarity"] < 1 for x in reuse["latents"]), reuse)


def case_what_cannot_be_measured_is_told(program):
    (program.folder / "few").write_text("a\nb\nc\n")
    (program.folder / "unlike").write_text("red ball\nblue cube\n" * 2)
    for arguments, pattern in (
            (["--captions", "3"], r"--captions needs --cache"),
            (["--prompts", "few"], r"--prompts needs --cache"),
            (["--cache", "--captions", "0"], r"--captions: '0'.*1\.\.100000"),
            (["--cache", "--stored", "x"], r"--stored: 'x'"),
            (["--cache", "--alpha", "1.5"], r"--alpha: '1.5'"),
            (["--cache", "--prompts", "none"], r"none"),
            (["--cache", "--prompts", "few", "--stored", "3"],
             r"--prompts: few: 3 prompts are too few: 3 .* \d+ start"),
            (["--cache", "--prompts", "unlike", "--stored", "1", "--captions",
              "1"], r"none of 1 prompts is like one of the 1 before"),
            (["--cache", "--set", "cache.memory_mib=1", "--set",
              "cache.encoder='/nowhere'"], r"cache\.encoder: .*nowhere")):
        code, out, err = program.run(["profile", *CARD, *QUICK, *arguments,
                                      "-o", "p.json"])
        expect(code in (2, 3) and re.search(pattern, err), arguments, code, err)
        expect(out == "" and not (program.folder / "p.json").exists(), out)
    one_step = ["profile", "--set", "devices=[{name='cpu:0',"
                "executor='test_card',variants=['card@1']}]", *QUICK, "--cache"]
    code, _, err = program.run(one_step)
    expect(code == 2 and "at least 2 steps" in err, code, err)
    # The encoder is opened before anything is measured.
    code, _, err = program.run([*one_step, "--set", "cache.memory_mib=1",
                                "--set", "cache.encoder='/nowhere'"])
    expect(code in (2, 3) and "cache.encoder" in err, code, err)


def case_an_interrupt_leaves_no_torn_file(program):
    slow = ["--set", "devices=[{name='cpu:0',executor='test_card',"
            "test_card_step_ms=20,variants=['card@10']}]"]
    (program.folder / "p.json").write_text("mine")
    process = program.start(["profile", *slow, *QUICK, "--cache", "-o",
                             "p.json", "--force"])
    # The work takes a minute, and the device has its own thread.
    threads = pathlib.Path(f"/proc/{process.pid}/task")
    program.wait_for(lambda: len(list(threads.iterdir())) > 1, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 130, process.returncode, err)
    expect(out == b"", out)
    expect((program.folder / "p.json").read_text() == "mine")
    expect(program.files() == ["p.json"], program.files())


def serving(program):
    return [*CARD, "--listen", "127.0.0.1:0", "--set", "policy.name='nirvana'",
            "--set", "planner.profile='p.json'", "--set", "cache.memory_mib=16",
            "--set", "arena.capture_slots=8", "--set",
            "scheduler.facts_ms=5000"]


def route_of(program, url, prompt):
    code, out, err = program.run(
        ["generate", prompt, "--server", url, "--size", "64x64", "--cache",
         "on", "--json", "-o", "x.png", "--force"])
    expect(code == 0, code, err)
    return json.loads(out)["route"]


def routes_by(program, thresholds):
    """Returns the routes of similar prompts on a server with these thresholds."""
    x = json.loads((program.folder / "p.json").read_text())
    x["reuse"]["latents"] = thresholds
    (program.folder / "p.json").write_text(json.dumps(x))
    process = program.start(["serve", "--json", *serving(program)])
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate())
        url = json.loads(line)["url"]
        first = route_of(program, url, "a small red circle at the top left")
        expect(first == "scratch", first)

        def entries():
            caches = json.loads(ask(url, "/v1/admin/caches")[1])
            return caches["earlier_work"]["entries"]

        if thresholds:
            program.wait_for(lambda: entries() > 0, process)
        # One request in fifty is drawn in full, whatever is near.
        routes = [route_of(program, url, f"a {size} red circle at the top left")
                  for size in ("large", "big", "huge")]
        profile = json.loads(ask(url, "/v1/admin/profile")[1])
        expect(profile["reuse"]["latents"] == thresholds, profile["reuse"])
        expect(end_of(process, signal.SIGTERM)[0] == 0)
        return routes
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def case_a_cache_that_is_never_searched_is_told(program):
    for policy, profile, told in (("nirvana", False, "no section reuse"),
                                  ("nirvana", True, None),
                                  ("vanilla", True, "policy 'vanilla' starts")):
        if profile:
            measured(program, "--captions", "10", "--stored", "2")
        code, _, err = program.run(
            ["generate", "a red ball", *CARD, "--size", "64x64", "-o", "x.png",
             "--force", "--set", f"policy.name='{policy}'", "--set",
             "cache.memory_mib=16", "--set", "arena.capture_slots=8",
             *(["--set", "planner.profile='p.json'"] if profile else [])])
        expect(code == 0, code, err)
        if told:
            expect("cache: " in err and told in err, policy, err)
        else:
            expect("cache: " not in err, policy, err)


def case_a_server_goes_by_the_files_thresholds(program):
    measured(program, "--captions", "10", "--stored", "2")
    low = routes_by(program, [{"skip": 25, "similarity": 0.1}])
    expect("latent, K=5" in low, low)
    high = routes_by(program, [{"skip": 25, "similarity": 0.999}])
    expect(set(high) == {"scratch"}, high)
    # By the published table, similar prompts would skip some steps.
    none = routes_by(program, [])
    expect(set(none) == {"scratch"}, none)


def case_a_server_refuses_thresholds_of_another_encoder(program):
    measured(program, "--captions", "10", "--stored", "2")
    file = program.folder / "p.json"
    x = json.loads(file.read_text())
    x["reuse"]["measured"]["encoder"] = "clip"
    x["reuse"]["measured"]["encoder_revision"] = "0123456789abcdef"
    file.write_text(json.dumps(x))
    code, _, err = program.run(["serve", *serving(program)])
    expect(code == 2 and all(part in err for part in (
        "cache.encoder", "'words'", "'clip'", "0123456789abcdef",
        "atelier profile --cache")), code, err)


@needs_models
def case_a_shipped_model_is_measured_by_the_scorer(program):
    if not (REPOSITORY / "models" / "tiny").exists():
        return "skipped"
    program.environment["ATELIER_MODELS"] = str(REPOSITORY / "models")
    code, _, err = program.run(["profile", *SCENES, *QUICK, "--cache",
                                "--captions", "30", "--stored", "6", "-o",
                                "p.json"])
    if code != 0 and "not built in" in err:
        return "skipped"
    expect(code == 0, code, err)
    reuse = json.loads((program.folder / "p.json").read_text())["reuse"]
    check_measured(reuse, "scorer", 6, 30, SKIPS)
    expect(reuse["full"] == "tiny@10", reuse)
    for x in reuse["measured"]["skips"]:
        expect(0.2 < x["kept"] < 2, x)
    # Of the score itself .89 is kept, of the gain over the images of other captions .79:
    # these have half of the score of right ones.
    expect(reuse["measured"]["skips"][-1]["kept"] < 0.84, reuse["measured"])
    return None


def answers_by(program, answers_from):
    """Returns the similarity of a similar prompt's image on a server of `crs` with that
    threshold; none if the prompt was drawn."""
    x = json.loads((program.folder / "p.json").read_text())
    x["reuse"]["answers_from"] = answers_from
    (program.folder / "p.json").write_text(json.dumps(x))
    process = program.start(
        ["serve", "--json", "--listen", "127.0.0.1:0", *SCENES, *BY_IMAGES, "--set",
         "policy.name='crs'", "--set", "planner.profile='p.json'", "--set",
         "scheduler.facts_ms=5000", "--set", "arena.capture_slots=8"])
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate())
        url = json.loads(line)["url"]

        def drawn(prompt):
            code, out, err = program.run(["generate", prompt, "--server", url, "--cache",
                                          "on", "--json", "-o", "x.png", "--force"])
            expect(code == 0, code, err)
            return json.loads(out).get("reused")

        expect(drawn("a large red circle on a white background") is None)
        program.wait_for(lambda: json.loads(ask(url, "/v1/admin/caches")[1])
                         ["earlier_work"]["entries"] > 0, process)
        found = drawn("a big red disc on a white background")
        plan = json.loads(ask(url, "/v1/admin/plan")[1])
        expect(any(f"from similarity {answers_from:.3f} on: measured by scorer" in x
                   for x in plan["reasons"]), plan["reasons"])
        expect(end_of(process, signal.SIGTERM)[0] == 0)
        return found and found["similarity"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@needs_models
def case_images_are_measured_as_answers(program):
    if not (REPOSITORY / "models" / "tiny").exists():
        return "skipped"
    program.environment["ATELIER_MODELS"] = str(REPOSITORY / "models")
    code, out, err = program.run(["profile", *SCENES, *BY_IMAGES, *QUICK, "--cache",
                                  "--captions", "30", "--stored", "6", "-o", "p.json"])
    if code != 0 and "not built in" in err:
        return "skipped"
    expect(code == 0, code, err)
    reuse = json.loads((program.folder / "p.json").read_text())["reuse"]
    by = reuse["measured"]["answers"]
    # The drawn captions repeat some of the six, but show mostly other things.
    expect(1 <= by["images"] <= reuse["measured"]["resumed"] and -1 < by["kept"] < 0.9,
           reuse)
    expect("images of other prompts as answers: keep" in out, out)
    similarity = answers_by(program, 0.05)
    expect(similarity and 0.05 < similarity < 0.98, similarity)
    # Also where the policy's own threshold would take the image.
    expect(answers_by(program, 0.98) is None)
    # Another encoder's similarities would say nothing.
    x = json.loads((program.folder / "p.json").read_text())
    x["reuse"]["measured"]["encoder_revision"] = "0123456789abcdef"
    (program.folder / "p.json").write_text(json.dumps(x))
    code, _, err = program.run(
        ["serve", "--listen", "127.0.0.1:0", *SCENES, *BY_IMAGES, "--set",
         "policy.name='crs'", "--set", "planner.profile='p.json'", "--set",
         "arena.capture_slots=8"])
    expect(code == 2 and "cache.encoder" in err and "0123456789abcdef" in err, code,
           err)
    return None


def all_cases():
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


if __name__ == "__main__":
    sys.exit(main("cli_profile_cache", all_cases()))
