# SPDX-License-Identifier: Apache-2.0
"""Lays models of diffusers and transformers out as Stable Diffusion's original
checkpoints. It is the inverse of the tested code, and written independently of it."""
import re

RESNET = {"norm1": "in_layers.0", "conv1": "in_layers.2",
          "time_emb_proj": "emb_layers.1", "norm2": "out_layers.0",
          "conv2": "out_layers.3", "conv_shortcut": "skip_connection"}
UNET_ENDS = {"time_embedding.linear_1": "time_embed.0",
             "time_embedding.linear_2": "time_embed.2",
             "time_embedding.cond_proj": "time_embed.cond_proj",
             "add_embedding.linear_1": "label_emb.0.0",
             "add_embedding.linear_2": "label_emb.0.2",
             "conv_in": "input_blocks.0.0", "conv_norm_out": "out.0",
             "conv_out": "out.2"}
VAE_ATTENTION = {"group_norm": "norm", "to_q": "q", "to_k": "k", "to_v": "v",
                 "to_out.0": "proj_out"}
OPEN_CLIP_LAYER = {"layer_norm1": "ln_1", "layer_norm2": "ln_2",
                   "self_attn.out_proj": "attn.out_proj",
                   "mlp.fc1": "mlp.c_fc", "mlp.fc2": "mlp.c_proj"}


def unet(model):
    """Returns the tensors of a UNet2DConditionModel, with their original names."""
    per_level = model.config.layers_per_block + 1
    out = {}
    for name, value in model.state_dict().items():
        stem, last = name.rsplit(".", 1)
        found = re.match(r"(down|up|mid)_blocks?\.(?:(\d+)\.)?(\w+)\.(\d+)\.(.+)",
                         stem)
        if not found:
            out[f"{UNET_ENDS[stem]}.{last}"] = value
            continue
        row, level, kind, layer, inner = found.groups()
        layer = int(layer)
        if kind == "resnets":
            inner = RESNET[inner]
        if row == "mid":
            place = (f"middle_block.{2 * layer}" if kind == "resnets"
                     else "middle_block.1")
        elif row == "down":
            block = 1 + int(level) * per_level + layer
            if kind == "downsamplers":
                block, inner = (int(level) + 1) * per_level, "op"
            place = f"input_blocks.{block}.{int(kind == 'attentions')}"
        else:
            block = int(level) * per_level + layer
            module = int(kind == "attentions")
            if kind == "upsamplers":
                block = (int(level) + 1) * per_level - 1
                module = 1 + hasattr(model.up_blocks[int(level)], "attentions")
            place = f"output_blocks.{block}.{module}"
        out[f"{place}.{inner}.{last}"] = value
    return out


def vae(model):
    """Returns the tensors of an AutoencoderKL, with their original names."""
    levels = len(model.config.block_out_channels)
    out = {}
    for name, value in model.state_dict().items():
        name = name.replace("conv_shortcut", "nin_shortcut")
        name = name.replace("conv_norm_out", "norm_out")
        name = re.sub(r"mid_block\.resnets\.(\d)",
                      lambda x: f"mid.block_{int(x[1]) + 1}", name)
        name = re.sub(r"down_blocks\.(\d+)\.resnets", r"down.\1.block", name)
        name = re.sub(r"down_blocks\.(\d+)\.downsamplers\.0",
                      r"down.\1.downsample", name)
        name = re.sub(r"up_blocks\.(\d+)\.(resnets|upsamplers\.0)",
                      lambda x: f"up.{levels - 1 - int(x[1])}."
                      + ("block" if x[2] == "resnets" else "upsample"), name)
        found = re.match(r"(\w+)\.mid_block\.attentions\.0\.(.+)\.(\w+)", name)
        if found:
            name = f"{found[1]}.mid.attn_1.{VAE_ATTENTION[found[2]]}.{found[3]}"
            if value.ndim == 2:
                value = value[:, :, None, None]
        out[name] = value
    return out


def wrapped(state):
    """Returns a text encoder's tensors with the prefix that transformers 5 leaves out
    of CLIPTextModel's names."""
    return {name if name.startswith("text_") else f"text_model.{name}": value
            for name, value in state.items()
            if not name.endswith("position_ids")}


def open_clip(model, torch):
    """Returns the tensors of a CLIPTextModel(WithProjection) with OpenCLIP's names."""
    state = wrapped(model.state_dict())
    out = {}
    for name, value in state.items():
        found = re.match(r"text_model\.encoder\.layers\.(\d+)\.(.+)\.(\w+)",
                         name)
        if not found:
            continue
        place = f"transformer.resblocks.{found[1]}."
        if found[2] in OPEN_CLIP_LAYER:
            out[f"{place}{OPEN_CLIP_LAYER[found[2]]}.{found[3]}"] = value
        elif found[2] == "self_attn.q_proj":
            out[f"{place}attn.in_proj_{found[3]}"] = torch.cat(
                [state[name.replace("q_proj", x)]
                 for x in ("q_proj", "k_proj", "v_proj")])
    out["token_embedding.weight"] = state[
        "text_model.embeddings.token_embedding.weight"]
    out["positional_embedding"] = state[
        "text_model.embeddings.position_embedding.weight"]
    for last in ("weight", "bias"):
        out[f"ln_final.{last}"] = state[f"text_model.final_layer_norm.{last}"]
    if "text_projection.weight" in state:
        out["text_projection"] = state["text_projection.weight"].T.contiguous()
    return out


def prefixed(prefix, state):
    return {prefix + name: value for name, value in state.items()}
