# SPDX-License-Identifier: Apache-2.0
"""The guarded images: every sampler, three shipped models, requests with images and
masks, one process and several, deterministic or not."""
import dataclasses

MODELS = ("base", "tiny", "turbo")
# The guidance of each model in cases that do not set it.
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
    # These are drawn by `edit`, with the guard's image and one of its masks, or from
    # the image.
    mask: str = ""
    start: bool = False
    size: str = SIZE
    seed: int = 7
    # The number of the image within the call.
    number: int = 0
    # The case whose pixels it must have on every machine.
    equals: str = ""

    def folder(self):
        """Returns the model's folder, or that of the model that predicts flow if the
        sampler needs one."""
        return self.model + ("-flow" if "flow_match_euler" in self.arguments
                             else "")


def deterministic(sampler):
    return ("--sampler", sampler, "--deterministic")


def by_sampler():
    for model in MODELS:
        for sampler in SAMPLERS:
            yield Case(f"{model} {sampler}", model, deterministic(sampler))
    # A row by itself is computed like a deterministic one.
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
    # These are drawn at the model's own size, then scaled.
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
    """Returns lists that each contain a case and those that must equal it."""
    found = {x.name: [x] for x in all_cases() if not x.equals}
    for x in all_cases():
        if x.equals:
            found[x.equals].append(x)
    return list(found.values())
