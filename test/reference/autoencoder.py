# SPDX-License-Identifier: Apache-2.0
"""Compares gpu::autoencoder with diffusers' AutoencoderKL and AutoencoderTiny: small
random configurations of each variant, made here. Usage: autoencoder.py PROGRAM TORCH"""
import os
import sys
import tempfile

import torch_reference

os.environ["HF_HUB_OFFLINE"] = "1"
torch = torch_reference.load(sys.argv[2])
try:
    import diffusers
    from diffusers import AutoencoderKL, AutoencoderTiny
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from comparison import Comparison

diffusers.utils.logging.set_verbosity_error()

DOWN, UP = "DownEncoderBlock2D", "UpDecoderBlock2D"


def kl(*channels, **options):
    return AutoencoderKL, dict(
        block_out_channels=channels, down_block_types=[DOWN] * len(channels),
        up_block_types=[UP] * len(channels), norm_num_groups=8,
        sample_size=8 * 2 ** (len(channels) - 1), **options)


# Options, and the height and width of the latents.
VARIANTS = {
    "sd 1.x": (kl(32, 48, 64, 64, layers_per_block=2), (7, 5)),
    "sdxl": (kl(16, 32, 32, layers_per_block=2, scaling_factor=0.13025,
                latents_mean=[0.1, -0.2, 0.3, 0.0],
                latents_std=[0.9, 1.1, 1.5, 0.7]), (6, 8)),
    "no attention, no quant": (kl(
        16, 24, mid_block_add_attention=False, use_quant_conv=False,
        use_post_quant_conv=False, shift_factor=0.1, latent_channels=16),
        (9, 4)),
    "one resolution, relu": (kl(16, act_fn="relu"), (12, 9)),
    "two channels a group": (kl(16, 40, 16, layers_per_block=1), (5, 13)),
    "tiny": ((AutoencoderTiny, dict(
        encoder_block_out_channels=(16,) * 4,
        decoder_block_out_channels=(24,) * 4)), (7, 5)),
    "tiny, few blocks, silu": ((AutoencoderTiny, dict(
        encoder_block_out_channels=(16,) * 4,
        decoder_block_out_channels=(16,) * 4, num_encoder_blocks=(0, 1, 2, 1),
        num_decoder_blocks=(1, 2, 0, 1), act_fn="silu",
        scaling_factor=0.5)), (4, 4)),
}


def randomise(model):
    """Changes norms and offsets, which start as ones and zeros, so that they have an
    effect."""
    with torch.no_grad():
        for name, x in model.named_parameters():
            if name.endswith("bias"):
                x.normal_(0, 0.1)
            elif "norm" in name:
                x.normal_(1, 0.2)
    return model.eval()


def scaled(model, mean):
    """Scales a latent as diffusers' pipelines do before they denoise it."""
    config = model.config
    if config.get("latents_mean") is not None:
        mean = mean - torch.tensor(config.latents_mean).view(1, -1, 1, 1)
        return mean * config.scaling_factor \
            / torch.tensor(config.latents_std).view(1, -1, 1, 1)
    return (mean - (config.get("shift_factor") or 0)) * config.scaling_factor


def unscaled(model, latent):
    config = model.config
    if config.get("latents_mean") is not None:
        return latent * torch.tensor(config.latents_std).view(1, -1, 1, 1) \
            / config.scaling_factor \
            + torch.tensor(config.latents_mean).view(1, -1, 1, 1)
    return latent / config.scaling_factor + (config.get("shift_factor") or 0)


def outputs(model, inputs):
    dtype = next(model.parameters()).dtype
    with torch.inference_mode():
        out = model.encode(inputs["pixels"].to(dtype))
        if isinstance(model, AutoencoderTiny):
            mean = out.latents.float()
            log_variance = torch.full_like(mean, -torch.inf)
        else:
            mean = out.latent_dist.mean.float()
            log_variance = out.latent_dist.logvar.float()
        decode = lambda x: model.decode(
            unscaled(model, x).to(dtype)).sample.float()
        model.disable_tiling()
        decoded = decode(inputs["latent"])
        model.enable_tiling()
        tiled = decode(inputs["large_latent"])
        model.disable_tiling()
    return {"mean": mean, "log_variance": log_variance,
            "scaled": scaled(model, mean), "decoded": decoded,
            "first_row": decoded[:1], "tiled": tiled}


def as_before(folder):
    """Names the attention's tensors as diffusers did before 0.18."""
    file = os.path.join(folder, "diffusion_pytorch_model.safetensors")
    names = {"to_q": "query", "to_k": "key", "to_v": "value",
             "to_out.0": "proj_attn"}
    tensors = {}
    for name, x in load_file(file).items():
        for today, before in names.items():
            name = name.replace(f".{today}.", f".{before}.")
        tensors[name] = x
    save_file(tensors, file, {"format": "pt"})


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Comparison(sys.argv[1], folder)
        for what, ((kind, options), (height, width)) in VARIANTS.items():
            torch.manual_seed(11)
            model = randomise(kind(**options))
            at = os.path.join(folder, "network")
            model.save_pretrained(at)
            channels = model.config.latent_channels
            tiny = kind is AutoencoderTiny
            factor = 8 if tiny else 2 ** (len(options["block_out_channels"])
                                          - 1)
            # The last tiles of the large latents have more elements than tiles
            # share: gpu::autoencoder leaves out the others, diffusers does not.
            # Some images have sides that are not whole numbers of elements.
            odd = 0 if tiny else factor // 2
            inputs = {
                "pixels": torch.rand(
                    2, 3, height * factor + odd, width * factor) * 2 - 1,
                "latent": torch.randn(2, channels, height, width)
                * model.config.scaling_factor,
                "large_latent": torch.randn(
                    1, channels, *((71, 20) if tiny else (21, 15)))
                * model.config.scaling_factor}
            truth = outputs(model, inputs)
            ours = check.run(kind.__name__, "float32", at, inputs=inputs)
            check.exact(what, ours, truth)
            if not tiny:
                as_before(at)
                check.exact(what + ", older file, float16 upcast", check.run(
                    kind.__name__, "float16", at, inputs=inputs), ours,
                    bound=0)
            rounded = check.run(kind.__name__, "bfloat16", at, inputs=inputs)
            check.rounded(what + ", bfloat16", rounded,
                          outputs(model.to(torch.bfloat16), inputs), truth)
        check.finish()


main()
