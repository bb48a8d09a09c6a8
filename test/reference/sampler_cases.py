# SPDX-License-Identifier: Apache-2.0
"""Draws combinations of schedules, samplers and options to run."""
import itertools

import torch_reference

CLASSES = {"ddim": "DDIMScheduler", "euler": "EulerDiscreteScheduler",
           "euler_ancestral": "EulerAncestralDiscreteScheduler",
           "dpmpp_2m": "DPMSolverMultistepScheduler", "lcm": "LCMScheduler",
           "flow_match_euler": "FlowMatchEulerDiscreteScheduler"}
SPACINGS = ("leading", "trailing", "linspace")
PREDICTIONS = ("epsilon", "v_prediction", "sample")
STRENGTHS = (1.0, 0.75, 0.3)
SD = {"beta_start": 0.00085, "beta_end": 0.012,
      "beta_schedule": "scaled_linear"}
random = torch_reference.generator()


def step_counts():
    """Draws numbers of steps; at full scale all of them are used."""
    counts = [1, 2, 7, 20]
    return counts if torch_reference.scaled(2) == 2 else random.sample(
        counts, 2)


def case(sampler, file, steps, strength=1.0, eta=0.0, karras=False,
         from_clean=False, file_class=None):
    return {"sampler": sampler, "steps": steps, "strength": strength,
            "eta": eta, "karras": karras, "from_clean": from_clean,
            "file": {"_class_name": file_class or CLASSES[sampler], **file}}


def betas(zero_snr):
    """Draws a noise schedule, mostly Stable Diffusion's."""
    cosine = {"beta_schedule": "squaredcos_cap_v2"}
    # Other rescaled schedules have rising sigmas at their end, which diffusers itself
    # maps to timesteps by the last bit.
    if zero_snr:
        return random.choice([SD, SD, SD, cosine])
    trained = {"trained_betas": [0.0002 + 2e-5 * i for i in range(1000)]}
    return random.choice([SD, SD, SD, {}, cosine, trained, {
        "beta_schedule": "linear", "beta_end": 0.015}])


def cases():
    zero = (False, True)
    for spacing, predicts, snr, strength, steps in (
            (*x, n) for x in itertools.product(
                SPACINGS, PREDICTIONS, zero, STRENGTHS)
            for n in step_counts()):
        file = {"timestep_spacing": spacing, "prediction_type": predicts,
                "rescale_betas_zero_snr": snr,
                "steps_offset": random.choice([0, 1])}
        clean = random.choice(zero)
        for eta in (0.0, 0.4, 1.0):
            yield case("ddim", {**file, **betas(snr),
                                "clip_sample": random.choice(zero),
                                "clip_sample_range": random.choice([1.0, 2.5]),
                                "set_alpha_to_one": random.choice(zero)},
                       steps, strength, eta, from_clean=clean)
        for karras, kind in itertools.product(zero, ("linear", "log_linear")):
            yield case("euler", {**file, **betas(snr), "interpolation_type": kind,
                                 "timestep_type": random.choice(
                                     ["discrete", "continuous"])},
                       steps, strength, karras=karras, from_clean=clean)
        yield case("euler_ancestral", {**file, **betas(snr)}, steps, strength,
                   from_clean=clean)
        for karras in zero:
            yield case("dpmpp_2m", {**file, **betas(snr)}, steps, strength,
                       karras=karras, from_clean=clean)
    for predicts, snr, original, strength, steps in (
            (*x, n) for x in itertools.product(
                PREDICTIONS, zero, (50, 20, 1000), STRENGTHS)
            for n in step_counts()):
        yield case("lcm", {"prediction_type": predicts,
                           "rescale_betas_zero_snr": snr,
                           "original_inference_steps": original,
                           "clip_sample": random.choice(zero),
                           "timestep_scaling": random.choice([10.0, 0.003])},
                   steps, strength, from_clean=random.choice(zero))
    for shift, karras, strength, steps in (
            (*x, n) for x in itertools.product(
                (1.0, 3.0, 0.5), zero, STRENGTHS) for n in step_counts()):
        yield case("flow_match_euler", {"shift": shift}, steps, strength,
                   karras=karras, from_clean=random.choice(zero))
    yield from other_samplers()
    yield from many_steps()


def other_samplers():
    """Draws runs with another sampler than the file's, which may be missing."""
    names = [x for x in CLASSES if x != "flow_match_euler"]
    files = [{}, SD, {**SD, "steps_offset": 1, "clip_sample": False,
                      "set_alpha_to_one": False, "skip_prk_steps": True},
             {**SD, "timestep_spacing": "trailing", "steps_offset": 1},
             {"prediction_type": "v_prediction", "clip_sample": True}]
    for source, with_, file in itertools.product(
            names + ["pndm"], names, files):
        yield case(with_, file, 10,
                   random.choice([1.0, random.randrange(1, 100) / 100]),
                   file_class=CLASSES.get(source, "PNDMScheduler"))


def many_steps():
    counts = [48, 50, 112, 150, 333, 998, 999, 1000]
    for sampler, spacing in itertools.product(
            ("ddim", "euler", "euler_ancestral", "dpmpp_2m"), SPACINGS):
        for steps in random.sample(counts, 1):
            yield case(sampler, {**SD, "timestep_spacing": spacing}, steps,
                       karras=(sampler in ("euler", "dpmpp_2m")
                               and random.choice([False, True])))
    yield case("lcm", {}, 50)
    yield case("flow_match_euler", {"shift": 3.0}, 150)
