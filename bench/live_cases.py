# SPDX-License-Identifier: Apache-2.0
"""The cases of live_runs.py: what is served, at which load, and by which profile.

A case says which variants a server hosts, by which policy, and what its requests ask
for. `profile_of` makes the case's profile from the measured costs of single models.
"""
import copy
import dataclasses
import random
import string

MODELS = ["turbo", "tiny", "small", "base"]
COPIES = [f"m{i}" for i in range(6)]
ROOM = 2
PICTURE = 128
PIXELS = PICTURE * PICTURE
MAX_BATCH = 8

# The quality of each level, as models/classifier/README.md has it.
QUALITY = {"base@20": 0.8449, "small@20": 0.7963, "tiny@20": 0.4004}
# The share of the prompts that the shipped classifier assigns to the right level.
ACCURACY = 0.7222
LATENTS = [{"skip": 4, "similarity": 0.5}, {"skip": 8, "similarity": 0.65},
           {"skip": 12, "similarity": 0.8}]
IMAGES = [{"skip": 6, "similarity": 0.5}, {"skip": 12, "similarity": 0.7}]


@dataclasses.dataclass(frozen=True)
class Kind:
    """What all cases of one kind have in common. The first variant draws requests that
    name none."""
    policy: str
    variants: tuple
    deadline_s: float
    more: tuple = ()


CAPTURES = ("arena.capture_slots=24", "cache.memory_mib=512")
KINDS = {
    "batches by steps": Kind("vanilla", ("turbo@4",), 0.6,
                             ("scheduler.batching='step'",)),
    "whole batches": Kind("vanilla", ("turbo@4",), 0.6,
                          ("scheduler.batching='whole_batch'",)),
    "10, 20, 40 steps": Kind("vanilla", ("tiny@20",), 0.8,
                             ("scheduler.batching='step'",)),
    "six models": Kind("atelier", tuple(f"{m}@20" for m in COPIES), 2.0),
    "cascade": Kind("diffserve", ("base@50", "tiny@50"), 5.0),
    "ladder": Kind("argus", ("base@20", "small@20", "tiny@20"), 2.0),
    "latents": Kind("nirvana-no-predictor", ("base@20",), 2.0, CAPTURES),
    "images": Kind("modm", ("base@20", "tiny@20"), 2.0, CAPTURES),
}
REUSING = ("latents", "images")


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    devices: int
    load: float
    seed: int

    @property
    def name(self):
        return f"{self.kind}, {self.devices}, {self.load:g}"

    @property
    def batching(self):
        return {"whole batches": "whole_batch", "batches by steps": "step",
                "10, 20, 40 steps": "step"}.get(self.kind, "policy")


LOADS = [0.3, 0.6, 0.9, 1.2]


def all_cases():
    """Returns the cases in their order; each has a seed of its own."""
    wanted = [("batches by steps", 1, LOADS), ("whole batches", 1, LOADS),
              ("10, 20, 40 steps", 1, [0.6, 0.9]), ("six models", 1, LOADS),
              ("cascade", 1, LOADS), ("ladder", 1, LOADS), ("latents", 1, LOADS),
              ("images", 1, LOADS), ("batches by steps", 2, [0.6, 0.9]),
              ("six models", 2, [0.6, 0.9]), ("cascade", 2, [0.6, 0.9, 1.2]),
              ("ladder", 2, [0.6, 0.9]), ("latents", 2, [0.9])]
    return [Case(kind, devices, load, seed) for seed, (kind, devices, load) in enumerate(
        ((k, d, x) for k, d, loads in wanted for x in loads), 1)]


def captions(seed):
    """Yields captions of the shipped models' words. Some are popular, and many differ
    from an earlier one by a word, so that a cache finds similar ones."""
    random_ = random.Random(seed)
    subjects = random.Random(0)
    sizes = ["small", "large"]
    colours = ["red", "orange", "yellow", "green", "blue", "purple"]
    shapes = ["circle", "square", "triangle", "star", "ring", "cross", "diamond", "heart"]
    places = ["above", "below", "left of", "right of"]
    grounds = ["white", "black", "gray", "pink", "brown", "navy", "teal"]

    def scene(by):
        return [by.choice(x) for x in (sizes, colours, shapes, places, sizes, colours,
                                       shapes, grounds)]

    topics = [scene(subjects) for _ in range(40)]
    weights = [1 / (1 + rank) for rank in range(len(topics))]
    while True:
        said = list(random_.choices(topics, weights)[0])
        for word in range(len(said)):
            if random_.random() < 0.2:
                said[word] = scene(random_)[word]
        yield "a {} {} {} {} a {} {} {} on a {} background".format(*said)


def requests_of(case, rate, seconds):
    """Returns the requests of a run: when each is due, and what it asks for."""
    random_ = random.Random(1000 + case.seed)
    said = captions(case.seed)
    out = []
    at = random_.expovariate(rate)
    while at < seconds:
        asks = {"at": at, "prompt": next(said), "seed": random_.randrange(2**31)}
        if case.kind == "six models":
            asks["variant"] = random_.choices(
                KINDS[case.kind].variants, [1 / (1 + i) for i in range(len(COPIES))])[0]
        if case.kind == "10, 20, 40 steps":
            asks["steps"] = random_.choices([10, 20, 40], [1, 2, 1])[0]
        out.append(asks)
        at += random_.expovariate(rate)
    return out


def model_of(variant):
    name = variant.split("@")[0]
    return "tiny" if name in COPIES else name


def profile_of(kind, costs, known, prompts):
    """Returns the profile of a kind of case. `costs` has the profile of each model
    alone, `known` is the shipped family's profile, and `prompts` what an earlier run
    measured about captions: the shares of the classifier's classes, and the similarity
    of the nearest earlier work."""
    variants = []
    for name in KINDS[kind].variants:
        one = dict(costs[model_of(name)]["variants"][0], name=name)
        if name in QUALITY:
            one["quality"] = QUALITY[name]
        variants.append(one)
    first = costs[model_of(variants[0]["name"])]
    out = {"format": "atelier.profile", "version": 2, "variants": variants,
           "prepare_ms": first["prepare_ms"], "finish_ms": first["finish_ms"]}
    if kind == "cascade":
        for said in known["variants"]:
            for one in variants:
                if one["name"] == said["name"]:
                    one.update({k: v for k, v in said.items() if k.startswith("quality")})
        out["cascades"] = [x for x in known["cascades"]
                           if (x["heavy"], x["light"]) == KINDS[kind].variants]
    elif kind == "ladder":
        out["ladders"] = [{
            "kind": "smaller_models", "accuracy": ACCURACY,
            "class_shares": prompts["class_shares"],
            "levels": [{"variant": v, "quality": QUALITY[v]}
                       for v in KINDS[kind].variants]}]
    elif kind in REUSING:
        out["reuse"] = {"full": "base@20", "steps": 20, "retrieval_ms": 1,
                        "small": ["tiny@20"] if kind == "images" else [],
                        "latents": LATENTS if kind == "latents" else [],
                        "images": IMAGES if kind == "images" else [],
                        "images_by": "prompts", "near": prompts["near"]}
    # Callers change their profile, and never what another one is made of.
    return copy.deepcopy(out)


def capacity_of_batches(profile, devices):
    """Returns the images a second that devices draw of the first variant in the batch
    that draws the most."""
    one = profile["variants"][0]
    steps = int(one["name"].split("@")[1].split("/")[0].strip(string.ascii_letters))
    beside = one["text_ms"] + one["decode_ms"]
    return devices * max(1000 * s["batch"] / (steps * s["ms"] + s["batch"] * beside)
                         for s in one["step"] if s["batch"] <= MAX_BATCH)
