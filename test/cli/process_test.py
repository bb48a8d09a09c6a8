# SPDX-License-Identifier: Apache-2.0
"""Runs the built program with good and bad arguments, as a user would. The file is long
because it is one table of cases beside the few lines that run them.

Usage: process_test.py --program ATELIER --report FILE [--only PART] [--only-models]

With --only-models the cases that a program without LibTorch leaves out are run alone.
It needs only Python's standard library. The report has one TestCase element for each
case, as Boost.Test writes them.
"""
import argparse
import hashlib
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as ElementTree

import tiny_checkpoint
from polling import polled

# What a program works for depends on the machine; a limit ends one that hangs.
PATIENCE_S = 300
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
KEYS = ["path", "seed", "prompt", "model", "variant", "route", "sampler",
        "steps", "steps_run", "width", "height", "drawn_width", "drawn_height",
        "sha256", "timings_ms", "notes"]
TIMINGS = ["queue", "classify", "retrieve", "preprocess", "text", "denoise",
           "decode", "postprocess", "total"]
SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "jpg": b"\xff\xd8\xff",
              "jpeg": b"\xff\xd8\xff", "webp": b"RIFF"}
SLOW = "devices=[{name='cpu:0',test_card_step_ms=50}]"

# Arguments, the exit status, and a pattern for standard error.
BAD = [
    (["generate"], 2, r"PROMPT is missing[\s\S]*Usage: atelier generate"),
    (["generate", "--"], 2, r"PROMPT is missing"),
    (["generat", "a"], 2, r"unknown command 'generat'.*'generate'"),
    (["docter"], 2, r"'doctor'"),
    (["foo", "generate", "a"], 2, r"unknown command 'foo'"),
    (["foo", "bar", "generate", "a red circle", "-o", "two/"], 2,
     r"unknown command 'foo'"),
    (["a red circle", "generate"], 2, r"unknown command 'a red circle'"),
    (["--log", "off", "foo", "generate", "a"], 2, r"unknown command 'foo'"),
    (["stopp"], 2, r"unknown command 'stopp'; the first word is one of"),
    (["help", "generat"], 2, r"'generat'; the nearest is 'generate'"),
    (["generate", "a", "--sede", "1"], 2, r"--sede.*--seed"),
    (["generate", "a", "--seed"], 2, r"--seed"),
    (["generate", "a", "--seed", ""], 2, r"--seed: ''.*0\.\.18446744073709551615"),
    (["generate", "a", "--seed", "-1"], 2, r"--seed: '-1'.*0\.\.1844"),
    (["generate", "a", "--seed", "18446744073709551616"], 2, r"--seed: "),
    (["generate", "a", "--seed", "1", "--seed", "2"], 2, r"--seed"),
    (["generate", "a", "--seed", "18446744073709551615", "-n", "2"], 2,
     r"--seed: .*0\.\.18446744073709551614"),
    (["generate", "a", "-n", "0"], 2, r"-n: '0'.*1\.\."),
    (["generate", "a", "-n", "x"], 2, r"-n: 'x'"),
    (["generate", "a", "-n", "1000000000"], 2, r"-n: "),
    (["generate", "a", "--native-only", "maybe"], 2,
     r"--native-only: 'maybe'.*on.*off"),
    (["generate", "a", "--steps", "0"], 2, r"--steps: '0'.*1\.\.150"),
    (["generate", "a", "--steps", "151"], 2, r"--steps: '151'.*1\.\.150"),
    (["generate", "a", "--steps", "1.5"], 2, r"--steps: '1\.5'"),
    (["generate", "a", "--guidance", "-1"], 2, r"--guidance: '-1'.*0\.\.50"),
    (["generate", "a", "--guidance", "nan"], 2, r"--guidance: 'nan'"),
    (["generate", "a", "--guidance", "51"], 2, r"--guidance: '51'"),
    (["generate", "a", "--guidance-rescale", "2"], 2,
     r"--guidance-rescale: '2'.*0\.\.1"),
    (["generate", "a", "--eta", "x"], 2, r"--eta: 'x'.*0\.\.1"),
    (["generate", "a", "--init", "no.png"], 2, r"--init: .*'no\.png'.*No such"),
    (["generate", "a", "--init", "/etc/passwd"], 2, r"--init: .*neither PNG"),
    (["generate", "a", "--init", "/dev/zero"], 2,
     r"--init: .* is a device, not a regular file"),
    (["generate", "a", "--strength", "0.5"], 2, r"--strength: .*--init"),
    (["generate", "a", "--strength", "0"], 2, r"--strength: '0'.*above 0"),
    (["edit"], 2, r"IMAGE is missing[\s\S]*Usage: atelier edit"),
    (["edit", "a.png", "a"], 2, r"--mask is missing"),
    (["edit", "a.png", "--mask", "m.png"], 2, r"PROMPT is missing"),
    (["edit", "a.png", "--mask", "m.png", "a"], 2,
     r"IMAGE: cannot read 'a\.png'"),
    (["edit", "a.png", "--masc", "m.png", "a"], 2, r"--masc.*--mask"),
    (["generate", "a", "--sampler", "heun"], 2, r"--sampler: 'heun'.*ddim"),
    (["generate", "a", "--size", "100x100"], 2, r"--size: '100x100'.*8"),
    (["generate", "a", "--size", "0x0"], 2, r"--size: "),
    (["generate", "a", "--size", "4096x4096"], 2, r"--size: .*2048"),
    (["generate", "a", "--size", "65"], 2, r"--size: '65'.*one number"),
    (["generate", "a", "--device", "gpu"], 2,
     r"^atelier: --device: .*\"gpu\".*cuda:N"),
    (["profile", "--device", "gpu"], 2, r"^atelier: --device: .*\"gpu\""),
    (["generate", "a", "--cacert", "x.pem"], 2, r"--cacert: .* without --server"),
    (["generate", "a", "--server", "https://localhost:1", "--cacert", "x.pem"],
     3, r"cannot connect"),
    (["serve", "--listen", "here"], 2, r"^atelier: --listen: 'here'.*PORT"),
    (["serve", "--listen", "65536"], 2, r"--listen: '65536'"),
    (["status", "--cacert", "x.pem"], 2, r"--cacert: .* without --server"),
    (["simulate", "--strict"], 2, r"--strict: .* without --reproduce"),
    (["simulate", "--reproduce", "nothing"], 2, r"^atelier: .*'nothing'"),
    (["generate", "a", "--priority", "urgent"], 2, r"--priority: .*high"),
    (["generate", "a", "--rng", "dice"], 2, r"--rng: .*philox"),
    (["generate", "a", "--deadline-ms", "0"], 2, r"--deadline-ms: '0'"),
    (["generate", "a", "--processes", "three"], 2, r"--processes: .*split"),
    (["generate", "a", "--policy", "nosuch"], 2, 
     r"^atelier: --policy: unknown policy 'nosuch'[\s\S]*\n  atelier, argus, "),
    (["generate", "a", "--policy", "clipper-light"], 2,
     r"^atelier: --policy: policy 'clipper-light' is a baseline of Argus, for "
     r"comparisons: 'atelier simulate' and 'atelier plan' take it in --policy"),
    (["generate", "abcde", "--set", "limits.prompt_bytes=4"], 2,
     r"PROMPT: .*5.*4"),
    (["generate", "a", "--negative", "abcde", "--set",
      "limits.prompt_bytes=4"], 2, r"--negative: .*5.*4"),
    (["generate", "a", "--set", "arena.image_slot_kib=4"], 2,
     r"size 256x256 .*4096 \(arena\.image_slot_kib\)"),
    (["generate", "a", "--set", "arena.state_slot_kib=4"], 2,
     r"size 256x256 .*4096 \(arena\.state_slot_kib\)"),
    (["generate", "a", "--processes", "split", "--set", "arena.ring_kib=64"],
     2, r"arena\.ring_kib: 64 .*limits\.prompt_bytes"),
    (["generate", "a", "--processes", "split", "--set",
      "processes.program='/no/such'"], 3, r"processes\.program '/no/such'"),
    (["generate", "a", "--format", "gif"], 2, r"--format: 'gif'.*webp"),
    (["generate", "a", "--quality", "0"], 2, r"--quality: '0'.*1\.\.100"),
    (["generate", "a", "--quality", "101"], 2, r"--quality: "),
    (["generate", "a", "--log", "loud"], 2, r"--log: .*debug"),
    (["generate", "a", "--set", "processes.instruction_set='avx3'"], 2,
     r"processes\.instruction_set.*avx3.*portable.*avx512_bf16"),
    (["generate", "a", "--config", "no.toml"], 2, r"--config: .*no\.toml"),
    (["generate", "a", "--set", "x"], 2, r"--set: 'x'"),
    (["generate", "a", "--set", "limits.stepz=3"], 2, r"limits\.stepz"),
    (["generate", "a", "--set", "limits.steps=0"], 2, r"limits\.steps"),
    (["generate", b"\xff\xfe"], 2, r"PROMPT: .*UTF-8"),
    (["generate", "a", "--negative", b"\xff"], 2, r"--negative: .*UTF-8"),
    (["generate", "a", "-o", "x.gif"], 2, r"-o: 'x\.gif'.*\.png"),
    (["generate", "a", "-o", "x.png", "-n", "2"], 2, r"-o: 'x\.png'.*2 images"),
    (["generate", "a", "b", "-o", "x.png"], 2, r"-o: 'x\.png'.*2 images"),
    (["generate", "a", "-o", "x.png", "--format", "jpeg"], 2, r"--format"),
    (["generate", "a", "-o", ""], 2, r"-o: ''"),
    (["generate", "a", "-o", "-"], 2, r"-o: '-'"),
    (["generate", "a", "-o", "/proc/nowhere/x.png"], 2, r"-o: .*/proc"),
    (["generate", "a", "-o", "/dev/null", "--format", "png", "--force"], 2,
     r"-o: /dev/null is not a regular file"),
    (["generate", "a", "-o", "n" * 300 + ".png"], 2, r"-o: .*n{50}"),
    (["generate", "--prompts", "no.txt"], 2, r"--prompts: .*'no\.txt'"),
    (["generate", "--prompts", "/"], 2, r"--prompts: .*directory"),
    (["generate", "--prompts", "/dev/null"], 2,
     r"--prompts: .* is a device, not a regular file"),
    (["generate", "a", "--model", "no-such-model"], 3, r"no-such-model"),
    (["config", "x"], 2, r"config takes no argument"),
    (["bench"], 2, r"bench: name the benchmark: serve"),
    (["bench", "serve"], 2, r"--trace FILE, --rate R"),
    (["bench", "serve", "--rate", "x"], 2, r"--rate: 'x'"),
    (["bench", "serve", "--rate", "1", "--mix", "colour=red"], 2,
     r"--mix: 'colour=red'.*steps, size"),
    (["bench", "serve", "--rate", "1", "--batching", "all"], 2,
     r"--batching: 'all'.*whole_batch"),
    (["bench", "serve", "--rate", "1", "--server", "http://127.0.0.1:1"], 3,
     r"127\.0\.0\.1"),
    (["topology"], 2, r"FILE is missing"),
    (["topology", "none.toml"], 2, r"none\.toml"),
    (["topology", "none.toml", "-o", "x.png"], 2, r"neither \.svg nor \.txt"),
    (["generate", "a", "--timeline", ""], 2, r"--timeline: '' names no file"),
    (["config", "--set", "limits.steps=0"], 2, r"limits\.steps"),
    (["doctor", "x"], 2, r"doctor takes no argument"),
    (["models", "lst"], 2, r"models: 'lst'.*list, show, import.*'list'"),
    (["models", "list", "x"], 2, r"models list: 1 models named, 0 allowed"),
    (["models", "show"], 2, r"models show: 0 models named, 1 allowed"),
    (["models", "check", "a", "b"], 2, r"models check: 2 models named"),
    (["models", "show", "no-such"], 3,
     r"model 'no-such' was not found.*/models"),
    (["models", "check", "no-such"], 3, r"model 'no-such' was not found"),
    (["models", "import", "no-such"], 3, r"no-such: no such file or folder"),
    (["models", "import", "/dev/null"], 2, r"/dev/null: not a regular file"),
    (["models", "import", "/proc/self/stat", "--name", "x"], 2,
     r"/proc/self/stat: .*header"),
    (["models", "import", "x", "--name", "../x"], 2, r"--name: '\.\./x'"),
    (["models", "import", "x", "--name", ".x"], 2, r"--name: '\.x'"),
    (["models", "import", "x", "--name", ""], 2, r"--name: ''"),
    (["models", "import", "x", "--dtype", "int8"], 2,
     r"--dtype: 'int8'.*bfloat16"),
    (["models", "import", "x", "--prediction", "noise"], 2,
     r"--prediction: 'noise'.*v_prediction"),
    (["models", "list", "--scan"], 2, r"--scan is valid with models check"),
    (["models", "check", "x", "--force"], 2, r"--force is valid with models i"),
    (["models", "show", "x", "--nam", "y"], 2, r"--nam.*--name"),
    (["completion"], 2, r"SHELL is missing: bash, zsh or fish"),
    (["completion", "csh"], 2, r"SHELL: 'csh'.*fish"),
    (["--json"], 2, r"a command is missing"),
    (["train"], 2, r"PART is missing: vae, text, base"),
    (["train", "tiny", "--dir", "nowhere"], 3,
     r"first, or 'atelier train import', which begins|not built in"),
    (["train", "vea"], 2, r"PART: 'vea'.*vae, text, base.*all, export or import"),
    (["train", "vae", "text"], 2, r"PART: 2 words"),
    (["train", "vae", "--minutes", "0"], 2, r"--minutes: '0'.*above 0"),
    (["train", "vae", "--minutes", "x"], 2, r"--minutes: 'x'.*0\.\.100000"),
    (["train", "vae", "--steps", "0"], 2, r"--steps: '0'.*1\.\."),
    (["train", "vae", "--steps", "1", "--minutes", "1"], 2,
     r"--minutes and --steps"),
    (["train", "vae", "--resume", "--force"], 2, r"--resume and --force"),
    (["train", "vae", "--seed", "-1"], 2, r"--seed: '-1'"),
    (["train", "vae", "--threads", "0"], 2, r"--threads: '0'.*1\.\.1024"),
    (["train", "vae", "--dir", ""], 2, r"--dir: ''"),
    (["train", "vae", "--minuts", "1"], 2, r"--minuts.*--minutes"),
    (["train", "export"], 2, r"--output is missing"),
    (["train", "import", "--models", "nowhere"], 3, r"nowhere: no model 'base'"),
    (["train", "vae", "--models", "m"], 2, r"--models: vae does not begin"),
    (["train", "vae", "-o", "d"], 2, r"--output: vae writes no models"),
    (["train", "export", "--dir", "nowhere", "-o", "d"], 3,
     r"nowhere: vae is not trained"),
    (["evaluate", "a"], 2, r"evaluate takes no argument"),
    (["evaluate", "--variants", "base"], 2,
     r"--variants: 'base' is not MODEL@STEPS"),
    (["evaluate", "--variants", "../base@5"], 2, r"'\.\./base@5' is not"),
    (["evaluate", "--variants", "base@0"], 2, r"--variants: '0'.*1\.\.1000"),
    (["evaluate", "--captions", "0"], 2, r"--captions: '0'.*1\.\."),
    (["evaluate", "--starts", "x"], 2, r"--starts: 'x'.*0\.\."),
    (["evaluate", "--guidance", "3,51"], 2, r"--guidance: '51'.*0\.\.50"),
    (["evaluate", "--sampler", "heun"], 2, r"--sampler: 'heun'.*ddim"),
    (["evaluate", "--variants", "a@5,b@5,a@5", "-o", "d"], 2,
     r"a@5-2-ddim would be measured twice"),
    (["evaluate", "--models", "nowhere"], 3, r"nowhere|not built in"),
]

# A configuration file's bytes, and a pattern for standard error. All end with 2.
BROKEN = [
    (b"[limits\n", r"c\.toml:1"),
    (b"[limits]\nsteps = 3\nsteps = 4\n", r"c\.toml:3"),
    (b"\xff\xfe\x00", r"c\.toml"),
    (b"[limits]\nsteps = \x00", r"c\.toml:2"),
    (b"[limits]\nsteps = 'many'\n", r"c\.toml:2: limits\.steps: .*many"),
    (b"[limits]\nsteps = 0\n", r"c\.toml:2: limits\.steps: 0.*1\.\.10000"),
    (b"[limits]\nsteps = 10001\n", r"limits\.steps: 10001.*1\.\.10000"),
    (b"[limits]\nsteps = 1.5\n", r"limits\.steps: 1\.5"),
    (b"[limits]\nsteps = -9223372036854775808\n", r"limits\.steps: -922"),
    (b"[limits]\nsteps = 99999999999999999999\n", r"c\.toml:2"),
    (b"[limits]\nguidance = nan\n", r"limits\.guidance: .*nan.*1\.\.1000"),
    (b"[limits]\nguidance = inf\n", r"limits\.guidance: .*inf.*1\.\.1000"),
    (b"[limits]\nstep = 3\n", r"c\.toml:2: limits\.step: .*steps"),
    (b"[limit]\nsteps = 3\n", r"limit.*limits"),
    (b"limits = 3\n", r"c\.toml:1: limits"),
    (b"limits = []\n", r"c\.toml:1: limits"),
    (b"devices = []\n", r"devices"),
    (b"devices = 7\n", r"devices"),
    (b"[[devices]]\nname = 'cpu:0'\n[[devices]]\nname = 'cpu:0'\n",
     r"devices\[1\]\.name: .*cpu:0"),
    (b"[[devices]]\nname = '../../etc'\n", r"devices\[0\]\.name"),
    (b"[[devices]]\nvariants = ['a@4', 'card']\n",
     r"c\.toml:2: devices\[0\]\.variants: \"card\" is not NAME@STEPS"),
    (b"[[devices]]\nvariants = ['card@2']\n",
     r"devices\[0\]\.variants: .*card@2.*names a model"),
    (b"[[devices]]\nexecutor = 'magic'\n",
     r"devices\[0\]\.executor: .*magic.*test_card"),
    (b"[processes]\nmode = 'triple'\n", r"processes\.mode: .*single.*split"),
    (b"[processes]\nheartbeat_ms = 100\nsilence_ms = 100\n",
     r"processes\.silence_ms"),
    (b"[arena]\nring_kib = 100\n", r"arena\.ring_kib: 100.*power"),
    (b"[arena]\nstate_slots = 4294967297\n", r"arena\.state_slots: 4294967297"),
    (b"a = " + b"[" * 100_000, r"c\.toml"),
    (b"[limits]\n" + b"x" * 1_000_000, r"c\.toml"),
]

# Arguments, and the files that they make.
GOOD = [
    (["a", "-o", "x.png", "--seed", "5"], ["x.png"]),
    (["", "-o", "x.jpg", "--seed", "0"], ["x.jpg"]),
    (["a", "-o", "x.JPEG", "--quality", "1"], ["x.JPEG"]),
    (["a", "-o", "x.webp", "--quality", "100"], ["x.webp"]),
    (["a", "-o", "x.out", "--format", "webp"], ["x.out"]),
    (["a", "--seed", "7"], ["00000-7.png"]),
    (["a", "-o", "d", "--seed", "18446744073709551615"],
     ["d/00000-18446744073709551615.png"]),
    (["a", "b", "-n", "2", "-o", "d/e/", "--seed", "3", "--format", "jpeg"],
     ["d/e/00000-3.jpg", "d/e/00001-4.jpg", "d/e/00002-3.jpg",
      "d/e/00003-4.jpg"]),
    (["-o", "x.png", "--", "--seed"], ["x.png"]),
    (["a \u00e9\u4e16 \U0001f308", "-o", "x.png"], ["x.png"]),
    (["a", "-o", "x.png", "--size", "64x128", "--steps", "3", "--sampler",
      "euler", "--guidance", "0", "--negative", "b", "--priority", "high",
      "--rng", "philox", "--deterministic", "--deadline-ms", "60000"],
     ["x.png"]),
    (["a", "-o", "x.png", "--size", "64"], ["x.png"]),
    (["a", "-o", "x.png", "--size", "64X48"], ["x.png"]),
    (["a", "-o", "x.png", "--size", "auto", "--processes", "single"],
     ["x.png"]),
]


class Program:
    """The program under test, in its own empty folder."""

    def __init__(self, path, folder):
        self.path = path
        self.folder = pathlib.Path(folder)
        self.pids = set()
        # The user's own data must not affect the test.
        self.environment = os.environ | {
            "XDG_DATA_HOME": str(self.folder.resolve() / "data"),
            "ATELIER_MODELS": ""}

    def start(self, arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("env", self.environment)
        process = subprocess.Popen([self.path, *arguments], cwd=self.folder,
                                   **options)
        self.pids.add(process.pid)
        return process

    def run(self, arguments, text=None, **options):
        if text is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(arguments, **options)
        try:
            out, err = process.communicate(text, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError("did not end") from None
        return (process.returncode, (out or b"").decode("utf-8", "replace"),
                (err or b"").decode("utf-8", "replace"))

    def models(self):
        return self.folder / "data" / "atelier" / "models"

    def files(self):
        return sorted(str(x.relative_to(self.folder))
                      for x in self.folder.rglob("*") if not x.is_dir())

    def entries(self):
        return sorted(str(x.relative_to(self.folder))
                      for x in self.folder.rglob("*"))

    def wait_for(self, ready, process):
        """Polls until `ready` holds; fails if the process ends."""
        def looked():
            if ready():
                return True
            assert process.poll() is None, process.communicate()
            return False

        polled(looked, "nothing happened", PATIENCE_S, 0.01)


def needs_models(case):
    """Marks a case that sees something else where LibTorch is built in."""
    case.needs_models = True
    return case


def expect(condition, *what):
    assert condition, " ".join(str(x) for x in what)


def check_bad(program, arguments, status, pattern):
    code, out, err = program.run(arguments)
    expect(code == status, "status", code, "not", status, err)
    expect(re.search(pattern, err), err, "has no", pattern)
    expect(out == "", "standard output has", out)
    expect(program.entries() == [], "left behind:", program.entries())


def check_broken(program, text, pattern):
    (program.folder / "c.toml").write_bytes(text)
    code, out, err = program.run(["generate", "a", "--config", "c.toml"])
    expect(code == 2, "status", code, err[:2000])
    expect(re.search(pattern, err), err[:2000], "has no", pattern)
    expect(len(err) < 10_000, "standard error has", len(err), "bytes")
    expect(out == "", "standard output has", out)
    expect(program.entries() == ["c.toml"], "left behind:", program.entries())


def check_good(program, arguments, files):
    code, out, err = program.run(["generate", "--json", *arguments])
    expect(code == 0, "status", code, err)
    expect(program.files() == sorted(files), program.files())
    objects = [json.loads(line) for line in out.splitlines()]
    expect(sorted(x["path"] for x in objects)
           == sorted(files), out)
    for x in objects:
        expect(list(x) == KEYS, list(x))
        expect(list(x["timings_ms"]) == TIMINGS, list(x["timings_ms"]))
        data = (program.folder / x["path"]).read_bytes()
        expect(x["sha256"] == hashlib.sha256(data).hexdigest(), x["path"])
        suffix = pathlib.Path(x["path"]).suffix[1:].lower()
        signature = SIGNATURES.get(suffix, SIGNATURES["webp"])
        expect(data.startswith(signature), data[:12])


def case_same_seed_same_bytes(program):
    for name in ("a.png", "b.png"):
        code, _, err = program.run(["generate", "a", "-o", name, "--seed", "5",
                                    "--deterministic"])
        expect(code == 0, err)
    first, second = ((program.folder / x).read_bytes()
                     for x in ("a.png", "b.png"))
    expect(first == second, "the pictures differ")


def make_picture(program, name, size, seed):
    code, _, err = program.run(["generate", "a", "-o", name, "--seed",
                                str(seed), "--size", size])
    expect(code == 0, err)


def case_a_picture_is_made_from_another(program):
    make_picture(program, "a.png", "64x48", 1)
    make_picture(program, "b.jpg", "64x48", 2)
    sums = {}
    for name, image, more in (("1.png", "a.png", []), ("2.png", "b.jpg", []),
                              ("3.png", "a.png", ["--strength", "0.25"]),
                              ("4.png", "a.png", ["--processes", "split"]),
                              ("5.webp", "a.png", ["--size", "32x32"])):
        code, out, err = program.run(
            ["generate", "b", "--init", image, "-o", name, "--seed", "5",
             "--json", *more])
        expect(code == 0, err)
        sums[name] = json.loads(out)
    steps = [x["steps_run"] for x in sums.values()]
    expect(steps == [16, 16, 5, 16, 16], steps)
    sizes = [(x["width"], x["height"]) for x in sums.values()]
    expect(sizes == [(64, 48)] * 4 + [(32, 32)], sizes)
    shas = [x["sha256"] for x in sums.values()]
    expect(shas[0] == shas[3] and len(set(shas)) == 4, shas)
    data = (program.folder / "3.png").read_bytes()
    expect(b"Denoising strength: 0.25" in data, "not told in the file")


def case_a_picture_is_edited_under_a_mask(program):
    make_picture(program, "a.png", "64x64", 1)
    make_picture(program, "m.png", "32x32", 2)
    code, out, err = program.run(
        ["edit", "a.png", "--mask", "m.png", "a hat", "-o", "c.png", "--seed",
         "3", "--json", "--sampler", "dpmpp_2m", "--karras"])
    expect(code == 0, err)
    made = json.loads(out)
    expect(made["steps_run"] == 20, out)
    expect(made["notes"] == [{
        "code": "mask_scaled", "text":
        "the mask of 32x32 was scaled to the image's size, 64x64"}], out)
    expect("the mask of 32x32 was scaled" in err, err)
    data = (program.folder / "c.png").read_bytes()
    expect(b"Schedule type: Karras" in data, "not told in the file")
    # The edited image gets no special treatment as an output file.
    code, _, err = program.run(["edit", "a.png", "--mask", "m.png", "a hat",
                                "-o", "a.png"])
    expect(code == 2 and "a.png exists" in err, code, err)


def case_a_part_of_a_picture_is_a_mask(program):
    make_picture(program, "a.png", "64x64", 1)
    sums = []
    for more in (["--mask", "32x32+32+0"], ["--mask", "32x32+0+0"],
                 ["--mask", "32x32+32+0", "--processes", "split"]):
        code, out, err = program.run(
            ["edit", "a.png", *more, "a hat", "-o", "c.png", "--seed", "3",
             "--json", "--force"])
        expect(code == 0 and json.loads(out)["notes"] == [], code, err)
        sums.append(json.loads(out)["sha256"])
    expect(sums[0] == sums[2] != sums[1], sums)
    code, _, err = program.run(["edit", "a.png", "--mask", "32x32+33+0", "a",
                                "-o", "d.png"])
    expect(code == 2 and "--mask: 32x32+33+0 is not a part of the image, which "
           "has 64x64 pixels" in err, code, err)


def case_an_image_that_breaks_off_is_told(program):
    make_picture(program, "a.png", "64x64", 1)
    whole = (program.folder / "a.png").read_bytes()
    (program.folder / "b.png").write_bytes(whole[:len(whole) // 2])
    for mode in ("single", "split"):
        code, _, err = program.run(["generate", "b", "--init", "b.png", "-o",
                                    "c.png", "--processes", mode])
        expect(code == 2, code, err)
        expect(re.search(r"bad_payload: image: png image cannot be read", err),
               err)
    expect(program.files() == ["a.png", "b.png"], program.files())


def case_without_a_seed_it_is_told(program):
    _, out, _ = program.run(["generate", "a", "--json"])
    seed = json.loads(out)["seed"]
    expect(program.files() == [f"00000-{seed}.png"], program.files())


def case_without_json_standard_output_is_empty(program):
    code, out, err = program.run(["generate", "a", "-o", "x.png"])
    expect((code, out) == (0, ""), code, out)
    expect("x.png" in err, err)
    expect("\r" not in err and "\x1b" not in err, "a bar on a pipe", err)


def case_a_note_is_printed_once_for_all_pictures(program):
    code, out, err = program.run(["generate", "a (red:1.3) ring", "-n", "3",
                                  "-o", "noted/", "--json"])
    expect(code == 0, err)
    note = ("prompt: '(red:1.3)' is read as plain text; prompt_syntax 'webui' "
            "reads it as a weight of words")
    expect(err.count(f"note: {note}\n") == 1, err)
    for line in out.splitlines():
        expect(json.loads(line)["notes"] ==
               [{"code": "prompt_syntax", "text": note}], line)


def case_an_existing_file_is_kept_unless_forced(program):
    target = program.folder / "x.png"
    target.write_text("mine")
    code, _, err = program.run(["generate", "a", "-o", "x.png"])
    expect(code == 2 and "x.png exists" in err, code, err)
    expect(target.read_text() == "mine", "it was overwritten")
    code, _, err = program.run(["generate", "a", "-o", "x.png", "--force"])
    expect(code == 0, err)
    expect(target.read_bytes().startswith(SIGNATURES["png"]), "not replaced")
    expect(program.files() == ["x.png"], program.files())


def case_prompts_come_from_a_file(program):
    (program.folder / "p").write_bytes(b"\xef\xbb\xbfa\r\n\n# b\nc")
    code, out, err = program.run(["generate", "--prompts", "p", "--json", "-o",
                                  "d", "--seed", "1"])
    expect(code == 0, err)
    prompts = {x["path"]: x["prompt"] for x in map(json.loads,
                                                   out.splitlines())}
    expect(prompts == {"d/00000-1.png": "a", "d/00001-1.png": "# b",
                       "d/00002-1.png": "c"}, prompts)


def case_prompts_come_from_standard_input(program):
    code, out, err = program.run(["generate", "--prompts", "-", "--json"],
                                 text=b"a\nb\n")
    expect(code == 0 and len(out.splitlines()) == 2, code, err)


def case_a_bad_line_of_a_file_is_told_by_its_number(program):
    code, _, err = program.run(["generate", "--prompts", "-"],
                               text=b"a\n\n\xff\n")
    expect(code == 2 and re.search(r"standard input:3", err), code, err)
    expect(program.files() == [], program.files())


def case_many_pictures_are_made_through_a_small_window(program):
    code, out, err = program.run(["generate", "a", "-n", "40", "--steps", "1",
                                  "--size", "8x8", "--json", "--set",
                                  "limits.requests=2", "-o", "d"])
    expect(code == 0, err)
    expect(len(out.splitlines()) == 40 and len(program.files()) == 40, err)


def case_one_failure_does_not_stop_the_others(program):
    code, _, err = program.run(["generate", "a", "-n", "3", "-o", "d",
                                "--deadline-ms", "1", "--set", SLOW])
    expect(code == 4, code, err)
    expect(program.files() == [], program.files())
    expect(err.count("deadline_missed") == 3, err)


def interrupt(program, number):
    """Stops a long run after its first image; returns the files that it made."""
    process = program.start(["generate", "a", "-n", "500", "-o", "d", "--json",
                             "--set", SLOW, "--steps", "3"])
    program.wait_for(lambda: any(x.endswith(".png") for x in program.files()),
                     process)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 130, process.returncode, err)
    told = sorted(json.loads(line)["path"] for line in out.splitlines())
    expect(told == program.files(), "told", told, "made", program.files())
    expect(0 < len(told) < 500, len(told))


def case_an_interrupt_ends_cleanly(program):
    interrupt(program, signal.SIGINT)


def case_a_termination_ends_cleanly(program):
    interrupt(program, signal.SIGTERM)


def case_a_reader_that_goes_away_ends_it(program):
    process = program.start(["generate", "a", "-n", "500", "-o", "d", "--json",
                             "--set", SLOW, "--steps", "2"])
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read().decode()
    expect(process.wait(PATIENCE_S) == 1, process.returncode, err)
    expect("standard output" not in err, err)


def case_a_closed_pipe_is_silent(program):
    for arguments in (["config", "--example"], ["--help"], ["doctor"],
                      ["completion", "bash"]):
        reader, writer = os.pipe()
        os.close(reader)
        code, _, err = program.run(arguments, stdout=writer)
        os.close(writer)
        expect("standard output" not in err and "write" not in err, arguments,
               err)
        expect(code == 1, arguments, code)
    # A full disk is an error.
    with open("/dev/full", "wb") as full:
        code, _, err = program.run(["config", "--example"], stdout=full)
    expect(code == 1 and "cannot write to standard output" in err, code, err)


def case_an_argument_without_effect_is_told(program):
    code, _, err = program.run(["generate", "a", "--quality", "50", "-o",
                                "q.png"])
    expect(code == 0 and "--quality: 50 has no effect on PNG" in err, err)
    code, _, err = program.run(["generate", "", "-o", "e.png"])
    expect(code == 0 and "PROMPT: one is empty" in err, err)
    code, _, err = program.run(["generate", "a", "--quality", "50", "-o",
                                "q.jpg"])
    expect(code == 0 and "--quality" not in err, err)


def case_one_seed_is_for_all_prompts(program):
    code, out, err = program.run(["generate", "a", "b", "--json"])
    expect(code == 0, err)
    seeds = {json.loads(line)["seed"] for line in out.splitlines()}
    expect(len(seeds) == 1, seeds)
    _, out, _ = program.run(["generate", "--help"])
    expect("for all prompts of" in out, out)


@needs_models
def case_models_that_come_along_are_models(program):
    family = REPOSITORY / "models"
    if not (family / "base" / "model_index.json").exists():
        return "skipped"
    program.environment["ATELIER_MODELS"] = str(family)
    listed = {x["name"]: x for x in objects_of(program, ["models"])}
    expect({"base", "turbo"} <= set(listed), listed)
    expect(all(x["shipped"] for x in listed.values()), listed)
    shown, = objects_of(program, ["models", "show", "turbo"])
    expect(shown["shipped"] and shown["parts"], shown)
    found, = objects_of(program, ["models", "check", "base"])
    expect(found["sound"], found)
    code, _, err = program.run(
        ["generate", "a", "--model", "Base", "--set",
         "devices[0].variants=['base@50','turbo@4']"])
    expect(code == 3 and "--model: 'Base' is not a known model; the nearest is "
           "'base'" in err, code, err)
    code, _, err = program.run(["evaluate", "--variants", "foo@1"])
    expect(code == 3 and re.search(r"--variants: 'foo' is no model of .*; there "
                                   r"are base, .*turbo", err), code, err)
    return None


def case_topologies_that_come_along_start_here(program):
    cores = len(os.sched_getaffinity(0))
    for file in sorted((REPOSITORY / "config" / "topologies").glob("*.toml")):
        needed = re.search(r"-(\d+)-cores$", file.stem)
        if file.stem == "cuda" or needed and int(needed[1]) > cores:
            continue
        code, _, err = program.run(["generate", "a", "--config", str(file),
                                    "--size", "64", "--steps", "2", "-o",
                                    f"{file.stem}.png"])
        expect(code == 0, file, code, err)


def case_a_full_disk_is_told_before_the_work(program):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    code, _, err = program.run(["generate", "a", "-o", "d/x.png"],
                               preexec_fn=limit)
    expect(code == 1 and "cannot write" in err, code, err)
    expect(program.entries() == [], program.entries())


def case_a_folder_without_the_right_to_write_is_told(program):
    if os.geteuid() == 0:
        return "skipped"
    closed = program.folder / "closed"
    closed.mkdir(mode=0o555)
    code, _, err = program.run(["generate", "a", "-o", "closed/x.png"])
    expect(code == 2 and "closed" in err, code, err)
    return None


def case_a_terminal_gets_a_bar(program):
    master, slave = pty.openpty()
    process = program.start(["generate", "a", "-n", "2", "-o", "d", "--set",
                             SLOW, "--steps", "20"], stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # its other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    process.communicate(timeout=PATIENCE_S)
    text = shown.decode()
    expect(process.returncode == 0, text)
    expect(re.search(r"\[#+\.*\] \d/2  .*images/s  .*left", text), text)
    expect(text.rindex("\x1b[K") > text.rindex("left"), "the bar stays", text)


def case_help_and_version_end_well(program):
    for arguments, part in ((["--help"], "generate"), ([], "atelier generate"),
                            (["generate", "--help"], "PROMPT..."),
                            (["help"], "generate"),
                            (["help", "generate"], "PROMPT..."),
                            (["help", "bench"], "Exit status:"),
                            (["--version"], "atelier 0."),
                            (["doctor", "--version"], "atelier 0.")):
        code, out, err = program.run(arguments)
        expect(code == 0 and part in out and err == "", arguments, out, err)
    code, out, err = program.run(["--version", "--json"])
    told = json.loads(out)
    expect(code == 0 and err == "" and list(told) == ["version", "quick_build"],
           out, err)
    # The text and the notes of commands that measure say the same.
    quick = told["quick_build"]
    expect(("quick build" in program.run(["--version"])[1]) == quick, told)
    for command in (["profile", "--batch", "1", "--size", "64x64", "--steps", "1"],
                    ["bench", "serve", "--rate", "100", "--requests", "1",
                     "--processes", "single"]):
        code, out, err = program.run(
            [*command, "--set", "devices=[{name='cpu:0',executor='test_card',"
             "variants=['card@4']}]"])
        expect(code == 0 and ("quick build" in err) == quick, told, out, err)


def case_benchmarks_measure_a_quick_build_only_if_told(program):
    read = ("import argparse, measured_program\n"
            "words = argparse.ArgumentParser()\n"
            "words.add_argument('atelier')\n"
            "measured_program.read_arguments(words)\n")

    def ended(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", read, *map(str, arguments)],
            env=dict(program.environment, PYTHONPATH=str(REPOSITORY / "bench")),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return done.returncode, done.stderr

    quick = json.loads(program.run(["--version", "--json"])[1])["quick_build"]
    status, err = ended(program.path)
    expect(status == (2 if quick else 0) and ("quick build" in err) == quick,
           status, err)
    expect(ended(program.path, "--quick-build") == (0, ""), err)
    # A program of before says only its version.
    old = program.folder / "old"
    old.write_text("#!/bin/sh\necho atelier 0.1.0\n")
    old.chmod(0o755)
    status, err = ended(old)
    expect(status == 2 and "does not say" in err, status, err)
    expect(ended(old, "--quick-build") == (0, ""))
    expect(ended(program.folder / "none")[0] == 2)


def case_the_printed_configuration_is_read_back(program):
    code, out, err = program.run(["config", "--set", "limits.steps=30"])
    expect(code == 0, err)
    (program.folder / "c.toml").write_text(out)
    code, again, err = program.run(["config", "--config", "c.toml"])
    expect((code, again) == (0, out), err)
    code, example, err = program.run(["config", "--example"])
    expect(code == 0 and "#" in example, err)


def defaults_of_the_example(program):
    """Returns the numbers of `atelier config --example` by section.option."""
    code, example, err = program.run(["config", "--example"])
    expect(code == 0, err)
    defaults = {}
    section = None
    for line in example.splitlines():
        if head := re.fullmatch(r"\[(\w+)\]", line):
            section = head[1]
        elif pair := re.fullmatch(r"(\w+) = ([\d.]+)", line):
            defaults[f"{section}.{pair[1]}"] = float(pair[2])
    return defaults


def section_of_security(title):
    text = (REPOSITORY / "docs" / "security.md").read_text()
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def case_the_documented_bounds_have_the_defaults_of_the_example(program):
    defaults = defaults_of_the_example(program)
    units = {"kib": "KiB", "mib": "MiB", "ms": "ms", "s": "s"}
    limits = section_of_security("Limits")
    rows = re.findall(r"^\|[^|]*\| `(\w+\.\w+)` \| ([\d,]+)(?: (\w+))?([:;][^|]*)? "
                      r"\|([^|]+)\|[^|]+\|$", limits, re.MULTILINE)
    # All but the two lines above them.
    expect(len(rows) == len(re.findall(r"^\|", limits, re.MULTILINE)) - 2, rows)
    for name, value, unit, _, whose in rows:
        expect(name in defaults, name)
        expect(float(value.replace(",", "")) == defaults[name], name, value,
               defaults[name])
        expect(unit == units.get(name.rpartition("_")[2], ""), name, unit)
        expect(whose.strip(), name)
    told = {name for name, *_ in rows}
    for name in defaults:
        if re.match(r"http\.(connections|.*_(kib|mib|mpx))", name):
            expect(name in told, name, "is in no row")
    # What is bounded is told once.
    attacks = (REPOSITORY / "bench" / "attacks.py").read_text()
    for name in re.findall(r"\b(?:http|limits)\.[a-z_]+\b", attacks):
        if name not in ("http.client",):
            expect(name in told, name, "is in no row")


def case_the_documented_memory_is_the_sum_of_its_bounds(program):
    defaults = defaults_of_the_example(program)
    text = section_of_security("Memory of the server process")
    rows = re.findall(r"^\|([^|]+)\|([^|]*)\| ([\d,]+) \|$", text, re.MULTILINE)
    expect(len(rows) == len(re.findall(r"^\|", text, re.MULTILINE)) - 2, rows)
    mib = {"MiB": 1, "KiB": 2 ** -10, "B": 2 ** -20}

    def size_of(bound):
        """Returns the MiB of a sum of products such as `http.jobs` x 2 KiB."""
        if told := re.search(r"`\w+\.\w+`", bound):
            expect(told[0].strip("`") in defaults, told[0])
        names = re.sub(r"`(\w+\.\w+)`", lambda x: str(defaults[x[1]]), bound)
        units = re.sub(r" (MiB|KiB|B)\b", lambda x: f" * {mib[x[1]]}",
                       names.replace(" x ", " * "))
        expect(re.fullmatch(r"[\d.e+* ()-]+", units.strip()), bound)
        return eval(units)  # of these characters alone

    told = 0
    for what, bound, number in rows[:-1]:
        number = int(number.replace(",", ""))
        told += number
        if measured := re.fullmatch(r"measured: (\d+)", bound.strip()):
            expect(number >= int(measured[1]), what, bound)
        else:
            expect(abs(size_of(bound) - number) <= 1, what, size_of(bound), number)
    expect(rows[-1][0].strip() == "sum", rows[-1])
    expect(int(rows[-1][2].replace(",", "")) == told, rows[-1], told)
    # What counts bytes of all callers is in the sum.
    for name in defaults:
        if re.match(r"(http\.(bodies|replies|results)|limits\.\w+)_mib", name):
            expect(f"`{name}`" in text, name, "is in no row")


def check_profile(text, variants, batches, pixels):
    """Checks the output of `atelier profile` against docs/profile-file.md."""
    x = json.loads(text)
    expect(list(x) == ["format", "version", "instruction_set", "prepare_ms",
                       "finish_ms", "source_ms_per_megapixel", "variants"],
           list(x))
    expect((x["format"], x["version"]) == ("atelier.profile", 1), x)
    expect([v["name"] for v in x["variants"]] == variants, x["variants"])
    for v in x["variants"]:
        expect(list(v) == ["name", "native", "latent", "sampler", "karras",
                           "guidance", "text_ms", "decode_ms",
                           "load_ms", "memory_bytes", "step"], v)
        expect([(p["batch"], p["pixels"]) for p in v["step"]]
               == [(b, p) for p in pixels for b in batches], v["step"])
        expect(all(p["ms"] > 0 and p["samples"] > 0 for p in v["step"]),
               v["step"])
        expect(v["decode_ms"] > 0 and v["text_ms"] >= 0, v)
    return x


def case_a_profile_is_measured_and_read_by_the_planner(program):
    card = "devices=[{name='cpu:0',executor='test_card'," \
           "test_card_step_ms=3,variants=['card@20','card@4']}]"
    arguments = ["profile", "--set", card, "--batch", "2,1,2", "--size",
                 "64x64,32x128,128x128", "--steps", "2", "-o", "p.json"]
    code, out, err = program.run([*arguments, "--json"])
    expect(code == 0 and all("quick build" in x for x in err.splitlines()),
           code, err)
    text = (program.folder / "p.json").read_text()
    expect(json.loads(out) == json.loads(text), out)
    x = check_profile(text, ["card@20", "card@4"], [1, 2], [4096, 16384])
    expect(all(p["ms"] >= 3 for p in x["variants"][0]["step"]), x)
    code, _, err = program.run(arguments)
    expect(code == 2 and "p.json" in err, code, err)
    code, out, err = program.run([*arguments, "--force"])
    expect(code == 0 and "batch   2" in out, code, out, err)
    code, _, err = program.run(
        ["generate", "a", "-o", "x.png", "--set", card, "--set",
         "planner.profile='p.json'"])
    expect(code == 0, code, err)
    code, out, err = program.run(["profile"])
    expect(code == 0 and "256" not in err and "65536 pixels" in out, out, err)
    for more, pattern in ((["--batch", "0"], r"--batch: '0'.*1\.\.1024"),
                          (["--batch", "1,"], r"--batch: ''"),
                          (["--size", "10x10"], r"--size: '10x10'"),
                          (["--steps", "50"], r"--steps: '50'.*1\.\.49"),
                          (["-o", "/proc/x/y"], r"/proc")):
        code, out, err = program.run(["profile", *more])
        expect(code == 2 and re.search(pattern, err), more, code, err)
    (program.folder / "p.json").write_text(text.replace('"ms"', '"s"', 1))
    code, _, err = program.run(["generate", "a", "--set", card, "--set",
                                "planner.profile='p.json'"])
    expect(code == 2 and re.search(r"step\[0\]\.s: is not a known key", err),
           code, err)


LIMITED = ["--set", "processes.instruction_set='portable'"]
ONE_CARD = "devices=[{name='cpu:0',executor='test_card',variants=['card@4']}]"


def case_all_processes_use_the_configured_instruction_set(program):
    draw = ["generate", "a", "-o", "x.png", "--force", "--processes", "split",
            "--log", "info", "--set", ONE_CARD]
    for more, used in ((LIMITED, "portable"), ([], fastest(program))):
        code, _, err = program.run([*draw, *more])
        expect(code == 0, code, err)
        # The control process, that of the CPU work, and that of the device.
        told = re.findall(r"instruction set (\w+) \(available: portable", err)
        expect(told == [used] * 3, told, err)
        for role in ("atelier", "atelier cpu", "atelier cpu:0"):
            expect(re.search(rf" {role}\[\d+\] instruction set {used} ", err),
                   role, err)


def case_threads_wait_briefly_unless_the_user_chooses(program):
    def choices(chosen):
        environment = {name: value for name, value in program.environment.items()
                       if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        process = program.start(
            ["generate", "a", "-n", "500", "-o", "d", "--force", "--json",
             "--processes", "split", "--set", SLOW, "--steps", "3"],
            env=environment | chosen)
        process.stdout.readline()
        found = [(stat.parent / "environ").read_text().split("\0")
                 for stat in pathlib.Path("/proc").glob("[0-9]*/stat")
                 if is_or_has_parent(stat, process.pid)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        return [[x for x in variables if re.match("GOMP_|OMP_WAIT", x)]
                for variables in found]

    # The control process, that of the CPU work, and that of the device.
    expect(choices({}) == [["GOMP_SPINCOUNT=1000"]] * 3)
    chosen = ["OMP_WAIT_POLICY=active"]
    expect(choices({"OMP_WAIT_POLICY": "active"}) == [chosen] * 3)


def is_or_has_parent(stat, pid):
    try:
        after_name = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return stat.parent.name == str(pid) or after_name[1] == str(pid)


def fastest(program):
    """Returns the instruction set that the doctor finds in use."""
    _, out, _ = program.run(["doctor", "--json"])
    found = {x["subject"]: x["found"] for x in map(json.loads, out.splitlines())}
    return found["instructions"].split()[0]


def case_a_profile_names_the_instruction_set_of_its_times(program):
    code, out, err = program.run(
        ["profile", "--set", ONE_CARD, "--batch", "1", "--size", "64x64", "--steps",
         "1", "-o", "p.json", "--json", *LIMITED])
    expect(code == 0, code, err)
    expect(json.loads(out)["instruction_set"] == "portable", out)
    draw = ["generate", "a", "-o", "x.png", "--force", "--set", ONE_CARD,
            "--set", "planner.profile='p.json'"]
    code, _, err = program.run([*draw, *LIMITED])
    expect(code == 0 and "instruction set" not in err, code, err)
    now = fastest(program)
    code, _, err = program.run(draw)
    expect(code == 0 and (now == "portable" or re.search(
        rf"p\.json: .*instruction set portable, and {now} is in use", err)),
           code, err)


def case_the_doctor_tells_in_both_forms(program):
    code, out, err = program.run(["doctor"])
    expect(code in (0, 1) and "shared memory" in out and err == "", out, err)
    _, out, _ = program.run(["doctor", "--json"])
    for line in out.splitlines():
        expect(list(json.loads(line))
               == ["subject", "state", "found", "advice"], line)
    code, out, _ = program.run(["doctor", *LIMITED])
    expect(re.search(r"instructions +portable in use \(available: portable", out), out)
    code, out, _ = program.run(["doctor", "--set", "limits.steps=0"])
    expect(code == 1 and "limits.steps" in out, code, out)
    expect(program.entries() == [], program.entries())


def case_no_evaluation_begins_that_could_not_be_written(program):
    folder = program.folder / "d"
    arguments = ["evaluate", "--models", "nowhere", "--variants",
                 "base@5,turbo@4", "--guidance", "2,7.5", "-o", "d"]
    names = ["evaluation.json", "profile.json", "report.html",
             "base@5-2-ddim.png", "base@5-7.5-ddim.png", "turbo@4-1-ddim.png"]
    for name in names:
        folder.mkdir()
        (folder / name).write_text("mine")
        code, _, err = program.run(arguments)
        expect(code == 2 and f"d/{name} exists" in err, name, code, err)
        # With --force, the error is about the missing models.
        code, _, err = program.run([*arguments, "--force"])
        expect(code == 3, name, code, err)
        expect((folder / name).read_text() == "mine", name)
        (folder / name).unlink()
        folder.rmdir()
    code, _, err = program.run(arguments)
    expect(code == 3 and not folder.exists(), code, err)


@needs_models
def case_a_killed_training_continues_as_if_it_had_not_been(program):
    arguments = ["train", "text", "--steps", "12", "--threads", "2"]
    code, _, err = program.run([*arguments, "--dir", "whole"])
    if code == 3 and "not built in" in err:
        return "skipped"
    expect(code == 0, code, err)
    often = [*arguments, "--dir", "killed", "--checkpoint", "0.0001"]
    process = program.start(often)
    program.wait_for(lambda: any("checkpoint" in x and x.startswith("killed")
                                 and x.endswith(".safetensors")
                                 for x in program.files()), process)
    process.kill()
    process.communicate()
    code, _, err = program.run(often)
    expect(code == 2 and "exists already" in err, code, err)
    code, _, err = program.run([*often, "--resume"])
    expect(code == 0, code, err)
    weights = [(program.folder / x / "text" / "weights.safetensors")
               .read_bytes() for x in ("whole", "killed")]
    # The metadata beside the tensors contain the time.
    tensors = [x[8 + int.from_bytes(x[:8], "little"):] for x in weights]
    expect(tensors[0] == tensors[1] and tensors[0], "other weights")


@needs_models
def case_figures_of_a_training_fit_on_a_terminal(program):
    columns = 80
    master, slave = pty.openpty()
    process = program.start(["train", "text", "--steps", "2", "--threads", "2",
                             "--dir", "d"], stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # its other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    process.communicate(timeout=PATIENCE_S)
    text = shown.decode()
    if process.returncode == 3 and "not built in" in text:
        return "skipped"
    expect(process.returncode == 0, text)
    # Text that was cleared again is not a line.
    lines = [x.split("\x1b[K")[-1] for x in text.splitlines()]
    figures = [x for x in lines if " step 2: " in x]
    expect(figures and all(len(x) <= 2 * columns for x in figures), lines)
    return None


@needs_models
def case_an_interrupted_training_leaves_a_checkpoint(program):
    process = program.start(["train", "text", "--minutes", "60", "--dir", "d"])
    polled(lambda: program.files() or process.poll() == 3, "nothing happened",
           PATIENCE_S, 0.05)
    if process.poll() == 3:
        return "skipped"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 130, process.returncode, err)
    expect(b"checkpoint-" in out, out)
    expect(any("checkpoint-" in x for x in program.files()), program.files())


def small_model(program, **changes):
    """Makes m.safetensors and a vocabulary; returns the import's arguments."""
    (program.folder / "m.safetensors").write_bytes(
        tiny_checkpoint.safetensors(tiny_checkpoint.checkpoint(**changes)))
    words = program.folder / "words"
    words.mkdir(exist_ok=True)
    (words / "vocab.json").write_text(
        '{"<|startoftext|>": 0, "<|endoftext|>": 1, "a</w>": 2}')
    (words / "merges.txt").write_text("#version: 0.2\n")
    return ["models", "import", "m.safetensors", "--vocabulary", "words"]


def objects_of(program, arguments, status=0):
    code, out, err = program.run([*arguments, "--json"])
    expect(code == status, "status", code, err)
    return [json.loads(line) for line in out.splitlines()]


def case_a_model_is_imported_listed_shown_and_checked(program):
    arguments = small_model(program)
    made, = objects_of(program, [*arguments, "--dtype", "float16"])
    expect(list(made) == ["name", "path", "kind", "bytes", "precision",
                          "parts", "missing", "shipped"], made)
    expect((made["name"], made["kind"], made["precision"], made["missing"],
            made["shipped"])
           == ("m", "stable_diffusion", "float16", [], False), made)
    expect(made["parts"] == ["unet", "vae", "text_encoder"], made)
    expect(objects_of(program, ["models"]) == [made], "listed otherwise")
    shown, = objects_of(program, ["models", "show", "m"])
    unet = shown["parts"][0]
    expect(unet["class"] == "UNet2DConditionModel"
           and unet["config"]["block_out_channels"] == [32]
           and unet["bytes"] == 2 * unet["parameters"], unet)
    found, = objects_of(program, ["models", "check", "m", "--scan",
                                  "--checksums"])
    expect(found["sound"] and not found["findings"], found)
    for file in found["files"]:
        data = pathlib.Path(file["path"]).read_bytes()
        expect(file["sha256"] == hashlib.sha256(data).hexdigest(), file)
    for arguments in (["models"], ["models", "show", "m"],
                      ["models", "check", "m"]):
        code, out, err = program.run(arguments)
        expect(code == 0 and "float16" in out or "sound" in out, out, err)


def events_of(path):
    """Returns the events of whole lines, whether the array is closed or not, as viewers
    do."""
    found = []
    for line in path.read_text().splitlines():
        try:
            found.append(json.loads(line.rstrip(",")))
        except ValueError:
            pass
    return [x for x in found if isinstance(x, dict)]


def case_a_timeline_shows_each_request(program):
    for mode in ("single", "split"):
        path = program.folder / f"{mode}.json"
        code, out, err = program.run(
            ["generate", "a", "b", "--timeline", str(path), "--processes",
             mode, "-o", mode])
        expect(code == 0, out, err)
        json.loads(path.read_text())
        ends = [x for x in events_of(path) if x["ph"] == "e"
                and x["name"].startswith("request ")]
        expect(len(ends) == 2, ends)
        expect(all(x["args"]["outcome"] == "answered" for x in ends), ends)
    path.write_text("something else")
    code, out, err = program.run(
        ["generate", "a", "--timeline", str(path), "-o", "more"])
    expect(code == 2 and "is not replaced" in err, code, err)


def case_a_timeline_survives_a_kill(program):
    path = program.folder / "killed.json"
    process = program.start(["generate", "a", "--set", SLOW, "--steps", "150",
                             "--timeline", str(path)])
    polled(lambda: path.exists()
           and any(x["name"] == "steps" for x in events_of(path)),
           "no step was written", PATIENCE_S, 0.05)
    process.kill()
    process.communicate()
    names = {x["name"] for x in events_of(path)}
    expect({"steps", "preprocess", "request 1"} <= names, names)
    expect("the timeline ends" not in names, names)


def case_a_load_is_measured(program):
    code, out, err = program.run(
        ["bench", "serve", "--rate", "200", "--requests", "40", "--json",
         "--set", "devices=[{name='cpu:0',executor='test_card'}]",
         "--mix", "steps=2:3,6", "--mix", "size=64x64,96x64", "--slo-ms",
         "60000", "--warm-up", "1"])
    expect(code == 0, out, err)
    told = json.loads(out)
    expect(told["requests"] == told["answered"] == 40, told)
    expect(told["slo"] == {"requests": 40, "attained": 40}, told)
    expect(told["latency_ms"]["p50"] <= told["latency_ms"]["max"], told)
    expect(sum(told["batches"].values()) > 0, told)
    expect(told["processes"] == "split", told)
    table = ["bench", "serve", "--rate", "100", "--requests", "5",
             "--processes", "single",
             "--set", "devices=[{name='cpu:0',executor='test_card'}]"]
    code, out, err = program.run(table)
    expect(code == 0 and re.search(r"answered +5 ", out), out, err)


def case_a_topology_is_checked_and_drawn(program):
    (program.folder / "good.toml").write_text(
        "[[devices]]\nname = 'cpu:0'\ncores = '0'\n"
        "[[devices]]\nname = 'cpu:1'\nvariants = ['test_card@4']\n"
        "executor = 'test_card'\n")
    code, out, err = program.run(["topology", "good.toml"])
    expect(code == 0 and "4 processes" in out and "cores 0" in out, out, err)
    code, out, err = program.run(["topology", "good.toml", "-o", "good.svg"])
    expect(code == 0, out, err)
    ElementTree.fromstring((program.folder / "good.svg").read_text())
    code, out, err = program.run(["topology", "good.toml", "-o", "good.svg"])
    expect(code == 2 and "good.svg" in err, err)
    (program.folder / "bad.toml").write_text(
        "[processes]\nmode = 'single'\n"
        "[[devices]]\nname = 'cpu:0'\ncores = '3-1'\nseats = 0\n"
        "[[devices]]\nname = 'gpu'\ncolour = 'red'\n")
    for command in (["topology", "bad.toml"],
                    ["serve", "--config", "bad.toml"]):
        code, out, err = program.run(command)
        expect(code == 2, code, out, err)
        for key in ("devices[0].cores", "devices[0].seats", "devices[1].name",
                    "colour"):
            expect(key in err, key, err)
    (program.folder / "policy.toml").write_text(
        "[policy]\nname = 'agrus'\n"
        "[[devices]]\nname = 'cpu:0'\nexecutor = 'test_card'\n")
    for command in (["topology", "policy.toml"],
                    ["serve", "--config", "policy.toml"]):
        code, out, err = program.run(command)
        expect(code == 2 and "policy.name: unknown policy 'agrus'; did you "
               "mean argus? Known policies are" in err, code, out, err)
    (program.folder / "far.toml").write_text(
        "[processes]\nmode = 'split'\n"
        "[[devices]]\nname = 'cpu:0'\nexecutor = 'test_card'\n"
        "cores = '1000-1001'\n")
    code, out, err = program.run(
        ["generate", "a", "--config", "far.toml", "-o", "far.png"])
    expect(code == 2 and "core 1000 not found" in err, code, err)


def case_a_name_that_is_taken_is_kept_unless_forced(program):
    arguments = small_model(program)
    made, = objects_of(program, [*arguments, "--name", "n"])
    code, _, err = program.run([*arguments, "--name", "n", "--dtype",
                                "bfloat16"])
    expect(code == 2 and "--force replaces it" in err, code, err)
    expect(objects_of(program, ["models"]) == [made], "it was changed")
    forced, = objects_of(program, [*arguments, "--name", "n", "--dtype",
                                   "bfloat16", "--force"])
    expect(forced["precision"] == "bfloat16", forced)
    expect(sorted(x.name for x in program.models().iterdir()) == ["n"], "left")


def case_a_bad_model_is_refused_and_nothing_is_left(program):
    bias = "model.diffusion_model.out.2.bias"
    for changes, status, pattern in (
            ({"without": [bias]}, 2, r"tensor conv_out\.bias is missing"),
            ({"more": {bias: [5]}}, 2, r"conv_out\.bias has shape \[5\]"),
            ({"more": {"model.diffusion_model.x.y": [1]}}, 2,
             r"no place in the denoiser: model\.diffusion_model\.x\.y"),
            ({"without": [x for x in tiny_checkpoint.checkpoint()
                          if x.startswith("cond_stage")]}, 3,
             r"text_encoder missing"),
            ({"without": [x for x in tiny_checkpoint.checkpoint()
                          if x.startswith("first_stage")]}, 3,
             r"vae missing"),
            ({"without": [x for x in tiny_checkpoint.checkpoint()
                          if x.startswith("model.")]}, 2,
             r"holds no denoiser")):
        arguments = small_model(program, **changes)
        code, out, err = program.run(arguments)
        expect(code == status and re.search(pattern, err), code, err)
        expect(out == "" and not program.models().exists(), out)
    arguments = small_model(program)
    file = program.folder / "m.safetensors"
    whole = file.read_bytes()
    for damaged in (b"", whole[:7], whole[:500], whole[:-1], whole + b"x",
                    b"PK\x03\x04" + whole, whole.replace(b"F32", b"F3x", 1)):
        file.write_bytes(damaged)
        code, _, err = program.run(arguments)
        expect(code == 2 and "m.safetensors: " in err, code, err)
        expect(not program.models().exists(), "left behind")
    code, _, err = program.run(arguments[:3])
    expect(code == 2, code, err)
    file.write_bytes(whole)
    code, _, err = program.run(arguments[:3])
    # The set-up may have downloaded a vocabulary that is too large for the model.
    expect(code == 3 and "--vocabulary DIR" in err
           or code == 2 and re.search(r"vocab\.json: ids .* outside 0\.\.19", err),
           code, err)


def case_what_a_models_schedule_cannot_run_is_refused_by_its_option(program):
    objects_of(program, small_model(program))
    before = program.entries()
    for arguments, pattern in (
            (["--sampler", "flow_match_euler"],
             r"sampler flow_match_euler cannot run .* not predict flow"),
            (["--sampler", "euler", "--eta", "0.5"],
             r"eta 0\.5 outside 0\.\.0 for sampler euler"),
            (["--sampler", "lcm", "--karras"],
             r"karras true: sampler lcm has no sigmas; euler, "),
            (["--sampler", "lcm", "--steps", "60"],
             r"steps 60 outside 1\.\.50 \(original_inference_steps 50"),
            (["--size", "2048x2048", "--sampler", "dpmpp_2m"],
             r"size 2048x2048 needs .*state.*\(arena\.state_slot_kib\)")):
        code, out, err = program.run(["generate", "a", "b", "--model", "m",
                                      *arguments])
        expect(code == 2 and re.search(pattern, err), arguments, code, err)
        # The error is printed once for all images.
        expect(out == "" and err.count("\n") == 1, out, err)
        expect(program.entries() == before, program.entries())


def case_a_damaged_model_is_told_and_the_others_are_listed(program):
    arguments = small_model(program)
    for name in ("a", "b"):
        objects_of(program, [*arguments, "--name", name])
    config = program.models() / "a" / "unet" / "config.json"
    config.write_text("{")
    listed = objects_of(program, ["models"])
    expect([x["name"] for x in listed] == ["a", "b"]
           and "config.json" in listed[0]["error"], listed)
    found, = objects_of(program, ["models", "check", "a"], 2)
    expect(not found["sound"] and found["findings"][0]["state"] == "problem"
           and "config.json" in found["findings"][0]["text"], found)
    code, _, err = program.run(["models", "show", "a"])
    expect(code == 2 and "config.json" in err, code, err)


def changed(file, change):
    """Changes the bytes of a file."""
    file.write_bytes(change(file.read_bytes()))


def header_changed(file, change):
    """Changes the header of a .safetensors file, and its length with it."""
    whole = file.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:8 + length])
    change(header)
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text
                     + whole[8 + length:])


def renamed(header, name, to):
    header[to] = header.pop(name)


UNET = "unet/diffusion_pytorch_model.safetensors"

# The change to a valid folder, the exit status, and patterns for standard error and the
# findings.
BAD_FOLDERS = {
    "truncated": (lambda x: changed(x / UNET, lambda b: b[:len(b) // 2]), 2,
                  UNET + ": "),
    "truncated in the header": (
        lambda x: changed(x / UNET, lambda b: b[:100]), 2, UNET + ": "),
    "longer than its header says": (
        lambda x: changed(x / UNET, lambda b: b + bytes(9)), 2, UNET + ": "),
    "empty": (lambda x: (x / UNET).write_bytes(b""), 2, UNET + ": "),
    "garbage": (lambda x: changed(x / UNET, lambda b: bytes(
        (7 * i * i) % 251 for i in range(5000))), 2, UNET + ": "),
    "a zip file": (lambda x: changed(x / UNET, lambda b: b"PK\x03\x04" + b), 2,
                   UNET + ": .*(zip|PyTorch)"),
    "of numbers that are no weights": (
        lambda x: header_changed(x / UNET, lambda h: h["conv_in.bias"].update(
            dtype="I32")), 2,
        UNET + ": tensor conv_in\\.bias is of type I32, not floating-point"),
    "of an unknown type": (
        lambda x: header_changed(x / UNET, lambda h: h["conv_in.bias"].update(
            dtype="Q4")), 2, UNET + ": .*conv_in\\.bias.*Q4"),
    "without a tensor, and with another": (
        lambda x: header_changed(x / UNET, lambda h: renamed(
            h, "conv_in.bias", "conv_in.bies")), 2,
        UNET + ": tensor conv_in\\.bi[ae]s (is missing|has no place)"),
    "of a wrong shape": (
        lambda x: header_changed(x / UNET, lambda h: h["conv_in.bias"].update(
            shape=[4, 8])), 2,
        UNET + r": tensor conv_in\.bias has shape \[4, 8\], not \[32\]"),
    "of a shape beyond its bytes": (
        lambda x: header_changed(x / UNET, lambda h: h["conv_in.bias"].update(
            shape=[2**40, 2**40])), 2, UNET + ": .*conv_in\\.bias"),
    "a folder where a file should be": (
        lambda x: ((x / UNET).unlink(), (x / UNET).mkdir()), 2,
        UNET + ": not a regular file"),
    "a configuration that is a folder": (
        lambda x: ((x / "vae/config.json").unlink(),
                   (x / "vae/config.json").mkdir()), 2,
        "vae/config.json: not a regular file"),
    "an empty configuration": (
        lambda x: (x / "vae/config.json").write_text(""), 2,
        "vae/config.json: not a JSON object"),
    "an unknown key": (
        lambda x: changed(x / "unet/config.json",
                          lambda b: b.replace(b"{", b'{"wavelets": 3,', 1)), 2,
        "unet/config.json: wavelets is 3, which is not supported"),
    "a key with a bad value": (
        lambda x: changed(x / "text_encoder/config.json", lambda b: b.replace(
            b'"quick_gelu"', b'"relu"')), 2,
        'text_encoder/config.json: hidden_act is "relu", not one of '),
    "an unknown pipeline": (
        lambda x: changed(x / "model_index.json", lambda b: b.replace(
            b"StableDiffusionPipeline", b"FluxPipeline")), 2,
        "model_index.json: .*FluxPipeline"),
    "an unknown schedule": (
        lambda x: changed(x / "scheduler/scheduler_config.json",
                          lambda b: b.replace(b"{", b'{"use_magic": true,', 1)),
        2, "scheduler_config.json: .*use_magic"),
    "no text encoder": (lambda x: shutil.rmtree(x / "text_encoder"), 3,
                        "text_encoder (is )?missing"),
    "no tokenizer": (lambda x: shutil.rmtree(x / "tokenizer"), 3,
                     "tokenizer (is )?missing"),
    "no weights": (lambda x: (x / UNET).unlink(), 3,
                   "unet.*diffusion_pytorch_model.safetensors"),
    "no configuration": (lambda x: (x / "vae/config.json").unlink(), 3,
                         "vae/config.json: No such file"),
    "no index": (lambda x: (x / "model_index.json").unlink(), 3,
                 "model_index.json"),
    "an empty folder": (lambda x: (shutil.rmtree(x), x.mkdir()), 3,
                        "model_index.json"),
}


def case_a_bad_folder_is_told_by_every_command(program):
    objects_of(program, small_model(program))
    sound = program.models() / "m"
    scratch = program.folder / "bad"
    for what, (damage, status, pattern) in BAD_FOLDERS.items():
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(sound, scratch)
        damage(scratch)
        before = program.entries()
        for mode in ("single", "split"):
            code, out, err = program.run(
                ["generate", "a", "--model", "bad", "-o", "x.png",
                 "--processes", mode])
            expect(code == status and re.search(pattern, err), what, code, err)
            expect(out == "" and err.count("\n") == 1, what, out, err)
        code, out, err = program.run(
            ["models", "import", "bad", "--name", "n"])
        expect(code == status and re.search(pattern, err), what, code, err)
        # A check reports all findings, including missing parts.
        code, out, err = program.run(["models", "check", "bad"])
        expect(code == 2 and re.search(pattern, out + err), what, code, out,
               err)
        code, out, err = program.run(["models", "show", "bad"])
        expect(code in (0, status), what, code, out, err)
        expect(program.entries() == before, what, program.entries())
    code, _, err = program.run(["models", "check", "m"])
    expect(code == 0, "the sound one", err)


def case_an_import_that_fails_midway_leaves_nothing(program):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    arguments = small_model(program)
    code, _, err = program.run(arguments, preexec_fn=limit)
    expect(code == 1 and "File too large" in err, code, err)
    expect(list(program.models().iterdir()) == [], "left behind")
    words = program.folder / "words" / "merges.txt"
    words.unlink()
    os.mkfifo(words)
    code, _, err = program.run(arguments)
    expect(code == 2 and "merges.txt: not a regular file" in err, code, err)
    expect(list(program.models().iterdir()) == [], "left behind")


def case_an_interrupted_import_leaves_nothing(program):
    # The tensor is large, so that the interrupt happens while it is written.
    name = ("cond_stage_model.transformer.text_model.embeddings."
            "token_embedding.weight")
    arguments = small_model(program, more={name: [1_000_000, 64]})
    process = program.start(arguments)
    program.wait_for(lambda: any(program.models().glob(".m-*/unet")), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    expect(process.returncode == 130, process.returncode, err)
    expect(list(program.models().iterdir()) == [], "left behind")


def case_the_completion_of_bash_completes(program):
    _, script, _ = program.run(["completion", "bash"])
    test = script + """
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _atelier
  printf '%s\\n' "${COMPREPLY[@]}"; }
complete_words atelier gen
complete_words atelier generate --see
complete_words atelier generate a --sampler lc
complete_words atelier completion z
complete_words atelier models im
complete_words atelier models import --dtype bf
"""
    done = subprocess.run(["bash", "-c", test], capture_output=True, text=True,
                          cwd=program.folder, timeout=PATIENCE_S, check=False)
    expect(done.stdout.split() == ["generate", "--seed", "lcm", "zsh", "import",
                                     "bfloat16"],
           done.stdout, done.stderr)


def all_cases():
    for number, row in enumerate(BAD):
        shown = " ".join(repr(x) for x in row[0])[:60]
        case = lambda program, row=row: check_bad(program, *row)
        yield (f"bad {number} {shown}",
               needs_models(case) if "not built in" in row[2] else case)
    for number, row in enumerate(BROKEN):
        yield (f"broken {number} {row[0][:50]!r}",
               lambda program, row=row: check_broken(program, *row))
    for number, row in enumerate(GOOD):
        yield (f"good {number}",
               lambda program, row=row: check_good(program, *row))
    for name, function in list(globals().items()):
        if name.startswith("case_"):
            yield name.removeprefix("case_"), function


def main(suite_name, cases):
    """Runs the cases that --only names, and writes their report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--only-models", action="store_true")
    options = parser.parse_args()

    suite = ElementTree.Element("TestSuite", name=suite_name)
    failures = 0
    for name, case in cases:
        if (options.only not in name
                or options.only_models and not getattr(case, "needs_models", False)):
            continue
        with tempfile.TemporaryDirectory(prefix="cli-") as folder:
            try:
                result = case(Program(options.program, folder)) or "passed"
            except Exception:  # any exception of a case is its failure
                failures += 1
                result = "failed"
                print(f"failed: {name}\n{traceback.format_exc()}")
        ElementTree.SubElement(suite, "TestCase", name=name, result=result)
    if options.report:
        ElementTree.ElementTree(suite).write(options.report)
    print(f"{len(suite)} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main("cli_process", all_cases()))
