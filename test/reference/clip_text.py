# SPDX-License-Identifier: Apache-2.0
"""Compares gpu::clip_text with transformers' CLIP text models: small random
configurations of each variant, made here. Usage: clip_text.py PROGRAM TORCH"""
import os
import sys
import tempfile

import torch_reference

os.environ["HF_HUB_OFFLINE"] = "1"
torch = torch_reference.load(sys.argv[2])
try:
    import transformers
    from safetensors.torch import load_file, save_file
    from transformers import (CLIPTextConfig, CLIPTextModel,
                              CLIPTextModelWithProjection)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from comparison import Comparison

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

VOCABULARY = 1000
SMALL = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=160,
             projection_dim=48, num_hidden_layers=4, num_attention_heads=4,
             bos_token_id=VOCABULARY - 2, pad_token_id=1)
END = VOCABULARY - 1
VARIANTS = {
    "sd 1.x, end by the largest id": (CLIPTextModel, dict(
        eos_token_id=2)),
    "sd 2.x, gelu, 23 layers": (CLIPTextModel, dict(
        hidden_act="gelu", num_hidden_layers=23, eos_token_id=2)),
    "sdxl 1, end by its id": (CLIPTextModel, dict(eos_token_id=END)),
    "sdxl 2, gelu, projection": (CLIPTextModelWithProjection, dict(
        hidden_act="gelu", eos_token_id=END)),
    "projection, end by the largest id": (CLIPTextModelWithProjection, dict(
        eos_token_id=2)),
    "one layer, short": (CLIPTextModel, dict(
        num_hidden_layers=1, max_position_embeddings=16, eos_token_id=END)),
    "tanh, other epsilon": (CLIPTextModel, dict(
        hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-3,
        eos_token_id=END)),
}


def prompts(length, padding):
    """Returns rows of ids: start, some, end, padding; one has no end."""
    generator = torch.Generator().manual_seed(7)
    ids = torch.full((5, length), padding)
    for row, count in enumerate([0, 3, length // 2, length - 2]):
        some = torch.randint(3, VOCABULARY - 2, (count,), generator=generator)
        ids[row, 0], ids[row, 1:1 + count] = VOCABULARY - 2, some
        ids[row, 1 + count] = END
    ids[4] = torch.randint(3, END, (length,), generator=generator)
    return ids


def outputs(model, ids):
    with torch.inference_mode():
        out = model(ids, output_hidden_states=True)
    pooled = out.text_embeds if hasattr(out, "text_embeds") \
        else out.pooler_output
    return {"last": out.last_hidden_state,
            "penultimate": out.hidden_states[-2], "pooled": pooled}


def randomise(model):
    """Changes norms and offsets, which start as ones and zeros, so that they have an
    effect."""
    with torch.no_grad():
        for name, x in model.named_parameters():
            if name.endswith("bias"):
                x.normal_(0, 0.1)
            elif "norm" in name:
                x.normal_(1, 0.2)
            else:
                x.mul_(2)
    return model.eval()


def as_before(folder, peer):
    """Rewrites a folder as transformers 4 would have written it."""
    file = os.path.join(folder, "model.safetensors")
    tensors = {name if name.startswith("text_") else "text_model." + name: x
               for name, x in load_file(file).items()}
    tensors["text_model.embeddings.position_ids"] = torch.arange(
        peer.config.max_position_embeddings)[None]
    save_file(tensors, file, {"format": "pt"})


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Comparison(sys.argv[1], folder)
        for what, (kind, options) in VARIANTS.items():
            torch.manual_seed(3)
            peer = randomise(kind(CLIPTextConfig(**{**SMALL, **options})))
            at = os.path.join(folder, "network")
            peer.save_pretrained(at)
            length = peer.config.max_position_embeddings
            rows = torch.cat([prompts(length, 1), prompts(length, END)])
            if options["eos_token_id"] != 2:
                rows = rows[rows.eq(END).any(-1)]
            truth = outputs(peer, rows)
            ours = check.run(kind.__name__, "float32", at,
                             inputs={"ids": rows})
            check.exact(what, ours, truth)
            as_before(at, peer)
            again = check.run(kind.__name__, "float32", at,
                              inputs={"ids": rows})
            check.exact(what + ", older file", again, ours, bound=0)
            short = rows[:, :length // 2]
            check.exact(what + ", few tokens", check.run(
                kind.__name__, "float32", at, inputs={"ids": short}),
                outputs(peer, short))
            rounded = check.run(kind.__name__, "bfloat16", at,
                                inputs={"ids": rows})
            check.rounded(what + ", bfloat16", rounded,
                          outputs(peer.to(torch.bfloat16), rows), truth)
        check.finish()


main()
