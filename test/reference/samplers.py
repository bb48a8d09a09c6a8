# SPDX-License-Identifier: Apache-2.0
"""Compares the samplers with diffusers' schedulers, step by step, with the same x, the
same model output and the same noise at each step, and over whole runs.

The bound is STEP_BOUND times the largest value, or 1. If a step differs by more,
diffusers runs again with float64 in place of float32, and twice its own rounding error,
or what the last bits of its inputs change, is added to the bound. Such steps are
counted. They belong to schedules whose first sigmas are in the thousands, or whose
shares of signal are almost 0 or are rounded away near 1.

Atelier must refuse every combination that diffusers refuses, or that leads diffusers to
values that are not finite, and no other.
"""
import collections
import contextlib
import json
import logging
import os
import subprocess
import sys
import tempfile

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder)
try:
    import diffusers
    import numpy
    from safetensors.torch import load_file, save_file
except ImportError as error:
    print(f"skipped: no diffusers to compare with ({error})")
    sys.exit(77)
from sampler_cases import CLASSES, cases, random

logging.disable(logging.WARNING)
torch.set_num_threads(2)

STEP_BOUND = 1e-5
RUN_BOUND = 1e-3
LAST_BIT = 2.0**-23
SHAPE = (1, 4, 4, 4)


class InFloat64:
    """Replaces torch or numpy in a scheduler's module."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        return getattr(self.module, "float64" if name == "float32" else name)


@contextlib.contextmanager
def float64_schedulers(noise):
    """Makes diffusers' schedulers compute in float64, and draw `noise`."""
    replaced = []
    for name in CLASSES.values():
        module = sys.modules[getattr(diffusers, name).__module__]
        for what, value in (("torch", InFloat64(torch)),
                            ("np", InFloat64(numpy)),
                            ("randn_tensor", lambda *_, **__: noise[-1])):
            if hasattr(module, what):
                replaced.append((module, what, getattr(module, what)))
                setattr(module, what, value)
    try:
        yield
    finally:
        for module, what, value in replaced:
            setattr(module, what, value)


def peer_of(c):
    """Returns diffusers' scheduler as a pipeline makes it, and the timesteps that
    run."""
    source = getattr(diffusers, c["file"]["_class_name"])
    options = {"use_karras_sigmas": True} if c["karras"] else {}
    peer = getattr(diffusers, CLASSES[c["sampler"]]).from_config(
        source.from_config(c["file"]).config, **options)
    options = {"strength": c["strength"]} if c["sampler"] == "lcm" else {}
    peer.set_timesteps(c["steps"], **options)
    first = first_step(c)
    timesteps = peer.timesteps[first:]
    # Without a begin index, as in the pipelines that have only a prompt, diffusers
    # begins at the second of two equal timesteps and runs out of sigmas.
    twice = len(set(timesteps.tolist())) < len(timesteps)
    if hasattr(peer, "set_begin_index") and (
            c["strength"] < 1 or c["from_clean"] or twice):
        peer.set_begin_index(first)
    return peer, timesteps


def first_step(c):
    n, strength = c["steps"], c["strength"]
    if c["sampler"] == "lcm":
        return 0
    if c["sampler"] == "flow_match_euler":
        return int(max(n - min(n * strength, n), 0))
    return max(n - min(int(n * strength), n), 0)


class Refused(Exception):
    pass


def noised(peer, clean, noise, timestep):
    if hasattr(peer, "add_noise"):
        return peer.add_noise(clean, noise, timestep)
    return peer.scale_noise(clean, timestep, noise)


def start_of(c, peer, timesteps, clean, noise):
    if c["strength"] < 1 or c["from_clean"]:
        return noised(peer, clean, noise, timesteps[:1])
    return noise * getattr(peer, "init_noise_sigma", 1.0)


def step_of(c, peer, timesteps, i, row, generator, clean, noise):
    """Makes one step from row["x"]; adds its results to the row."""
    t, x = timesteps[i], row["x"]
    row["timestep"] = float(t)
    scale = getattr(peer, "scale_model_input", None)
    row["scaled"] = scale(x, t) if scale else x
    options = {"eta": c["eta"]} if c["sampler"] == "ddim" else {}
    step = peer.step(row["out"], t, x, generator=generator, **options)
    row["next"] = step.prev_sample
    row["x0"] = getattr(step, "pred_original_sample", None)
    if c["sampler"] == "dpmpp_2m":
        row["x0"] = peer.model_outputs[-1]
    row["kept"] = clean
    if i + 1 < len(timesteps):
        row["kept"] = noised(peer, clean, noise, timesteps[i + 1:i + 2])


def run_peer(c, generator):
    """Runs diffusers on random model outputs; returns its results."""
    def normal():
        return torch.randn(SHAPE, generator=generator)

    try:
        peer, timesteps = peer_of(c)
        if len(timesteps) == 0:
            raise Refused("no step")
        # For some counts rounding gives the trailing spacing one timestep too many, -1.
        # Continuous timesteps of log-linear sigmas have it for all counts.
        done = {"clean": normal(), "noise": normal(), "rows": [],
                "extra": len(peer.timesteps) > c["steps"]}
        x = done["start"] = start_of(c, peer, timesteps, done["clean"],
                                     done["noise"])
        for i in range(len(timesteps)):
            row = {"x": x, "out": normal()}
            # The scheduler's draws are made beforehand.
            state = generator.get_state()
            row["noise"] = normal()
            generator.set_state(state)
            step_of(c, peer, timesteps, i, row, generator, done["clean"],
                    done["noise"])
            x = row["next"]
            done["rows"].append(row)
    except (ValueError, NotImplementedError, IndexError,
            ZeroDivisionError) as error:
        raise Refused(f"{type(error).__name__}: {error}")
    for row in done["rows"]:
        if not all(torch.isfinite(row[k]).all() for k in ("next", "x")):
            raise Refused("not finite")
    return done


def rounding_errors(c, done):
    """Repeats a run with diffusers in float64, each step from the same x, and once more
    with the last bits of x and of the model output changed. Returns for each result and
    step the larger of two differences: that of its float32, and what the bits change."""
    def x_of(i, _):
        return done["rows"][i]["x"].double()

    exact = repeated(c, done, x_of)
    bits = repeated(c, done, lambda *of: x_of(*of) * (1 + LAST_BIT), 1 - LAST_BIT)
    errors = []
    for e, b, row in zip(exact, bits, done["rows"]):
        errors.append({k: max((e[k] - row[k]).abs().max().item(),
                              (e[k] - b[k]).abs().max().item())
                       for k in ("scaled", "next", "kept", "x0")
                       if row[k] is not None})
        errors[-1]["timestep"] = abs(e["timestep"] - row["timestep"])
    errors[0]["start"] = (exact[0]["start"] - done["start"]).abs().max().item()
    return errors


def carried_error(c, done, errors):
    """Returns how far a run of diffusers in float64 ends from another whose x has twice
    the error of its step, `errors`, added before each next step: a step whose share of
    signal is almost 0 multiplies what it is given."""
    first = done["rows"][0]["x"].double()
    plain = repeated(c, done, lambda i, before: before["next"] if i else first)
    apart = repeated(c, done, lambda i, before:
                     before["next"] + 2 * errors[i - 1]["next"] if i else first)
    return (2 * errors[-1]["next"]
            + (plain[-1]["next"] - apart[-1]["next"]).abs().max().item())


def repeated(c, done, x_of, out_by=1.0):
    """Repeats a run with diffusers in float64. The x of each step is x_of(step, row
    before), and its model output the run's times `out_by`. Returns the rows."""
    rows, noise = [], []
    with float64_schedulers(noise):
        peer, timesteps = peer_of(c)
        clean, first = done["clean"].double(), done["noise"].double()
        start = start_of(c, peer, timesteps, clean, first)
        for i, row in enumerate(done["rows"]):
            rows.append({"x": x_of(i, rows[-1] if i else None),
                         "out": row["out"].double() * out_by, "start": start})
            noise.append(row["noise"].double())
            step_of(c, peer, timesteps, i, rows[-1], None, clean, first)
    return rows


def lines_of(some_cases):
    lines, row = [], 0
    for c, done in some_cases:
        n = len(done["rows"])
        lines.append(json.dumps({**c, "file": json.dumps(c["file"]),
                                 "row": row, "rows": n}))
        row += n
    return "\n".join(lines) + "\n"


def run_ours(some_cases):
    """Runs the program on every case; returns its lines and tensors."""
    def stacked(key):
        return torch.cat([row[key] for _, done in some_cases
                          for row in done["rows"]] or [torch.zeros(SHAPE)])

    with tempfile.TemporaryDirectory() as scratch:
        inputs = os.path.join(scratch, "in.safetensors")
        outputs = os.path.join(scratch, "out.safetensors")
        save_file({**{key: stacked(key) for key in ("x", "out", "noise")},
                   "clean": torch.cat([d["clean"] for _, d in some_cases]),
                   "first_noise": torch.cat([d["noise"]
                                             for _, d in some_cases])}, inputs)
        printed = subprocess.run([program, inputs, outputs], check=True,
                                 input=lines_of(some_cases), text=True,
                                 stdout=subprocess.PIPE).stdout
        return printed.splitlines(), load_file(outputs)


def kind_of(c):
    file = c["file"]
    return ("cosine" if file.get("beta_schedule") == "squaredcos_cap_v2"
            else "zero SNR" if file.get("rescale_betas_zero_snr")
            else "others")


def describe(c):
    file = {k: v for k, v in c["file"].items() if k != "trained_betas"}
    return json.dumps({**c, "file": file})


class Comparison:
    def __init__(self):
        self.worst, self.wrong, self.steps = {}, 0, 0
        self.values, self.beyond = 0, collections.Counter()

    def say(self, text):
        self.wrong += 1
        if self.wrong <= 20:
            print(text)

    def check_case(self, c, done, first_row, number, ours):
        rows = done["rows"]
        errors = None
        self.steps += len(rows)
        for i, peer in enumerate(rows):
            at = first_row + i
            pairs = [(what, ours[what][at], peer[what][0], STEP_BOUND)
                     for what in ("scaled", "next", "kept", "x0")
                     if peer[what] is not None]
            pairs.append(("timestep", ours["timestep"][at],
                          torch.tensor(peer["timestep"]), STEP_BOUND))
            if i == 0:
                pairs.append(("start", ours["start"][number],
                              done["start"][0], STEP_BOUND))
            for what, our, their, bound in pairs:
                size = max(1.0, their.abs().max().item())
                apart = (our - their).abs().max().item()
                self.values += 1
                if apart <= bound * size:
                    self.note(c, what, apart / size)
                    continue
                errors = errors or rounding_errors(c, done)
                rounding = errors[i][what]
                # The root of a number that is 0 except for rounding may be that of a
                # negative one.
                if rounding != rounding and c["eta"] == 1.0:
                    rounding = 2.0**-12 * size
                self.beyond[kind_of(c)] += 1
                self.note(c, what + " beyond", apart / (
                    bound * size + 2 * rounding))
                if not apart <= bound * size + 2 * rounding:
                    self.say(f"step {i}, {what}: {apart / size:.3g}, where "
                             f"diffusers rounds by {rounding / size:.3g}: "
                             f"{describe(c)}")
        whole = rows[-1]["next"][0]
        size = max(1.0, whole.abs().max().item())
        apart = (ours["chained"][first_row + len(rows) - 1]
                 - whole).abs().max().item()
        self.note(c, "whole run", apart / size)
        if not apart <= RUN_BOUND * size:
            if errors is None:
                errors = rounding_errors(c, done)
            carried = carried_error(c, done, errors)
            self.note(c, "run beyond", apart / (RUN_BOUND * size + carried))
            if not apart <= RUN_BOUND * size + carried:
                self.say(f"whole run: {apart / size:.3g}, where diffusers carries "
                         f"{carried / size:.3g}: {describe(c)}")

    def note(self, c, what, value):
        key = (what, c["sampler"])
        if value > self.worst.get(key, (-1.0, ""))[0]:
            self.worst[key] = (value, describe(c))


generator = torch.Generator().manual_seed(random.getrandbits(63))
accepted, refused, extra = [], [], 0
for _ in range(torch_reference.scaled(3)):
    for c in cases():
        try:
            done = run_peer(c, generator)
        except Refused as why:
            refused.append((c, str(why)))
            continue
        if done["extra"]:
            extra += 1
        else:
            accepted.append((c, done))

result = Comparison()
lines, ours = run_ours(accepted)
row = 0
for number, ((c, done), line) in enumerate(zip(accepted, lines, strict=True)):
    n = len(done["rows"])
    if line == str(n):
        result.check_case(c, done, row, number, ours)
    else:
        result.say(f"diffusers runs {n} steps, here: {line}: {describe(c)}")
    row += n

# Atelier must refuse the cases that diffusers cannot run, with a sentence.
nothing = {"clean": torch.zeros(SHAPE), "noise": torch.zeros(SHAPE),
           "rows": []}
lines, _ = run_ours([(c, nothing) for c, _ in refused])
for (c, why), line in zip(refused, lines, strict=True):
    # With eta 1 diffusers may take the root of a 0 that rounding made negative.
    root = why == "not finite" and c["eta"] == 1.0
    if not line.startswith("error ") and not root:
        result.say(f"diffusers: {why}; here {line} steps run: {describe(c)}")

for (what, sampler), (value, where) in sorted(result.worst.items()):
    print(f"{what:16} {sampler:17} {value:.2e}")
    if "VERBOSE" in os.environ:
        print("   ", where)
print(f"diffusers {diffusers.__version__}: {len(accepted)} combinations, "
      f"{result.steps} steps, {result.values} comparisons; "
      f"{len(refused)} combinations refused by both; {extra} left out where "
      f"diffusers adds a timestep")
print(f"beyond {STEP_BOUND}, but within diffusers' own rounding: "
      + ", ".join(f"{kind} {n}" for kind, n in sorted(result.beyond.items())))
print(f"{result.wrong} wrong")
sys.exit(1 if result.wrong else 0)
