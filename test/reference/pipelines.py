# SPDX-License-Identifier: Apache-2.0
"""Compares whole images: `atelier generate` and `atelier edit` against the pipelines of
diffusers, with the same files, texts and noise, on the device that ATELIER_TEST_DEVICE
names (default: cpu:0)."""
import os
import subprocess
import sys
import tempfile
import time

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder, needs=("diffusers", "transformers", "PIL"))

import diffusers
import numpy
from PIL import Image

import tiny_models
import web_ui_prompts

diffusers.utils.logging.set_verbosity_error()
torch.set_num_threads(2)
DEVICE = os.environ.get("ATELIER_TEST_DEVICE") or "cpu:0"

SAMPLERS = {
    "ddim": (diffusers.DDIMScheduler, {}),
    "euler": (diffusers.EulerDiscreteScheduler, {}),
    "euler_ancestral": (diffusers.EulerAncestralDiscreteScheduler, {}),
    "dpmpp_2m": (diffusers.DPMSolverMultistepScheduler, {}),
    "lcm": (diffusers.LCMScheduler, {}),
}


def case(family, **what):
    base = dict(prompt="the red circle and the blue square", negative="",
                steps=6, guidance=5.0, sampler=None, seed=7, width=64,
                height=64, karras=False, eta=0.0, rescale=0.0, init=None,
                mask=None, strength=None, clip_skip=1, webui="")
    base.update(what)
    return family, base


CASES = [
    case("sd1"),
    case("sd1", guidance=1.0),
    case("sd1", negative="a cat", seed=2**40 + 3),
    case("sd1", width=96, height=80, steps=4),
    case("sd1", eta=1.0),
    case("sd1", sampler="euler"),
    case("sd1", sampler="euler", karras=True),
    case("sd1", sampler="euler_ancestral"),
    case("sd1", sampler="dpmpp_2m", steps=8),
    case("sd1", sampler="dpmpp_2m", karras=True, steps=8),
    case("sd1", prompt=""),
    case("sd1", prompt="circle " * 200),
    case("sd1", clip_skip=2),
    case("sd1", prompt="the (red:1.5) circle", webui="original"),
    case("sd1", prompt="the [red] circle BREAK " + "blue, " * 100,
         negative="(square:1.3)", webui="original"),
    case("sd1", prompt="((the circle))", negative="square, " * 100,
         webui="no_norm", clip_skip=3),
    case("sd1", init="photo", strength=0.6),
    case("sd1", init="photo", strength=1.0),
    case("sd1", init="photo", strength=0.5, sampler="euler"),
    case("sd1", init="photo", mask="half", strength=0.8),
    case("sd1", init="photo", mask="half", strength=1.0),
    case("sd1", init="photo", mask="half", strength=0.7, sampler="euler"),
    case("sd2"),
    case("sd2", sampler="ddim"),
    case("sd2", rescale=0.7),
    case("sd2", sampler="dpmpp_2m", steps=8),
    case("sdxl"),
    case("sdxl", negative="a cat", guidance=7.5),
    case("sdxl", width=96, height=64),
    case("sdxl", clip_skip=3),
    case("sdxl", prompt="the (red:1.4) circle BREAK blue",
         negative="a (cat:0.7)", webui="original"),
    case("sdxl", init="photo", strength=0.5),
    case("turbo", guidance=0.0, steps=1),
    case("turbo", guidance=0.0, steps=4),
    case("refiner", init="photo", strength=0.4),
    case("lcm", steps=4, guidance=8.0),
    case("lcm", steps=2, guidance=3.0),
    case("sd3"),
    case("sd3", guidance=1.0),
    case("sd3", negative="a cat", width=96, height=80),
    case("sd3", init="photo", strength=0.6),
    case("sd3", init="photo", mask="half", strength=0.8),
]


def photo(width, height):
    """Returns an image that is different everywhere."""
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [(x * 3 + y) % 256, (x * y) % 256, (255 - y * 3) % 256]
    return Image.fromarray(numpy.stack(planes, -1).astype("uint8"), "RGB")


def half_mask(width, height):
    plane = numpy.zeros((height, width), "uint8")
    plane[height // 4:, :width // 2] = 255
    return Image.fromarray(plane, "L")


def pipeline_for(family, made, what):
    kinds = {
        "sd1": (diffusers.StableDiffusionPipeline,
                diffusers.StableDiffusionImg2ImgPipeline,
                diffusers.StableDiffusionInpaintPipeline),
        "sdxl": (diffusers.StableDiffusionXLPipeline,
                 diffusers.StableDiffusionXLImg2ImgPipeline,
                 diffusers.StableDiffusionXLInpaintPipeline),
    }
    kinds["sd3"] = (diffusers.StableDiffusion3Pipeline,
                    diffusers.StableDiffusion3Img2ImgPipeline,
                    diffusers.StableDiffusion3InpaintPipeline)
    kinds["sd2"] = kinds["sd1"]
    kinds["turbo"] = kinds["sdxl"]
    if family in kinds:
        which = 2 if what["mask"] else 1 if what["init"] else 0
        made = kinds[family][which](**made.components) if which else made
    if what["sampler"]:
        kind, options = SAMPLERS[what["sampler"]]
        if what["karras"]:
            options = dict(options, use_karras_sigmas=True)
        made.scheduler = kind.from_config(made.scheduler.config, **options)
    made.set_progress_bar_config(disable=True)
    return made.to(DEVICE)


@torch.no_grad()
def decoded(pipe, latents):
    """Returns the image of latents as the other pipelines of Stable Diffusion 3 decode
    them. Their inpainting pipeline omits the shift."""
    config = pipe.vae.config
    image = pipe.vae.decode(
        latents / config.scaling_factor + config.shift_factor).sample
    return pipe.image_processor.postprocess(image, output_type="np")[0]


def predict_apart(pipe, tokens):
    """Makes the U-Net see each of two texts by itself and without padding: the
    pipeline joins them, so that it has to be given texts of equal length. `tokens`
    are those of the negative prompt, then of the prompt."""
    whole = pipe.unet.forward

    def part(of, i):
        if isinstance(of, dict):
            return {key: part(value, i) for key, value in of.items()}
        two = torch.is_tensor(of) and of.dim() > 0 and len(of) == 2
        return of[i:i + 1] if two else of

    def forward(sample, timestep, encoder_hidden_states, **more):
        more["return_dict"] = False
        halves = [whole(part(sample, i), part(timestep, i),
                        encoder_hidden_states[i:i + 1, :count],
                        **part(more, i))[0]
                  for i, count in enumerate(tokens)]
        return (torch.cat(halves),)

    pipe.unet.forward = forward


def by_the_web_ui(pipe, what):
    """Returns a pipeline's arguments for the texts, encoded in the web UI's way."""
    counts = [web_ui_prompts.count_of(pipe, what[x], what["webui"] or "original")
              for x in ("negative", "prompt")]
    count = max(counts)
    if what["guidance"] > 1 and counts[0] != counts[1]:
        predict_apart(pipe, [77 * x for x in counts])
    out = {"prompt": None, "negative_prompt": None}
    for side, name in (("prompt", "prompt"), ("negative", "negative_prompt")):
        states, pooled = web_ui_prompts.encoded(
            pipe, what[side], what["webui"] or "original", what["clip_skip"],
            count)
        out[name + "_embeds"] = states.to(DEVICE)
        if pooled is not None:
            pooled_name = name.replace("prompt", "pooled_prompt_embeds")
            out[pooled_name] = pooled.to(DEVICE)
    return out


def theirs(family, made, what):
    pipe = pipeline_for(family, made, what)
    wanted = dict(prompt=what["prompt"], num_inference_steps=what["steps"],
                  guidance_scale=what["guidance"], output_type="np",
                  generator=torch.Generator("cpu").manual_seed(what["seed"]))
    if family != "lcm" and what["negative"]:
        wanted["negative_prompt"] = what["negative"]
    if what["webui"] or (what["clip_skip"] > 1 and family == "sd1"):
        wanted.update(by_the_web_ui(pipe, what))
    elif what["clip_skip"] > 1:
        # diffusers counts from the layer that the model uses.
        wanted["clip_skip"] = what["clip_skip"] - 2
    if what["eta"]:
        wanted["eta"] = what["eta"]
    if what["rescale"]:
        wanted["guidance_rescale"] = what["rescale"]
    if what["init"]:
        wanted["image"] = photo(what["width"], what["height"])
        wanted["strength"] = what["strength"]
        if what["mask"]:
            wanted["mask_image"] = half_mask(what["width"], what["height"])
    if not what["init"] or what["mask"]:
        wanted.update(width=what["width"], height=what["height"])
    if family == "sd3" and what["mask"]:
        made = decoded(pipe, pipe(**dict(wanted, output_type="latent")).images)
    else:
        made = pipe(**wanted).images[0]
    made = numpy.round(made * 255)
    if what["mask"]:
        # Unmasked pixels are those of the template.
        keep = numpy.asarray(half_mask(what["width"], what["height"])) < 128
        made[keep] = numpy.asarray(photo(what["width"], what["height"]))[keep]
    # The next case has the same network.
    vars(getattr(pipe, "unet", None) or pipe).pop("forward", None)
    return made


def ours(model, what, work):
    out = os.path.join(work, "out.png")
    command = [program, "edit" if what["mask"] else "generate"]
    if what["init"]:
        photo(what["width"], what["height"]).save(os.path.join(work, "in.png"))
    if what["mask"]:
        half_mask(what["width"], what["height"]).save(
            os.path.join(work, "mask.png"))
        command += [os.path.join(work, "in.png"), "--mask",
                    os.path.join(work, "mask.png")]
    elif what["init"]:
        command += ["--init", os.path.join(work, "in.png")]
    if what["init"]:
        command += ["--strength", str(what["strength"])]
    command += [what["prompt"], "--model", model, "--seed", str(what["seed"]),
                "--steps", str(what["steps"]), "--guidance",
                str(what["guidance"]), "--size",
                f"{what['width']}x{what['height']}", "-o", out, "--force",
                "--device", DEVICE, "--set", "devices[0].threads=2"]
    if what["negative"]:
        command += ["--negative", what["negative"]]
    if what["sampler"]:
        command += ["--sampler", what["sampler"]]
    if what["karras"]:
        command += ["--karras"]
    if what["eta"]:
        command += ["--eta", str(what["eta"])]
    if what["rescale"]:
        command += ["--guidance-rescale", str(what["rescale"])]
    if what["clip_skip"] > 1:
        command += ["--clip-skip", str(what["clip_skip"])]
    if what["webui"]:
        command += ["--prompt-syntax", "webui", "--emphasis", what["webui"]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return numpy.asarray(Image.open(out).convert("RGB")).astype("float64"), ""


def main():
    wrong = 0
    worst = 0
    begin = time.time()
    with tempfile.TemporaryDirectory() as work:
        models = {}
        for family, what in CASES:
            at = os.path.join(work, family)
            if family not in models:
                models[family] = tiny_models.FAMILIES[family](at)
                # Each case changes a new copy as it needs.
                models[family] = type(models[family])
            absent = ({"text_encoder_3": None, "tokenizer_3": None}
                      if family == "sd3" else {})
            made = models[family].from_pretrained(at, **absent)
            expected = theirs(family, made, what)
            found, why = ours(at, what, work)
            told = {k: v if isinstance(v, int | float) else v[:40]
                    for k, v in what.items() if v not in ("", None, 0.0)
                    and k != "prompt"}
            if found is None:
                wrong += 1
                print(f"{family} {told}: {why}")
                continue
            if found.shape != expected.shape:
                wrong += 1
                print(f"{family} {told}: {found.shape}, not {expected.shape}")
                continue
            difference = numpy.abs(found - expected).max()
            spread = expected.std()
            worst = max(worst, difference)
            if difference > 2 or spread < 5:
                wrong += 1
                print(f"{family} {told}: differs by {difference:.0f}/255 "
                      f"(deviation of the picture {spread:.0f})")
    print(f"{len(CASES)} pictures, {wrong} wrong, largest difference "
          f"{worst:.0f}/255, {time.time() - begin:.0f} s, diffusers "
          f"{diffusers.__version__}")
    return 1 if wrong else 0


sys.exit(main())
