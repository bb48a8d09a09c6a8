# SPDX-License-Identifier: Apache-2.0
"""Compares the transformer with diffusers' SD3Transformer2DModel.

mmdit.py PROGRAM TORCH_FOLDER

Each case is a small random network; denoisers.py gives the permitted differences.
"""
import os
import sys

import denoisers
import torch_reference

torch = torch_reference.load(sys.argv[2])
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Threads that spin make such small networks slow on a busy machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import diffusers
    from diffusers import SD3Transformer2DModel
except ImportError as error:
    print(f"skipped: no diffusers to compare with ({error})")
    sys.exit(77)

diffusers.utils.logging.set_verbosity_error()

TOY = dict(
    sample_size=16, patch_size=2, in_channels=16, out_channels=16, num_layers=2,
    attention_head_dim=16, num_attention_heads=4, joint_attention_dim=48,
    caption_projection_dim=64, pooled_projection_dim=40, pos_embed_max_size=12)

# Name: configuration, sides of the latent.
CASES = {
    "two joint blocks": (TOY, 16, 16),
    "sides that differ": (TOY, 24, 10),
    "one block": (dict(TOY, num_layers=1), 12, 12),
    "five blocks": (dict(TOY, num_layers=5), 8, 12),
    "patches of one": (dict(TOY, patch_size=1, sample_size=8), 9, 7),
    "patches of four": (dict(TOY, patch_size=4), 16, 32),
    "four channels, wide heads": (
        dict(TOY, in_channels=4, out_channels=4, attention_head_dim=40,
             num_attention_heads=3, caption_projection_dim=120), 16, 8),
}


def build(case, rows=3):
    config, h, w = case
    net = denoisers.with_bfloat16_weights(torch,
                                          SD3Transformer2DModel(**config))
    # The tensor is stored, but is not a parameter.
    net.pos_embed.pos_embed.copy_(
        net.pos_embed.pos_embed.to(torch.bfloat16).float())
    inputs = dict(
        sample=torch.randn(rows, config["in_channels"], h, w),
        timestep=torch.rand(rows) * 999,
        context=torch.randn(rows, 11, config["joint_attention_dim"]),
        pooled=torch.randn(rows, config["pooled_projection_dim"]))
    return net, {k: x if k == "timestep" else x.to(torch.bfloat16).float()
                 for k, x in inputs.items()}


@torch.no_grad()
def peer(net, x, dtype):
    return net.to(dtype)(
        x["sample"].to(dtype), x["context"].to(dtype), x["pooled"].to(dtype),
        x["timestep"]).sample.float()


if __name__ == "__main__":
    sys.exit(1 if denoisers.compare(torch, sys.argv[1], CASES, build, peer)
             else 0)
