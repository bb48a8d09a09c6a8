# SPDX-License-Identifier: Apache-2.0
"""Makes small models for checkpoints in one file, and brings their configurations into
one form."""
import diffusers
import transformers


def text_model(hidden, layers, act, projection=None):
    config = transformers.CLIPTextConfig(
        vocab_size=120, hidden_size=hidden, intermediate_size=96,
        num_hidden_layers=layers, num_attention_heads=hidden // 64,
        hidden_act=act, projection_dim=projection or hidden,
        max_position_embeddings=77, bos_token_id=0, eos_token_id=2)
    return (transformers.CLIPTextModelWithProjection(config) if projection
            else transformers.CLIPTextModel(config))


def unet_model(channels, depths, cross, linear, **more):
    """Makes a denoiser. `depths` has the transformer blocks of each level, 0 for one
    without attention. The last is also the middle's."""
    levels = range(len(channels))
    settings = dict(
        sample_size=8, block_out_channels=channels,
        down_block_types=[("CrossAttn" if depths[i] else "") + "DownBlock2D"
                          for i in levels],
        up_block_types=[("CrossAttn" if depths[i] else "") + "UpBlock2D"
                        for i in reversed(levels)],
        transformer_layers_per_block=[x or 1 for x in depths],
        layers_per_block=2, cross_attention_dim=cross,
        use_linear_projection=linear,
        attention_head_dim=[max(1, c // 64) for c in channels] if linear else 8)
    settings.update(more)
    return diffusers.UNet2DConditionModel(**settings)


def vae_model(scale, channels=(32, 64)):
    return diffusers.AutoencoderKL(
        block_out_channels=channels, latent_channels=4, layers_per_block=2,
        down_block_types=["DownEncoderBlock2D"] * len(channels),
        up_block_types=["UpDecoderBlock2D"] * len(channels),
        scaling_factor=scale)


def original_config(unet, vae):
    """Returns the content of such a model's yaml file."""
    x, y = unet.config, vae.config
    widths = x.block_out_channels
    attended = [2 ** i for i, kind in enumerate(x.down_block_types)
                if kind.startswith("CrossAttn")]
    depth = x.transformer_layers_per_block
    params = {"in_channels": x.in_channels, "out_channels": x.out_channels,
              "model_channels": widths[0], "num_res_blocks": x.layers_per_block,
              "channel_mult": [w // widths[0] for w in widths],
              "attention_resolutions": attended,
              "transformer_depth": depth, "context_dim": x.cross_attention_dim}
    if x.use_linear_projection:
        params |= {"use_linear_in_transformer": True, "num_head_channels": 64}
    else:
        params["num_heads"] = 8
    if x.addition_embed_type:
        params |= {"num_classes": "sequential", "adm_in_channels":
                   x.projection_class_embeddings_input_dim}
    first = {"ddconfig": {"ch": y.block_out_channels[0], "ch_mult":
                          [w // y.block_out_channels[0]
                           for w in y.block_out_channels],
                          "in_channels": 3, "out_ch": 3,
                          "z_channels": y.latent_channels,
                          "num_res_blocks": y.layers_per_block}}
    return {"model": {"params": {
        "unet_config": {"params": params}, "scale_factor": y.scaling_factor,
        "first_stage_config": {"params": first}, "timesteps": 1000,
        "linear_start": 0.00085, "linear_end": 0.012}}}


def spread(value, levels):
    return value if isinstance(value, (list, tuple)) else [value] * levels


def effect(config, attended=None):
    """Returns a configuration in one form: with lists, and without levels that it does
    not describe."""
    out = {k: list(v) if isinstance(v, tuple) else v
           for k, v in config.items() if not k.startswith("_")}
    if "transformer_layers_per_block" in out:
        levels = len(out["block_out_channels"])
        heads = spread(out["attention_head_dim"], levels)
        depth = spread(out["transformer_layers_per_block"], levels)
        used = [kind.startswith("Cross") for kind in out["down_block_types"]]
        used[-1] = True  # the middle's
        out["attention_head_dim"] = [h for h, u in zip(heads, used) if u]
        out["transformer_layers_per_block"] = [d for d, u in zip(depth, used)
                                               if u]
    return out
