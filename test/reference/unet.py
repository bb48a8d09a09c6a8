# SPDX-License-Identifier: Apache-2.0
"""Compares the denoiser with diffusers' UNet2DConditionModel.

unet.py PROGRAM TORCH_FOLDER

Each case is a small random network with the structure of one published family or
variant; denoisers.py gives the permitted differences.
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
    from diffusers import UNet2DConditionModel
except ImportError as error:
    print(f"skipped: no diffusers to compare with ({error})")
    sys.exit(77)

diffusers.utils.logging.set_verbosity_error()

ATTENDS_DOWN = "CrossAttnDownBlock2D"
ATTENDS_UP = "CrossAttnUpBlock2D"
SD = dict(
    block_out_channels=[32, 64, 96],
    down_block_types=[ATTENDS_DOWN, ATTENDS_DOWN, "DownBlock2D"],
    up_block_types=["UpBlock2D", ATTENDS_UP, ATTENDS_UP],
    norm_num_groups=8, cross_attention_dim=40, attention_head_dim=4)
SD2 = dict(SD, use_linear_projection=True, attention_head_dim=[2, 4, 6],
           upcast_attention=True, dual_cross_attention=False)
SDXL = dict(
    block_out_channels=[32, 64, 96],
    down_block_types=["DownBlock2D", ATTENDS_DOWN, ATTENDS_DOWN],
    up_block_types=[ATTENDS_UP, ATTENDS_UP, "UpBlock2D"],
    norm_num_groups=8, cross_attention_dim=40, attention_head_dim=[1, 2, 4],
    use_linear_projection=True, transformer_layers_per_block=[1, 2, 3],
    addition_embed_type="text_time", addition_time_embed_dim=8,
    projection_class_embeddings_input_dim=24 + 6 * 8)
REFINER = dict(
    SDXL, block_out_channels=[32, 64, 64, 96],
    down_block_types=["DownBlock2D", ATTENDS_DOWN, ATTENDS_DOWN, "DownBlock2D"],
    up_block_types=["UpBlock2D", ATTENDS_UP, ATTENDS_UP, "UpBlock2D"],
    attention_head_dim=[2, 4, 4, 8], transformer_layers_per_block=2,
    projection_class_embeddings_input_dim=24 + 5 * 8)

# Name: configuration, sides of the latent.
CASES = {
    "sd 1.5": (SD, 16, 16),
    "sd 1.5, 40 channels a head": (
        dict(SD, block_out_channels=[80, 160, 160], attention_head_dim=2,
             cross_attention_dim=96, norm_num_groups=16), 24, 16),
    "sd 1.5, sides that are no multiple of 4": (SD, 18, 13),
    "sd 1.5, inpainting": (dict(SD, in_channels=9), 16, 16),
    "sd 2": (SD2, 16, 24),
    "sdxl base": (SDXL, 16, 16),
    "sdxl base, odd sides": (SDXL, 15, 9),
    "sdxl refiner": (REFINER, 16, 16),
    "sdxl, transformers by layer": (
        dict(SDXL, transformer_layers_per_block=[0, [2, 1], [3, 1]],
             reverse_transformer_layers_per_block=[[1, 3, 2], [1, 0, 2], 1],
             mid_block_type="UNetMidBlock2D"), 12, 12),
    "lcm": (dict(SD, time_cond_proj_dim=48), 16, 16),
    "sdxl lcm": (dict(SDXL, time_cond_proj_dim=48), 8, 16),
    "small": (dict(SD, layers_per_block=1), 16, 16),
    "tiny": (
        dict(SD, layers_per_block=1, mid_block_type=None,
             block_out_channels=[32, 64],
             down_block_types=[ATTENDS_DOWN, ATTENDS_DOWN],
             up_block_types=[ATTENDS_UP, ATTENDS_UP]), 16, 16),
    "layers by level": (dict(SD, layers_per_block=[1, 3, 2]), 14, 10),
    "context only, by level": (
        dict(SD, only_cross_attention=[True, False, False]), 16, 16),
    "context only": (
        dict(SD, only_cross_attention=True,
             mid_block_only_cross_attention=True), 16, 16),
    "text embedding": (
        dict(SD, addition_embed_type="text", addition_embed_type_num_heads=4),
        16, 16),
    "text embedding, projected context": (
        dict(SD, addition_embed_type="text", addition_embed_type_num_heads=4,
             encoder_hid_dim=56, encoder_hid_dim_type="text_proj"), 16, 16),
    "scale and shift": (dict(SD, resnet_time_scale_shift="scale_shift"), 16, 8),
    "sines first, shifted": (
        dict(SD, flip_sin_to_cos=False, freq_shift=1,
             time_embedding_dim=72), 16, 16),
    "kernels, padding, factors": (
        dict(SD, conv_in_kernel=5, conv_out_kernel=1, downsample_padding=0,
             mid_block_scale_factor=1.7, norm_eps=1e-6, act_fn="swish",
             center_input_sample=True, out_channels=8), 16, 18),
}


def build(case, rows=3):
    config, h, w = case
    net = denoisers.with_bfloat16_weights(torch,
                                          UNet2DConditionModel(**config))
    width = config.get("encoder_hid_dim") or config["cross_attention_dim"]
    inputs = dict(
        sample=torch.randn(rows, config.get("in_channels", 4), h, w),
        timestep=torch.rand(rows) * 999,
        context=torch.randn(rows, 11, width))
    if config.get("addition_embed_type") == "text_time":
        ids = (config["projection_class_embeddings_input_dim"] - 24) // 8
        inputs["pooled"] = torch.randn(rows, 24)
        inputs["time_ids"] = torch.rand(rows, ids) * 1024
    if "time_cond_proj_dim" in config:
        inputs["guidance"] = torch.randn(rows, config["time_cond_proj_dim"])
    inputs = {k: x if k in ("timestep", "time_ids")
              else x.to(torch.bfloat16).float() for k, x in inputs.items()}
    return net, inputs


@torch.no_grad()
def peer(net, x, dtype):
    added = {}
    if "pooled" in x:
        added = dict(text_embeds=x["pooled"].to(dtype), time_ids=x["time_ids"])
    guidance = x["guidance"].to(dtype) if "guidance" in x else None
    return net.to(dtype)(
        x["sample"].to(dtype), x["timestep"], x["context"].to(dtype),
        timestep_cond=guidance, added_cond_kwargs=added).sample.float()


if __name__ == "__main__":
    sys.exit(1 if denoisers.compare(torch, sys.argv[1], CASES, build, peer)
             else 0)
