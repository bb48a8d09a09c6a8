# SPDX-License-Identifier: Apache-2.0
"""Runs what the README shows, in its order, as it is printed there.

Usage: readme_test.py --program ATELIER --source DIR --packages DIR
                      --report FILE [--only PART]

All commands run in one scratch folder that contains the folders of the repository that
they name. `./atelier` is replaced by a stand-in: it runs the built program without
set-up, gives images a seed if the README gives none, so that their content can be
checked, and has servers listen at a free port. Every block of the README is either run
here or listed in ELSEWHERE with the reason; each command has a check in COMMANDS. A
block or command that is in neither, or an entry that is no longer in the README, fails.
PACKAGES is an environment that may have openai and PIL.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import time
import traceback
import urllib.request
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import pixels
import tiny_checkpoint
from process_test import expect
from reader import ADDRESS, PATIENCE_S, SEED, Reader, blocks_of


# Blocks in other languages, and commands, that are not run here, with the reason.
ELSEWHERE = {
    "```cpp": "the test 'install' builds it against an installation",
    "```cmake": "the test 'install' builds a host with it",
    "cmake --build build/release":
        "the test 'install' installs a build of everything",
    "cmake --install build/release --prefix PREFIX":
        "the test 'install' installs the build that is tested",
}

def files_in(reader, folder):
    return sorted(x.name for x in reader.path(folder).iterdir())


def share(rows, is_wanted):
    return pixels.places(rows, is_wanted)[0]


# -- What each command promises -----------------------------------------------


def first_image(reader, command):
    reader.run(command)
    rows = reader.image(f"00000-{SEED}.png")
    red, _, red_y = pixels.places(rows, pixels.is_red)
    blue, _, blue_y = pixels.places(rows, pixels.is_blue)
    expect(red > blue > 0.005, "red", red, "blue", blue)
    expect(red_y < blue_y, "the red one is at", red_y, "blue at", blue_y)
    expect(share(rows, pixels.is_white) > 0.4, "no white background")
    text = reader.path(f"00000-{SEED}.png").read_bytes()
    expect(b"Steps: " in text and b"a large red circle" in text,
           "no parameters in the metadata")


def two_prompts(reader, command):
    reader.run(command)
    seeds = [int(SEED) + i for i in range(4)] * 2
    expect(files_in(reader, "pictures")
           == [f"{i:05}-{s}.png" for i, s in enumerate(seeds)],
           files_in(reader, "pictures"))
    for i, s in enumerate(seeds):
        rows = reader.image(f"pictures/{i:05}-{s}.png")
        is_wanted = pixels.is_red if i < 4 else pixels.is_blue
        expect(share(rows, is_wanted) > 0.01, "image", i)


def ring(reader, command):
    reader.run(command)
    rows = reader.image("ring.webp")
    if rows is None:
        return "skipped"
    expect(share(rows, pixels.is_green) > 0.03, "no green ring")


def red_ring(reader, command):
    reader.run(command)
    rows = reader.image("red.png")
    expect(share(rows, pixels.is_red) > 0.03, "no red ring")
    expect(share(rows, pixels.is_green) < 0.01, "still green")


def prompts_file(reader, command):
    reader.run(command)
    expect(reader.path("prompts.txt").read_text()
           == "a red circle\na blue square\n")


def listed(reader, command):
    out, _ = reader.run(command)
    lines = [json.loads(x) for x in out.splitlines()]
    # Lines arrive in the order in which images are ready.
    expect(sorted(x["prompt"] for x in lines)
           == ["a blue square", "a red circle"], out)
    for x in lines:
        expect(reader.path(x["path"]).exists(), x["path"])
    expect(len(files_in(reader, "listed")) == 2, files_in(reader, "listed"))


def edited(reader, command):
    reader.run(command)
    rows = reader.image("edited.png")
    width, height, left, top = map(int, re.search(
        r"--mask (\d+)x(\d+)\+(\d+)\+(\d+) ", command).groups())
    part = [row[left:left + width] for row in rows[top:top + height]]
    expect(share(part, pixels.is_yellow) > 0.1, "no yellow star")
    expect(share(rows, pixels.is_green) > 0.03, "the ring is gone")
    before = reader.image("ring.webp")
    if before is None:
        return "skipped"
    changed = [(x, y) for y, row in enumerate(rows) for x, p in enumerate(row)
               if p != before[y][x] and not (left <= x < left + width
                                             and top <= y < top + height)]
    expect(not changed, "changed outside the mask:", len(changed), changed[:9])
    return None


def doctor(reader, command):
    out, err = reader.run(command)
    expect("LibTorch" in out, out, err)


def example(reader, command):
    out, _ = reader.run(command)
    expect("127.0.0.1:7860" in out and "[http]" in out, out[:2000])


def serve(reader, command):
    reader.serve(command)
    page = urllib.request.urlopen(reader.url, timeout=PATIENCE_S).read()
    expect(b"<html" in page, page[:300])


def status(reader, command):
    out, _ = reader.run(command)
    expect("ok" in out and "cpu:0" in out, out)


def by_server(reader, command):
    reader.path(f"00000-{SEED}.png").unlink()
    reader.run(command)
    rows = reader.image(f"00000-{SEED}.png")
    expect(share(rows, pixels.is_red) > 0.02, "no red ring")


def topology(reader, command):
    out, _ = reader.run(command)
    expect("cpu:0" in out and "cpu:1" in out, out)


def timeline(reader, command):
    reader.serve(command)
    reader.run("./atelier generate 'a red ring' --server " + reader.url
               + " -o timed.png")
    reader.end_server()
    events = json.loads(reader.path("what-happened.json").read_text())
    expect(len(events["traceEvents"] if isinstance(events, dict)
               else events) > 3, str(events)[:500])


def bench(reader, command):
    out, _ = reader.run(command)
    for row in ("requests", "answered", "refused", "latency", "SLO", "batches"):
        expect(re.search(rf"^{row} ", out, re.MULTILINE), row, "is not in", out)


def checked(reader, command):
    """Copies the smallest shipped model in place of a model that users have."""
    shutil.copytree(reader.options.source / "models" / "tiny",
                    reader.path("stable-diffusion-v1-5"))
    out, _ = reader.run(command)
    expect(re.search(r"^sound: \d+ files, \d+ tensors", out), out)


def own_folder(reader, command):
    reader.run(command)
    reader.image("sd15.png")


def has_vocabulary(reader):
    """Returns whether set-up has downloaded CLIP's vocabulary."""
    return bool(list((reader.options.source / "build").glob(
        "clip-vocabulary/vocab.json")))


def own_file(reader, command):
    """Makes a small model with CLIP's vocabulary, which set-up may have downloaded."""
    if not has_vocabulary(reader):
        return "skipped"
    table = ("cond_stage_model.transformer.text_model.embeddings"
             ".token_embedding.weight")
    reader.path("sd_xl_base_1.0.safetensors").write_bytes(
        tiny_checkpoint.safetensors(tiny_checkpoint.checkpoint(
            more={table: [49408, 64]}, levels=4)))
    reader.run(command)
    reader.image("sdxl.png")
    return None


def imported(reader, command):
    if not has_vocabulary(reader):
        return "skipped"
    reader.run(command)
    out, _ = reader.run("./atelier models list")
    expect(re.search(r"^sdxl ", out, re.MULTILINE), out)
    return None


def profiled(reader, command):
    reader.run(command)
    x = json.loads(reader.path("profile.json").read_text())
    expect(x["format"] == "atelier.profile" and x["variants"][0]["step"], x)


def planned(reader, command):
    out, _ = reader.run(command)
    for part in ("workers", "sd-turbo@1 then sd-v1.5@50, threshold 0.",
                 "class 0: ", "quality/s"):
        expect(part in out, part, "is not in", out)


def simulated(reader, command):
    out, _ = reader.run(command)
    for policy in ("atelier", "diffserve", "diffserve-proteus"):
        row = re.search(rf"^{policy} .*$", out, re.MULTILINE)
        expect(row and " - " in row.group(), policy, out)
    expect(files_in(reader, "out")
           == ["report.html", "series.csv", "summary.json"],
           files_in(reader, "out"))
    page = reader.path("out/report.html").read_text()
    expect("<svg" in page and "Quality of the answers" not in page, page[:500])


def reproduced(reader, command):
    out, _ = reader.run(command)
    expect(out.count("## Nirvana\n") == 1 and "| pass |" in out, out)


COMMANDS = {
    './atelier generate "a large red circle above a small blue star on a white '
    'background"': first_image,
    './atelier generate "a red circle" "a blue square" -n 4 -o pictures/':
        two_prompts,
    './atelier generate "a green ring on a navy background" --steps 20 --seed 7 '
    '-o ring.webp': ring,
    './atelier generate "a red ring on a navy background" --init ring.webp '
    '--strength 0.8 -o red.png': red_ring,
    "./atelier doctor": doctor,
    "./atelier config --example": example,
    "printf '%s\\n' \"a red circle\" \"a blue square\" > prompts.txt":
        prompts_file,
    "./atelier generate --prompts prompts.txt --processes split --json "
    "-o listed/": listed,
    './atelier edit ring.webp --mask 48x48+80+0 "a yellow star in the top right '
    'corner on a navy background" -o edited.png': edited,
    "./atelier serve": serve,
    "./atelier status": status,
    f'./atelier generate "a red ring" --server {ADDRESS}': by_server,
    "./atelier topology config/topologies/two-cpu.toml": topology,
    "./atelier serve --timeline what-happened.json": timeline,
    "./atelier bench serve --model turbo --rate 2 --duration 10 --slo-ms 2000":
        bench,
    "./atelier models check stable-diffusion-v1-5/": checked,
    './atelier generate "a harbour at dawn" --model stable-diffusion-v1-5/ '
    '--dtype bfloat16 -o sd15.png': own_folder,
    './atelier generate "a harbour at dawn" --model sd_xl_base_1.0.safetensors '
    '--steps 30 -o sdxl.png': own_file,
    "./atelier models import sd_xl_base_1.0.safetensors --name sdxl": imported,
    "./atelier profile --model stable-diffusion-v1-5/ -o profile.json":
        profiled,
    "./atelier plan --profiles examples/profiles/diffserve-sd-turbo.json "
    "--demand 20 --workers 16": planned,
    "./atelier simulate --profiles examples/profiles/diffserve-sd-turbo.json "
    "--load ramp:4-32:600 --policy atelier,diffserve,diffserve-proteus -o out":
        simulated,
    "./atelier simulate --reproduce nirvana": reproduced,
}


def run_python(reader, block):
    """Runs against the server that the block before has started."""
    if not reader.has("openai"):
        return "skipped"
    expect(reader.url, "no server runs")
    expect(ADDRESS in block.text, "no address of the server")
    script = reader.path("client.py")
    script.write_text(block.text.replace(ADDRESS, reader.url))
    reader.run(f"{shlex.quote(str(reader.packages))} client.py")
    for i in range(2):
        rows = reader.image(f"answer-{i}.png")
        expect(share(rows, pixels.is_red) > 0.01, "image", i)
    return None


def all_cases(blocks):
    """Returns (name, case) of every block or command, in the README's order."""
    for block in blocks:
        fence = "```" + block.language
        if fence in ELSEWHERE:
            continue
        if block.language == "python":
            yield (f"line {block.line}: python",
                   lambda reader, block=block: run_python(reader, block))
        elif block.language in ("", "sh", "bash"):
            for command in block.commands():
                if command in ELSEWHERE:
                    continue
                if command in COMMANDS:
                    case = (lambda reader, command=command:
                            COMMANDS[command](reader, command))
                else:
                    case = lambda reader: expect(
                        False, "no check for it in COMMANDS, no reason in "
                        "ELSEWHERE")
                yield f"line {block.line}: {command}", case
        else:
            yield (f"line {block.line}: {fence}",
                   lambda reader: expect(False, "neither run nor in ELSEWHERE"))


def check_tables(blocks):
    """Fails if a table names something that the README no longer shows."""
    there = {"```" + x.language for x in blocks}
    there |= {command for x in blocks for command in x.commands()}
    gone = [x for x in [*COMMANDS, *ELSEWHERE] if x not in there]
    expect(not gone, "not in the README:", gone)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.source = options.source.resolve()
    for what, why in ELSEWHERE.items():
        print(f"not run here: {what}: {why}")
    blocks = blocks_of((options.source / "README.md").read_text())

    suite = ElementTree.Element("TestSuite", name="docs_readme")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="readme-") as folder:
        reader = Reader(options, folder)
        cases = [("the tables fit the README",
                  lambda _: check_tables(blocks)), *all_cases(blocks),
                 ("the server ends", lambda reader: reader.end_server())]
        for name, case in cases:
            if options.only not in name:
                continue
            begin = time.monotonic()
            try:
                result = case(reader) or "passed"
            except Exception:  # any exception of a case is its failure
                failures += 1
                result = "failed"
                print(f"failed: {name}\n{traceback.format_exc()}")
            print(f"{result} in {time.monotonic() - begin:.1f} s: {name}",
                  flush=True)
            ElementTree.SubElement(suite, "TestCase", name=name, result=result)
        reader.close()
    if options.report:
        ElementTree.ElementTree(suite).write(options.report)
    print(f"{len(suite)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
