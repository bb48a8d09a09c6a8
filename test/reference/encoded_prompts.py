# SPDX-License-Identifier: Apache-2.0
"""Compares the encoding of prompts in the web UI's syntax with its definition over
transformers' text encoders, for small models of each family. Usage: encoded_prompts.py
PROGRAM TORCH"""
import json
import os
import random
import subprocess
import sys
import tempfile

import torch_reference

torch = torch_reference.load(sys.argv[2], needs=("diffusers", "transformers"))

import diffusers
from safetensors.torch import load_file

import tiny_models
import web_ui_prompts
from comparison import Comparison

diffusers.utils.logging.set_verbosity_error()

WORDS = ["red", "the", "circle", "blue", "square", "and", "x", "a b"]


def fixed():
    """Yields the prompts that each rule needs."""
    yield "the red circle", {}
    yield "", {}
    for weight in (0.5, 0.75, 1, 1.3, 2):
        yield f"the (red:{weight}) circle", {}
    yield "a ((red) [circle]) [[blue]] (square", {}
    yield r"\(red\) \[circle\] (blue:1.2)", {}
    yield "(red:1.4) BREAK the [circle] BREAK", {}
    yield "BREAK red", {}
    yield "(red:-1) circle", {}
    for emphasis in ("no_norm", "ignore", "off"):
        yield "a (red:1.5) circle BREAK [blue]", {"emphasis": emphasis}
    for clip_skip in (1, 2, 3, 4):
        yield "the (red:1.3) circle", {"clip_skip": clip_skip}
    for count in (1, 74, 75, 76, 150, 151, 300):
        yield "red " * count, {}
    yield "red " * 60 + ", " + "(blue:1.3) " * 30, {}
    yield "red " * 50 + ", " + "blue " * 40, {}
    yield "red " * 75 + ", blue", {}


def drawn(count):
    draw = random.Random(7)
    for _ in range(count):
        text = ""
        for _ in range(draw.randint(1, 60)):
            word = draw.choice(WORDS) + draw.choice([" ", ", ", " "])
            text += draw.choice([
                word, word, f"({word})", f"[{word}]", "(", "[", ")", "]",
                f"({word}:{draw.uniform(.5, 1.6):.2f})", r"\(", ": "]) + " "
        if draw.random() < .3:
            text += "BREAK " + draw.choice(WORDS)
        yield text, {"emphasis": draw.choice(["original", "no_norm"]),
                     "clip_skip": draw.randint(1, 3)}


def outputs(program, model, cases, folder):
    asked = os.path.join(folder, "cases.json")
    made = os.path.join(folder, "out.safetensors")
    with open(asked, "w", encoding="utf-8") as file:
        json.dump([dict(how, text=text) for text, how in cases], file)
    subprocess.run([program, model, asked, made], check=True)
    return load_file(made)


def within_the_range(text):
    return all(abs(x[1]) < 99 for x in web_ui_prompts.weighted(text))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        check = Comparison(program, folder)
        for family in ("sd1", "sd2", "sdxl"):
            at = os.path.join(folder, family)
            pipe = tiny_models.FAMILIES[family](at)
            layers = pipe.text_encoder.config.num_hidden_layers
            cases = [(text, how) for text, how in [*fixed(), *drawn(40)]
                     if within_the_range(text)
                     and how.get("clip_skip", 1) <= layers]
            found = outputs(program, at, cases, folder)
            for i, (text, how) in enumerate(cases):
                states, pooled = web_ui_prompts.encoded(pipe, text, **how)
                truth = {"context": states}
                if pooled is not None:
                    truth["pooled"] = pooled
                check.exact(f"{family} {text[:40]!r} {how}",
                            {key: found[f"{key}.{i}"] for key in truth}, truth)
        check.finish()


main()
