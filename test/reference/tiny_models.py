# SPDX-License-Identifier: Apache-2.0
"""Makes small models with random weights in diffusers' layout: one of each family that
Atelier runs, with its whole structure and few channels."""
import json
import os

import torch
from diffusers import (AutoencoderKL, DDIMScheduler, EulerAncestralDiscreteScheduler,
                       EulerDiscreteScheduler, FlowMatchEulerDiscreteScheduler,
                       LatentConsistencyModelPipeline, LCMScheduler,
                       SD3Transformer2DModel, StableDiffusion3Pipeline,
                       StableDiffusionPipeline,
                       StableDiffusionXLImg2ImgPipeline,
                       StableDiffusionXLPipeline, UNet2DConditionModel)
from transformers import (CLIPTextConfig, CLIPTextModel,
                          CLIPTextModelWithProjection, CLIPTokenizer)


def bytes_to_unicode():
    """Returns CLIP's characters for the 256 bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    chars = {b: chr(b) for b in printable}
    n = 0
    for b in range(256):
        if b not in chars:
            chars[b] = chr(256 + n)
            n += 1
    return [chars[b] for b in printable] + [
        chars[b] for b in range(256) if b not in printable]


MERGES = [("t", "h"), ("th", "e</w>"), ("r", "e"), ("re", "d</w>"),
          ("c", "i"), ("ci", "r"), ("a", "n"), ("an", "d</w>"), ("l", "e</w>"),
          ("b", "l"), ("bl", "u"), ("blu", "e</w>"), ("s", "q"), ("sq", "u")]


def tokenizer(folder, padding="<|endoftext|>", length=77):
    """Writes a tokenizer of a few hundred tokens; returns it."""
    os.makedirs(folder, exist_ok=True)
    symbols = bytes_to_unicode()
    vocab = symbols + [s + "</w>" for s in symbols]
    vocab += ["".join(pair) for pair in MERGES]
    vocab += ["<|startoftext|>", "<|endoftext|>"]
    vocab_file = os.path.join(folder, "vocab.json")
    merges_file = os.path.join(folder, "merges.txt")
    with open(vocab_file, "w", encoding="utf-8") as out:
        json.dump({token: i for i, token in enumerate(vocab)}, out)
    with open(merges_file, "w", encoding="utf-8") as out:
        out.write("#version: 0.2\n")
        out.writelines(f"{a} {b}\n" for a, b in MERGES)
    made = CLIPTokenizer(vocab=vocab_file, merges=merges_file,
                         pad_token=padding, model_max_length=length)
    return made


def text_encoder(words, hidden=32, layers=4, projection=None, act="quick_gelu",
                 eos=None, seed=0):
    torch.manual_seed(seed)
    config = CLIPTextConfig(
        vocab_size=len(words), hidden_size=hidden, intermediate_size=2 * hidden + 5,
        num_hidden_layers=layers, num_attention_heads=4,
        max_position_embeddings=77, hidden_act=act,
        projection_dim=projection or hidden,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id if eos is None else eos,
        pad_token_id=words.pad_token_id)
    kind = CLIPTextModelWithProjection if projection else CLIPTextModel
    return spread(kind(config).eval())


def spread(network, scale=1.0):
    """Makes weights distinct and biases non-zero, so that a wrong one shows."""
    with torch.no_grad():
        for name, x in network.named_parameters():
            if x.dim() <= 1:
                x.add_(torch.randn_like(x) * 0.1 * scale)
    return network


def vae(levels=4, seed=1, **more):
    torch.manual_seed(seed)
    channels = [16, 32, 32, 32, 32][:levels]
    config = dict(
        in_channels=3, out_channels=3, latent_channels=4,
        block_out_channels=channels, layers_per_block=1, norm_num_groups=8,
        down_block_types=["DownEncoderBlock2D"] * levels,
        up_block_types=["UpDecoderBlock2D"] * levels, sample_size=64)
    config.update(more)
    return spread(AutoencoderKL(**config).eval())


def unet(seed=2, **more):
    torch.manual_seed(seed)
    config = dict(
        sample_size=8, in_channels=4, out_channels=4, block_out_channels=(32, 64),
        layers_per_block=2, norm_num_groups=8, cross_attention_dim=32,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))
    config.update(more)
    return spread(UNet2DConditionModel(**config).eval())


def xl_unet(cross=64, ids=6, pooled=32, **more):
    return unet(
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2), attention_head_dim=(2, 4),
        use_linear_projection=True, addition_embed_type="text_time",
        addition_time_embed_dim=8, cross_attention_dim=cross,
        projection_class_embeddings_input_dim=8 * ids + pooled, **more)


BETAS = dict(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear",
             num_train_timesteps=1000)


def save(pipeline, folder):
    pipeline.save_pretrained(folder, safe_serialization=True)
    return pipeline


def sd1(folder):
    words = tokenizer(folder + ".words")
    return save(StableDiffusionPipeline(
        vae=vae(), text_encoder=text_encoder(words), tokenizer=words,
        unet=unet(),
        scheduler=DDIMScheduler(**BETAS, steps_offset=1, clip_sample=False,
                                set_alpha_to_one=False),
        safety_checker=None, feature_extractor=None,
        requires_safety_checker=False), folder)


def sd2(folder):
    words = tokenizer(folder + ".words", padding="!")
    return save(StableDiffusionPipeline(
        vae=vae(), text_encoder=text_encoder(words, layers=3, act="gelu"),
        tokenizer=words,
        unet=unet(use_linear_projection=True, attention_head_dim=(2, 4)),
        scheduler=EulerDiscreteScheduler(**BETAS, steps_offset=1,
                                         prediction_type="v_prediction"),
        safety_checker=None, feature_extractor=None,
        requires_safety_checker=False), folder)


def sdxl(folder, scheduler=None):
    words = tokenizer(folder + ".words")
    words_2 = tokenizer(folder + ".words_2", padding="!")
    return save(StableDiffusionXLPipeline(
        vae=vae(), text_encoder=text_encoder(words),
        text_encoder_2=text_encoder(words_2, projection=32, act="gelu", seed=3),
        tokenizer=words, tokenizer_2=words_2, unet=xl_unet(),
        scheduler=scheduler or EulerDiscreteScheduler(**BETAS, steps_offset=1),
        force_zeros_for_empty_prompt=True, add_watermarker=False), folder)


def turbo(folder):
    return sdxl(folder, EulerAncestralDiscreteScheduler(
        **BETAS, steps_offset=1, timestep_spacing="trailing"))


def refiner(folder):
    words_2 = tokenizer(folder + ".words_2", padding="!")
    return save(StableDiffusionXLImg2ImgPipeline(
        vae=vae(), text_encoder=None, tokenizer=None,
        text_encoder_2=text_encoder(words_2, projection=32, act="gelu", seed=3),
        tokenizer_2=words_2, unet=xl_unet(cross=32, ids=5),
        scheduler=EulerDiscreteScheduler(**BETAS, steps_offset=1),
        requires_aesthetics_score=True, force_zeros_for_empty_prompt=False,
        add_watermarker=False), folder)


def lcm(folder):
    words = tokenizer(folder + ".words")
    return save(LatentConsistencyModelPipeline(
        vae=vae(), text_encoder=text_encoder(words), tokenizer=words,
        unet=unet(time_cond_proj_dim=32), scheduler=LCMScheduler(**BETAS),
        safety_checker=None, feature_extractor=None,
        requires_safety_checker=False), folder)


def sd3(folder):
    """Makes two joint blocks. The text encoders leave room in the tokens' width."""
    words = tokenizer(folder + ".words")
    words_2 = tokenizer(folder + ".words_2", padding="!")
    torch.manual_seed(4)
    transformer = spread(SD3Transformer2DModel(
        sample_size=8, patch_size=2, in_channels=16, out_channels=16,
        num_layers=2, attention_head_dim=8, num_attention_heads=4,
        joint_attention_dim=80, caption_projection_dim=32,
        pooled_projection_dim=56, pos_embed_max_size=12).eval())
    return save(StableDiffusion3Pipeline(
        transformer=transformer,
        vae=vae(latent_channels=16, shift_factor=0.0609, scaling_factor=1.5305,
                use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=text_encoder(words, projection=32),
        text_encoder_2=text_encoder(words_2, projection=24, act="gelu", seed=3),
        tokenizer=words, tokenizer_2=words_2, text_encoder_3=None,
        tokenizer_3=None, scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0)),
        folder)


FAMILIES = {"sd1": sd1, "sd2": sd2, "sdxl": sdxl, "turbo": turbo,
            "refiner": refiner, "lcm": lcm, "sd3": sd3}
