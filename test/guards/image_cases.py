# SPDX-License-Identifier: Apache-2.0
"""The images that are guarded: every sampler, three shipped models, requests
with images and masks, one process and several, alone bit for bit or not."""
import dataclasses

MODELS = ("base", "tiny", "turbo")
# What each model is asked for where a case says nothing.
GUIDANCE = {"base": "2", "tiny": "2", "turbo": "1"}
SAMPLERS = ("ddim", "euler", "euler_ancestral", "dpmpp_2m", "lcm",
            "flow_match_euler")
PROMPTS = {
    "base": "a large red circle above a small blue star on a white background",
    "tiny": "a large green ring on a brown background",
    "turbo": "a small yellow square left of a large blue heart",
}
SIZE = "128x128"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    model: str
    arguments: tuple
    # Drawn by `edit` with the guard's picture and one of its masks, or from it.
    mask: str = ""
    start: bool = False
    size: str = SIZE
    seed: int = 7
    # Which of the call's images it is.
    number: int = 0
    # The case whose pixels it has, whatever the machine.
    equals: str = ""

    def folder(self):
        """The model's, of one that predicts flow where the sampler wants it."""
        return self.model + ("-flow" if "flow_match_euler" in self.arguments
                             else "")


def deterministic(sampler):
    return ("--sampler", sampler, "--deterministic")


def by_sampler():
    for model in MODELS:
        for sampler in SAMPLERS:
            yield Case(f"{model} {sampler}", model, deterministic(sampler))
    # A row alone is computed as a deterministic one.
    for model, sampler in (("base", "ddim"), ("base", "euler"),
                           ("base", "dpmpp_2m"), ("tiny", "euler_ancestral"),
                           ("tiny", "lcm"), ("turbo", "flow_match_euler")):
        yield Case(f"{model} {sampler} not deterministic", model,
                   ("--sampler", sampler), equals=f"{model} {sampler}")
    for model, sampler in [("tiny", x) for x in SAMPLERS] + [
            ("base", "ddim"), ("turbo", "lcm")]:
        yield Case(f"{model} {sampler} split", model,
                   (*deterministic(sampler), "--processes", "split"),
                   equals=f"{model} {sampler}")
    yield Case("tiny ddim second of two", "tiny",
               (*deterministic("ddim"), "--count", "2"), seed=6, number=1,
               equals="tiny ddim")


def by_parameter():
    for sampler in ("euler", "dpmpp_2m", "flow_match_euler"):
        yield Case(f"base {sampler} karras", "base",
                   (*deterministic(sampler), "--karras"))
    for eta in ("0.5", "1"):
        yield Case(f"tiny ddim eta {eta}", "tiny",
                   (*deterministic("ddim"), "--eta", eta))
    yield Case("base rescaled guidance", "base",
               (*deterministic("ddim"), "--guidance-rescale", "0.7"))
    yield Case("tiny unguided", "tiny",
               (*deterministic("ddim"), "--guidance", "1"))
    yield Case("base negative prompt", "base",
               (*deterministic("euler"), "--negative", "a green star"))
    for model, sampler in (("base", "ddim"), ("tiny", "euler_ancestral")):
        yield Case(f"{model} {sampler} philox", model,
                   (*deterministic(sampler), "--rng", "philox"))
    for model in ("base", "tiny"):
        yield Case(f"{model} bfloat16", model,
                   (*deterministic("ddim"), "--dtype", "bfloat16"))
    # Drawn at the model's own size, then scaled.
    for model in ("tiny", "turbo"):
        yield Case(f"{model} scaled", model,
                   (*deterministic("ddim"), "--native-only", "on"),
                   size="128x192")


def by_source():
    for model in MODELS:
        yield Case(f"{model} from an image", model,
                   (*deterministic("ddim"), "--strength", "0.6"), start=True)
        yield Case(f"{model} edit", model, deterministic("ddim"),
                   mask="drawn")
    yield Case("tiny euler_ancestral from an image", "tiny",
               (*deterministic("euler_ancestral"), "--strength", "1"),
               start=True)
    yield Case("turbo lcm from an image", "turbo",
               (*deterministic("lcm"), "--strength", "0.6"), start=True)
    yield Case("base from an image split", "base",
               (*deterministic("ddim"), "--strength", "0.6", "--processes",
                "split"), start=True, equals="base from an image")
    yield Case("tiny edit of a rectangle", "tiny", deterministic("dpmpp_2m"),
               mask="48x64+16+32")
    yield Case("tiny edit scaled", "tiny",
               (*deterministic("ddim"), "--native-only", "on"), mask="drawn",
               size="192x192")
    yield Case("base edit split", "base",
               (*deterministic("ddim"), "--processes", "split"), mask="drawn",
               equals="base edit")
    yield Case("turbo edit not deterministic", "turbo", ("--sampler", "ddim"),
               mask="drawn", equals="turbo edit")


def all_cases():
    return [*by_sampler(), *by_parameter(), *by_source()]


def groups():
    """Return lists of cases: one, and those that equal it."""
    found = {x.name: [x] for x in all_cases() if not x.equals}
    for x in all_cases():
        if x.equals:
            found[x.equals].append(x)
    return list(found.values())
