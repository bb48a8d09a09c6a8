# SPDX-License-Identifier: Apache-2.0
"""Loads the family, as trainable networks write it, into diffusers' and transformers'
own classes. Compares the tokens of every word, each network's output, and whole images
of `atelier generate`."""
import json
import os
import subprocess
import sys
import tempfile
import time

import torch_reference

program, folder, atelier = sys.argv[1:]
torch = torch_reference.load(folder, needs=("diffusers", "transformers", "PIL"))

import diffusers
import numpy
import transformers
from PIL import Image
from safetensors.torch import load_file

diffusers.utils.logging.set_verbosity_error()
diffusers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(2)
torch.set_grad_enabled(False)

MEMBERS = ["base", "small", "tiny", "turbo"]
PROMPT = "a large red circle above a small blue star on a white background"
# The tolerance is relative to the largest number of the output.
TOLERANCE = 1e-4
CASES = [
    ("base", dict(steps=5, guidance=3.0)),
    ("small", dict(steps=4, guidance=1.0)),
    ("small", dict(steps=4, guidance=3.0, negative="a green heart")),
    ("tiny", dict(steps=6, guidance=5.0)),
    ("tiny", dict(steps=3, guidance=3.0, prompt="two elephants, 3 cats!")),
    ("turbo", dict(steps=2, guidance=1.0)),
    ("half", dict(steps=4, guidance=3.0)),
    ("models/base", dict(steps=4, guidance=3.0)),
    ("models/turbo", dict(steps=2, guidance=1.0)),
]

# The shipped models, which the program uses by default.
SHIPPED = os.path.realpath(os.path.join(os.path.dirname(__file__),
                                        "../../models"))
CASES += [(os.path.join(SHIPPED, name), dict(steps=steps, guidance=guidance))
          for name, steps, guidance in [("base", 50, 2.0), ("small", 50, 2.0),
                                        ("tiny", 50, 2.0), ("turbo", 4, 1.0)]
          if os.path.isdir(os.path.join(SHIPPED, name))]


class Comparison:
    def __init__(self):
        self.wrong = 0

    def expect(self, condition, text):
        if not condition:
            self.wrong += 1
            print("WRONG:", text)

    def close(self, name, found, expected):
        worst = ((found - expected).abs().max() / expected.abs().max()).item()
        print(f"{name}: {worst:.1e}")
        self.expect(worst <= TOLERANCE, f"{name} differs by {worst:.1e}")
        self.expect(expected.std() > 1e-3, f"{name} is flat")


def compare_networks(check, at, pipe, member):
    made = load_file(os.path.join(at, member + ".safetensors"))
    text = pipe.text_encoder(made["ids"].long())
    check.close(f"{member} text states", made["states"], text.last_hidden_state)
    check.close(f"{member} text pooled", made["pooled"], text.pooler_output)
    out = pipe.unet(made["latents"], made["timesteps"],
                    encoder_hidden_states=made["states"]).sample
    check.close(f"{member} denoiser", made["prediction"], out)
    for part, name in ((pipe.unet, "unet"), (pipe.text_encoder, "text_encoder")):
        stored = {}
        for file in os.listdir(os.path.join(at, member, name)):
            if file.endswith(".safetensors"):
                stored = load_file(os.path.join(at, member, name, file))
        parameters = dict(part.named_parameters())
        known = {key.removeprefix("text_model."): x for key, x in stored.items()}
        check.expect({key.removeprefix("text_model.") for key in parameters}
                     == set(known), f"{member} {name}: names differ")


def compare_preview(check, at):
    made = load_file(os.path.join(at, "preview.safetensors"))
    tiny = diffusers.AutoencoderTiny.from_pretrained(
        os.path.join(at, "base", "vae_preview"))
    check.close("preview encoder", made["encoded"],
                tiny.encode(made["pixels"]).latents)
    check.close("preview decoder", made["decoded"],
                tiny.decode(made["latents"]).sample)


def compare_scorer(check, at):
    made = load_file(os.path.join(at, "scorer.safetensors"))
    model = transformers.CLIPModel.from_pretrained(os.path.join(at, "scorer"))
    out = model(input_ids=made["ids"].long(), pixel_values=made["pixels"])
    check.close("scorer pictures", made["pictures"], out.image_embeds)
    check.close("scorer texts", made["texts"], out.text_embeds)
    check.close("scorer features", made["features"],
                model.vision_model(made["pixels"]).pooler_output)
    reader = transformers.CLIPProcessor.from_pretrained(
        os.path.join(at, "scorer"))
    pixels = numpy.full((128, 128, 3), 255, "uint8")
    read = reader(text=PROMPT, images=Image.fromarray(pixels),
                  padding="max_length", return_tensors="pt")
    check.expect(read["pixel_values"].shape == (1, 3, 128, 128)
                 and (read["pixel_values"] - 1).abs().max() < 1e-5,
                 "the processor's pixels")
    check.expect(read["input_ids"].shape == (1, 48), "the processor's tokens")


def compare_tokens(check, at, words):
    with open(os.path.join(at, "base", "known_words.txt"),
              encoding="utf-8") as lines:
        known = lines.read().split()
    vocabulary = json.load(open(os.path.join(at, "base", "tokenizer",
                                             "vocab.json"), encoding="utf-8"))
    seen = set()
    for word in known + [",", "."]:
        ids = words(word).input_ids
        check.expect(len(ids) == 3, f"'{word}' has {len(ids) - 2} tokens")
        seen.add(ids[1])
        check.expect(vocabulary.get(word + "</w>") == ids[1],
                     f"'{word}' is not token {ids[1]}")
    check.expect(len(seen) == len(known) + 2, "two words share a token")
    check.expect(words.unk_token_id not in words("Elephants, Ümlaut 12?")
                 .input_ids[1:-1], "an unknown word ends the text")
    print(f"{len(known)} words, one token each, of {len(vocabulary)}")


def ours(at, member, what, work):
    out = os.path.join(work, "out.png")
    command = [atelier, "generate", what.get("prompt", PROMPT),
               "--model", os.path.join(at, member), "--seed", "7",
               "--steps", str(what["steps"]), "--guidance",
               str(what["guidance"]), "-o", out, "--force",
               "--set", "devices[0].threads=2"]
    if "negative" in what:
        command += ["--negative", what["negative"]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return (numpy.asarray(Image.open(out).convert("RGB")).astype("float64"),
            done.stderr)


def main():
    begin = time.time()
    check = Comparison()
    worst = 0
    with tempfile.TemporaryDirectory() as at:
        subprocess.run([program, at], check=True)
        subprocess.run([atelier, "train", "export", "--dir",
                        os.path.join(at, "run"), "-o",
                        os.path.join(at, "models")], check=True)
        pipes = {}
        for member in dict.fromkeys(MEMBERS + [x for x, _ in CASES]):
            pipes[member] = diffusers.StableDiffusionPipeline.from_pretrained(
                os.path.join(at, member))
            pipes[member].set_progress_bar_config(disable=True)
        for member in MEMBERS:
            compare_networks(check, at, pipes[member], member)
        compare_preview(check, at)
        compare_scorer(check, at)
        compare_tokens(check, at, pipes["base"].tokenizer)
        for member, what in CASES:
            picture = pipes[member](
                what.get("prompt", PROMPT), output_type="np",
                negative_prompt=what.get("negative"),
                num_inference_steps=what["steps"],
                guidance_scale=what["guidance"],
                generator=torch.Generator("cpu").manual_seed(7)).images[0]
            expected = numpy.round(picture * 255)
            found, told = ours(at, member, what, at)
            if found is None or found.shape != expected.shape:
                check.expect(False, f"{member} {what}: {told}")
                continue
            difference = numpy.abs(found - expected).max()
            worst = max(worst, difference)
            check.expect(difference <= 2 and expected.std() > 5,
                         f"{member} {what}: differs by {difference:.0f}/255 "
                         f"(deviation {expected.std():.0f})")
            unknown = "elephants" in what.get("prompt", "")
            check.expect(("does not know 'elephants'" in told) == unknown,
                         f"{member} {what}: told {told!r}")
    print(f"{len(CASES)} pictures, largest difference {worst:.0f}/255, "
          f"{check.wrong} wrong, {time.time() - begin:.0f} s, diffusers "
          f"{diffusers.__version__}, transformers {transformers.__version__}")
    return 1 if check.wrong else 0


sys.exit(main())
