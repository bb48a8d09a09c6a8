# SPDX-License-Identifier: Apache-2.0
"""Makes small checkpoints in Stable Diffusion's original layout, with only Python's
standard library."""
import json
import struct


def safetensors(tensors):
    """Returns the bytes of a file of float32 tensors, name -> shape."""
    header, data = {}, b""
    for number, (name, shape) in enumerate(sorted(tensors.items())):
        count = 1
        for side in shape:
            count *= side
        piece = struct.pack("<f", number / 64) * count
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets":
                        [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


class Layers(dict):
    """Tensors by name, added layer by layer."""

    def norm(self, name, width):
        self[f"{name}.weight"], self[f"{name}.bias"] = [width], [width]

    def linear(self, name, width, to):
        self[f"{name}.weight"], self[f"{name}.bias"] = [to, width], [to]

    def conv(self, name, width, to, side=3):
        self[f"{name}.weight"] = [to, width, side, side]
        self[f"{name}.bias"] = [to]


def unet(to, width=32):
    """Adds a denoiser of one level, without attention."""
    start = "model.diffusion_model."
    to.linear(f"{start}time_embed.0", width, 4 * width)
    to.linear(f"{start}time_embed.2", 4 * width, 4 * width)
    to.conv(f"{start}input_blocks.0.0", 4, width)
    for name, wide in (("input_blocks.1.0", width),
                       ("output_blocks.0.0", 2 * width),
                       ("output_blocks.1.0", 2 * width)):
        name = start + name
        to.norm(f"{name}.in_layers.0", wide)
        to.conv(f"{name}.in_layers.2", wide, width)
        to.linear(f"{name}.emb_layers.1", 4 * width, width)
        to.norm(f"{name}.out_layers.0", width)
        to.conv(f"{name}.out_layers.3", width, width)
        if wide != width:
            to.conv(f"{name}.skip_connection", wide, width, 1)
    to.norm(f"{start}out.0", width)
    to.conv(f"{start}out.2", width, 4)


def vae(to, width=32, start="first_stage_model.", levels=1):
    """Adds an autoencoder; each level but one halves an image's sides."""
    for half, row, layers in (("encoder", "down", 1), ("decoder", "up", 2)):
        half = start + half
        blocks = [f"{half}.mid.block_1", f"{half}.mid.block_2"]
        blocks += [f"{half}.{row}.{level}.block.{i}"
                   for level in range(levels) for i in range(layers)]
        for level in range(1, levels):
            at = level - 1 if row == "down" else level
            to.conv(f"{half}.{row}.{at}.{row}sample.conv", width, width)
        for name in blocks:
            to.norm(f"{name}.norm1", width)
            to.conv(f"{name}.conv1", width, width)
            to.norm(f"{name}.norm2", width)
            to.conv(f"{name}.conv2", width, width)
        to.norm(f"{half}.mid.attn_1.norm", width)
        for name in ("q", "k", "v", "proj_out"):
            to.conv(f"{half}.mid.attn_1.{name}", width, width, 1)
        to.norm(f"{half}.norm_out", width)
    to.conv(f"{start}encoder.conv_in", 3, width)
    to.conv(f"{start}encoder.conv_out", width, 8)
    to.conv(f"{start}decoder.conv_in", 4, width)
    to.conv(f"{start}decoder.conv_out", width, 3)
    to.conv(f"{start}quant_conv", 8, 8, 1)
    to.conv(f"{start}post_quant_conv", 4, 4, 1)


def text(to, width=64):
    """Adds a text encoder of one layer."""
    start = "cond_stage_model.transformer.text_model."
    to[f"{start}embeddings.token_embedding.weight"] = [20, width]
    to[f"{start}embeddings.position_embedding.weight"] = [77, width]
    layer = f"{start}encoder.layers.0."
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        to.linear(f"{layer}self_attn.{name}", width, width)
    to.linear(f"{layer}mlp.fc1", width, 96)
    to.linear(f"{layer}mlp.fc2", 96, width)
    for name in (f"{layer}layer_norm1", f"{layer}layer_norm2",
                 f"{start}final_layer_norm"):
        to.norm(name, width)


def checkpoint(without=(), more=(), levels=1):
    """Returns the tensors of a small SD 1.x, name -> shape."""
    out = Layers()
    unet(out)
    vae(out, levels=levels)
    text(out)
    for name in without:
        del out[name]
    out.update(more)
    return out
