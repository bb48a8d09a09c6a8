# SPDX-License-Identifier: Apache-2.0
"""diffusers' side of vae_bench.

vae_peer.py make FOLDER TYPE writes an autoencoder of Stable Diffusion's shape with
random weights, and latents.
vae_peer.py run FOLDER TYPE SIDE BATCH THREADS prints how long loading took; then it
decodes once for each line of its input, and prints how long that took.
"""
import os
import resource
import sys
import time

import torch

os.environ["HF_HUB_OFFLINE"] = "1"
import diffusers
from diffusers import AutoencoderKL
from safetensors.torch import load_file, save_file

diffusers.utils.logging.set_verbosity_error()


def make(folder, dtype):
    torch.manual_seed(1)
    AutoencoderKL(
        block_out_channels=(128, 256, 512, 512), layers_per_block=2,
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        sample_size=512).to(dtype).save_pretrained(folder)
    save_file({"latent": torch.randn(4, 4, 128, 128)},
              os.path.join(folder, "latent.safetensors"))


def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def say(*what):
    print(*what, flush=True)


def run(folder, dtype, side, batch, threads):
    torch.set_num_threads(threads)
    before = peak_kib()
    start = time.perf_counter()
    vae = AutoencoderKL.from_pretrained(folder, torch_dtype=dtype).eval()
    say("loaded", time.perf_counter() - start, before)
    latent = load_file(os.path.join(folder, "latent.safetensors"))["latent"]
    latent = latent[:batch, :, :side // 8, :side // 8].to(dtype)
    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        with torch.inference_mode():
            picture = vae.decode(latent / vae.config.scaling_factor).sample
        took = time.perf_counter() - wall, time.process_time() - cpu
        if line.startswith("save"):
            save_file({"picture": picture.float().contiguous()},
                      line.split()[1])
        del picture
        say("took", *took)
    say("peak", peak_kib())


what, folder, dtype, *rest = sys.argv[1:]
if what == "make":
    make(folder, getattr(torch, dtype))
else:
    run(folder, getattr(torch, dtype), *map(int, rest))
