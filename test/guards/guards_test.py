# SPDX-License-Identifier: Apache-2.0
"""Checks that the guards notice the changes that they guard against.

Usage: guards_test.py [--report FILE]
"""
import argparse
import pathlib
import random
import re
import sys
import tempfile
import traceback

import cases
import image_cases
import images
import includes
import machine
import names
import places
import simulation_cases
import simulations
import suite

INTEL = "vendor_id : A\nflags : fpu sse2 avx2 fma avx512f\n"
ALONE = image_cases.Case("one", "tiny", ())
TWIN = image_cases.Case("other", "tiny", (), equals="one")


def image(pixels, text="Steps: 4"):
    return {"pixels": pixels, "text": text}


RECORD = {"images": {"one": image("aa"), "other": image("aa")}}


def expect(condition, *what):
    assert condition, " ".join(str(x) for x in what)


def case_other_pixels_are_noticed_on_a_like_machine():
    drawn = {"one": image("bb")}
    expect(images.judge(ALONE, drawn, RECORD, True)
           == ["pixels bb, recorded aa"])
    expect(images.judge(ALONE, drawn, RECORD, False) == [])
    expect(images.judge(ALONE, {"one": image("aa")}, RECORD, True) == [])


def case_equal_images_are_compared_on_every_machine():
    drawn = {"one": image("bb"), "other": image("cc")}
    expect(images.judge(TWIN, drawn, RECORD, False)
           == ["other pixels than 'one'"])
    drawn["one"] = "exit status 1"
    expect(images.judge(TWIN, drawn, RECORD, False)
           == ["other pixels than 'one'"])
    expect(images.judge(ALONE, drawn, RECORD, False) == ["exit status 1"])


def case_other_metadata_is_noticed_on_every_machine():
    found = images.judge(ALONE, {"one": image("aa", "Steps: 5")}, RECORD, False)
    expect(len(found) == 1 and "Steps: 5" in found[0], found)


def case_version_and_prose_of_the_metadata_are_left_out():
    text = 'Steps: 4, RNG: CPU, Notes: "a, \\"b\\": c", Version: Atelier 1.0'
    found = images.NOT_RECORDED.sub("", text)
    expect(found == "Steps: 4, RNG: CPU", found)


def case_an_image_without_a_record_is_noticed():
    found = images.judge(ALONE, {"one": image("aa")}, {"images": {}}, True)
    expect(found == ["is not recorded: record.py images"], found)


def case_another_processor_is_told_by_its_flags():
    now = machine.processor(INTEL)
    expect(now == {"processor": "A", "flags": ["avx2", "avx512f", "fma",
                                               "sse2"]}, now)
    other = machine.processor(INTEL.replace("avx512f", "avx512_bf16"))
    found = machine.differences(now, other)
    expect(found == ["flags: without avx512f, with avx512_bf16 besides"], found)
    expect(machine.differences(now, now) == [])
    found = machine.differences(now | {"libtorch": "2.12"},
                                now | {"libtorch": "2.13"})
    expect(found == ["libtorch: 2.13, recorded with 2.12"], found)


def case_another_digest_is_noticed():
    before = {"vanilla": {"digest": "a", "events": 1}}
    found = simulations.judge({"vanilla": {"digest": "b", "events": 1}}, before)
    expect(found == ["vanilla: digest b, recorded a"], found)
    expect(simulations.judge({}, before) == ["vanilla: is gone"])
    expect(simulations.judge(before, {}) == ["vanilla: is new"])
    expect(simulations.judge("exit status 2", before) == ["exit status 2"])
    expect(simulations.judge(before, before) == [])


def case_a_planted_file_that_names_the_sampler_is_counted():
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        root = pathlib.Path(folder)
        for name in ("gpu/dpmpp_2m.cpp", "test/a.cpp", "docs/a.txt", "a.md",
                     "gpu/other.cpp", "build/a.cpp", ".git/a", "gpu/test/b.cpp"):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("DPM++ 2M" if name != "gpu/other.cpp" else "ddim")
        found = names.find(root)["sampler dpmpp_2m"]
        expect(found == ["gpu/test/b.cpp"], found)
        (root / "gpu" / "other.cpp").write_text("DPMSolverMultistepScheduler")
        found = names.find(root)["sampler dpmpp_2m"]
        expect(len(found) == 2, found)
        expect(names.judge(found, 2) == [])
        expect("named in 2 files, recorded 1" in names.judge(found, 1)[0])


def case_counts_are_read_beside_comments():
    found = names.read_counts("# a\nstage x 3\n\npolicy y 4\n")
    expect(found == {"stage x": 3, "policy y": 4}, found)
    expect(set(names.read_counts(places.COUNTS.read_text()))
           == set(names.THINGS) | set(includes.THINGS))


def case_entries_into_detail_and_circles_of_folders_are_counted():
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        root = pathlib.Path(folder)
        for name, headers in (
                ("gpu/a/detail/x.hpp", ["gpu/a/y.hpp"]),
                ("gpu/a/y.hpp", []),
                ("gpu/a/below/z.cpp", ["gpu/a/detail/x.hpp"]),
                ("gpu/b/u.hpp", ["gpu/a/y.hpp"]),
                ("gpu/v.cpp", ["gpu/b/u.hpp"]),
                ("test/t.cpp", ["gpu/a/detail/x.hpp"])):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"#include <atelier/{x}>\n" for x in headers))
        found = includes.find(names.sources(root))
        expect(found == {includes.ENTRIES: [], includes.CIRCLE: []}, found)
        (root / "gpu/b/u.hpp").write_text("#include <atelier/gpu/a/detail/x.hpp>\n")
        (root / "gpu/a/y.hpp").write_text("#include <atelier/gpu/b/u.hpp>\n")
        found = includes.find(names.sources(root))
        expect(found[includes.ENTRIES] == ["gpu/b/u.hpp -> gpu/a/detail/x.hpp"], found)
        expect(found[includes.CIRCLE] == ["gpu/a", "gpu/b"], found)
        expect("1, recorded 0" in includes.judge(found[includes.ENTRIES], 0)[0])
        expect(includes.judge(found[includes.CIRCLE], 2) == [])


def case_content_of_boost_has_full_names():
    text = "a_test*\n    one*: says\n    inner*\n        two*\nb_test*\n    one*\n"
    found = cases.read_content(text)
    expect(found == ["a_test/one", "a_test/inner/two", "b_test/one"], found)


def case_cases_of_scripts_are_found():
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        script = pathlib.Path(folder, "x_test.py")
        script.write_text("def case_b(): pass\ndef f(): pass\n")
        expect(cases.python_cases(script) == ["b"])
        script.write_text("def all_cases():\n    yield 'line 3: ls', None\n")
        expect(cases.python_cases(script) == ["ls"])
        script.write_text("def f():\n  def g(): pass\n  served.run([g])\n")
        expect(cases.python_cases(script) == ["g"])
        script.write_text("print(1)\n")
        expect(cases.python_cases(script) == [])


def case_every_test_file_is_compiled():
    named = set()
    for pattern in ("CMakeLists.txt", "*.cmake"):
        for x in places.TESTS.rglob(pattern):
            named |= {(x.parent / word).resolve() for word in re.findall(
                r"(?:(?<=\s)|(?<=DIR\}/))[\w/.]+_test\.cpp", x.read_text())}
    left = [str(x) for x in places.TESTS.rglob("*_test.cpp") if x not in named]
    expect(not left, "in no list of sources:", left)


def case_a_share_of_the_images_is_chosen_with_their_twins():
    groups = image_cases.groups()
    total = sum(map(len, groups))
    expect(total == 60 == len(image_cases.all_cases()), total)
    some = suite.choose(groups, 12, 0.01, random.Random(1))
    expect(12 <= sum(map(len, some)) <= 16, some)
    expect(some == suite.choose(groups, 12, 0.01, random.Random(1)))
    expect(some != suite.choose(groups, 12, 0.01, random.Random(2)))
    expect(suite.choose(groups, 12, 1, random.Random(1)) == groups)


def case_every_sampler_and_policy_is_guarded():
    drawn = {a for x in image_cases.all_cases() for a in x.arguments}
    expect(set(image_cases.SAMPLERS) <= drawn)
    families = {"vanilla", "atelier", "argus", "diffserve", "nirvana", "modm",
                "instgenie", "fixed"}
    run = {p for x in simulation_cases.CASES for p in x.policies}
    expect(families <= run and len(simulation_cases.CASES) == 12, run)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    out = suite.Suite("guards_notice")
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            faults = []
            try:
                case()
            except Exception:  # any exception of a case is its failure
                faults = [traceback.format_exc()]
            out.add(name.removeprefix("case_"), faults)
    return out.end(options.report)


if __name__ == "__main__":
    sys.exit(main())
