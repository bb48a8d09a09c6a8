#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the networks of Stable Diffusion 1.5 in diffusers, eager, for unet_bench.

    diffusers_peer.py make FOLDER
    diffusers_peer.py serve unet|vae FOLDER DEVICE

`make` writes FOLDER/{unet,vae}-{float32,bfloat16}: networks of SD 1.5's geometry with
random weights, the same ones in both types.

`serve` loads the network in the folder and answers lines on standard input:

    run INPUT OUTPUT    compute INPUT.safetensors' tensors; write the result to
                        OUTPUT unless that is "-"; answer the milliseconds,
                        and those of all processors together
    peak                answer VmHWM in KiB

Its first line is "ready LOAD_MS KIB_BEFORE"; KIB_BEFORE is VmRSS before loading.
"""
import os
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(x.split()[1]) for x in lines
                    if x.startswith(field + ":"))


def make(folder):
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel

    torch.manual_seed(15)
    build = {
        "unet": lambda: UNet2DConditionModel(
            sample_size=64, cross_attention_dim=768, attention_head_dim=8),
        "vae": lambda: AutoencoderKL(
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            block_out_channels=[128, 256, 512, 512], layers_per_block=2,
            latent_channels=4, sample_size=512),
    }
    for what, construct in build.items():
        if os.path.exists(f"{folder}/{what}-bfloat16/config.json"):
            continue
        net = construct().to(torch.bfloat16)
        for dtype in torch.float32, torch.bfloat16:
            name = str(dtype).removeprefix("torch.")
            net.to(dtype).save_pretrained(f"{folder}/{what}-{name}",
                                          max_shard_size="100GB")
        del net


def serve(what, folder, device):
    import torch
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from safetensors.torch import load_file, save_file

    def finish():
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)

    before = status("VmRSS")
    dtype = torch.bfloat16 if folder.endswith("bfloat16") else torch.float32
    kind = UNet2DConditionModel if what == "unet" else AutoencoderKL
    start = time.perf_counter()
    net = kind.from_pretrained(folder, torch_dtype=dtype).to(device)
    finish()
    loaded = time.perf_counter() - start

    def compute(x):
        if what == "unet":
            return net(x["sample"], x["timestep"], x["context"]).sample
        return net.decode(x["latent"]).sample

    print(f"ready {loaded * 1e3} {before}", flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            command = line.split()
            if command[0] == "peak":
                print(status("VmHWM"), flush=True)
                continue
            x = {k: v.to(device, None if k == "timestep" else dtype)
                 for k, v in load_file(command[1]).items()}
            finish()
            start, busy = time.perf_counter(), time.process_time()
            y = compute(x)
            finish()
            taken = time.perf_counter() - start, time.process_time() - busy
            if command[2] != "-":
                save_file({"result": y.float().cpu().contiguous()}, command[2])
            print(*(t * 1e3 for t in taken), flush=True)
            del x, y


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        serve(*sys.argv[2:])
