# SPDX-License-Identifier: Apache-2.0
"""Compares text encoders with transformers at odd, small sizes with random weights:
sentence encoders (BERT) with every pooling, and CLIP's text towers, by themselves and
in batches with padding. Usage: text_vectors.py PROGRAM TORCH"""
import json
import pathlib
import struct
import sys
import tempfile

import torch_reference

PROGRAM, TORCH = sys.argv[1:]
torch = torch_reference.load(TORCH, needs=["transformers", "safetensors"])
import transformers
from safetensors.torch import load_file, save_file
from transformers import (BertConfig, BertForMaskedLM, BertModel, BertTokenizer, CLIPConfig, CLIPModel,
                          CLIPTextConfig, CLIPTextModelWithProjection, CLIPTokenizer)

import hostile_texts

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

BOUND = 1e-5
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["cat", "fox", "##s", "a", "##b", "quick", "brown", "!", ",", "photo", "of", "\u6c34", "cafe", "x", "##e"]
BERTS = {
    "36 wide, 3 heads": dict(hidden_size=36, num_attention_heads=3, num_hidden_layers=2, intermediate_size=50),
    "21 wide, 7 heads, 3 layers": dict(hidden_size=21, num_attention_heads=7, num_hidden_layers=3,
                                       intermediate_size=13, hidden_act="gelu_new", layer_norm_eps=1e-5),
    "one head, one type, relu": dict(hidden_size=11, num_attention_heads=1, num_hidden_layers=1,
                                     intermediate_size=64, type_vocab_size=1, hidden_act="relu"),
}
CLIPS = {
    "36 wide, 3 heads": dict(hidden_size=36, num_attention_heads=3, num_hidden_layers=2, intermediate_size=50,
                             projection_dim=17),
    "15 wide, 5 heads, 3 layers, gelu": dict(hidden_size=15, num_attention_heads=5, num_hidden_layers=3,
                                             intermediate_size=31, projection_dim=40, hidden_act="gelu"),
}
BATCHES = (1, 7)
wrong = []


def randomise(model):
    """Changes norms and offsets, which start as ones and zeros, so that they have an
    effect."""
    with torch.no_grad():
        for name, x in model.named_parameters():
            if name.endswith("bias"):
                x.normal_(0, 0.1)
            elif "norm" in name.lower():
                x.normal_(1, 0.2)
            else:
                x.normal_(0, 0.3)
    return model.eval()


def compare(what, folder, texts, truth):
    truth = torch.nn.functional.normalize(truth.double(), dim=-1)
    for batch in BATCHES:
        done = hostile_texts.run(PROGRAM, folder, batch, texts=texts)
        size, = struct.unpack_from("<I", done)
        made = torch.frombuffer(bytearray(done[4:]), dtype=torch.float32).view(-1, size).double()
        if made.shape != truth.shape:
            sys.exit(f"{what}: shape {tuple(made.shape)}, not {tuple(truth.shape)}")
        off = float((made - truth).abs().max())
        print(f"{what}, batches of {batch}: at most {off:.1e}")
        if not off <= BOUND:
            wrong.append(f"{what}, batches of {batch}: by {off:.1e}")


# ---- sentence encoders

def pooled(states, mask, pooling):
    """Pools as sentence_transformers.models.Pooling does."""
    if pooling == "cls":
        return states[:, 0]
    wide = mask.unsqueeze(-1).to(states.dtype)
    return (states * wide).sum(1) / wide.sum(1).clamp(min=1e-9)


def sentence_vectors(folder, network, texts, pooling, most=None):
    peer = BertTokenizer.from_pretrained(folder)
    longest = most or min(peer.model_max_length, network.config.max_position_embeddings)
    given = peer(texts, padding=True, truncation=True, max_length=longest, return_tensors="pt")
    with torch.inference_mode():
        states = network(**given).last_hidden_state
    return pooled(states, given.attention_mask, pooling)


def write_words(folder, extra, settings):
    tokens = SPECIAL + WORDS + [f"unused{i}" for i in range(extra)]
    (folder / "vocab.txt").write_text("".join(x + "\n" for x in tokens), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **settings}))
    return len(tokens)


def write_modules(folder, pooling, network=""):
    """Writes the files of sentence-transformers beside those of transformers."""
    modules = [("", network, "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
         for i, (name, path, kind) in enumerate(modules)]))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


OLD_MEAN = {"word_embedding_dimension": 36, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}
OLD_CLS = {**OLD_MEAN, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


def compare_sentences(work, what, shape, seed, texts):
    torch.manual_seed(seed)
    folder = work / f"bert-{seed}"
    folder.mkdir()
    size = write_words(folder, seed, {})
    network = randomise(BertModel(BertConfig(vocab_size=size + seed, max_position_embeddings=23 + seed, **shape)))
    network.save_pretrained(folder)
    what = f"BERT, {what}, seed {seed}"
    compare(what, folder, texts, sentence_vectors(folder, network, texts, "mean"))
    for name, pooling in {"mean": OLD_MEAN, "cls": OLD_CLS}.items():
        write_modules(folder, pooling)
        compare(f"{what}, {name}", folder, texts, sentence_vectors(folder, network, texts, name))
    write_modules(folder, {"embedding_dimension": 36, "pooling_mode": "cls"})
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9, "do_lower_case": False}))
    (folder / "config_sentence_transformers.json").write_text(json.dumps(
        {"__version__": {}, "prompts": {}, "default_prompt_name": None, "similarity_fn_name": "dot"}))
    compare(f"{what}, short", folder, texts, sentence_vectors(folder, network, texts, "cls", most=9))
    BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    compare(f"{what}, tokenizer.json", folder, texts, sentence_vectors(folder, network, texts, "cls", most=9))


def compare_older_files(work, texts):
    """Compares a larger model's names, norms with gamma and beta, and a part's
    folder."""
    torch.manual_seed(5)
    folder = work / "older"
    inner = folder / "0_Transformer"
    inner.mkdir(parents=True)
    size = write_words(inner, 0, {"do_lower_case": False})
    shape = next(iter(BERTS.values()))
    network = randomise(BertForMaskedLM(BertConfig(vocab_size=size, max_position_embeddings=40, **shape)))
    network.save_pretrained(inner)
    file = str(inner / "model.safetensors")
    tensors = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): x
               for name, x in load_file(file).items()}
    tensors["bert.embeddings.position_ids"] = torch.arange(40)[None]
    save_file(tensors, file, {"format": "pt"})
    write_modules(folder, OLD_MEAN, "0_Transformer")
    compare("BERT, older files", folder, texts, sentence_vectors(inner, network.bert, texts, "mean"))


def check_refusals(work):
    """Checks that unsupported settings are refused by file, key and value."""
    source = work / "bert-1"

    def changed(name, **values):
        def change(folder):
            file = folder / name
            content = json.loads(file.read_text()) if file.exists() else {}
            file.write_text(json.dumps({**content, **values}))
        return change

    def module(kind):
        def change(folder):
            file = folder / "modules.json"
            content = json.loads(file.read_text())
            content[2]["type"] = f"sentence_transformers.models.{kind}"
            file.write_text(json.dumps(content))
        return change
    cases = {
        "config.json: model_type: 'roberta' is not supported": changed("config.json", model_type="roberta"),
        "config.json: hidden_act is \"silu\"": changed("config.json", hidden_act="silu"),
        "config.json: is_decoder is true": changed("config.json", is_decoder=True),
        "config.json: position_embedding_type is \"relative_key\"":
            changed("config.json", position_embedding_type="relative_key"),
        "config.json: num_attention_heads is 5": changed("config.json", num_attention_heads=5),
        "config.json: new_key is 1": changed("config.json", new_key=1),
        "model.safetensors": changed("config.json", num_hidden_layers=1),
        "1_Pooling/config.json: pooling_mode is \"max\"": changed("1_Pooling/config.json", pooling_mode="max"),
        "modules.json: [2]: type: 'sentence_transformers.models.Dense'": module("Dense"),
        "sentence_bert_config.json: do_lower_case is true": changed("sentence_bert_config.json", do_lower_case=True),
        "config_sentence_transformers.json: default_prompt_name is \"query\"":
            changed("config_sentence_transformers.json", default_prompt_name="query"),
        "tokenizer_config.json: tokenizer_class: \"RobertaTokenizer\"":
            changed("tokenizer_config.json", tokenizer_class="RobertaTokenizer"),
    }
    for i, (reason, change) in enumerate(cases.items()):
        folder = work / f"refused-{i}"
        (folder / "1_Pooling").mkdir(parents=True)
        for file in source.rglob("*.*"):
            if file.is_file():
                (folder / file.relative_to(source)).write_bytes(file.read_bytes())
        change(folder)
        try:
            hostile_texts.run(PROGRAM, folder, 1, texts=["a"])
            wrong.append(f"not refused: {reason}")
        except ValueError as why:
            if reason not in str(why):
                wrong.append(f"refused as {why}, not as {reason}")


# ---- CLIP

def write_clip_words(folder):
    """Writes a vocabulary of all bytes and a few merges, with the special tokens
    last."""
    letters = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    letters = [chr(c) for c in letters] + [chr(0x100 + i) for i in range(256 - len(letters))]
    merges = [("c", "a"), ("ca", "t</w>"), ("f", "o"), ("fo", "x</w>"), ("o", "f</w>")]
    tokens = letters + [x + "</w>" for x in letters] + ["".join(x) for x in merges] \
        + ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({x: i for i, x in enumerate(tokens)}))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, merges), ""]))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "CLIPTokenizer", "model_max_length": 77, "bos_token": "<|startoftext|>",
        "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}))
    return len(tokens)


def clip_vectors(folder, texts, length, encode):
    peer = CLIPTokenizer.from_pretrained(folder)
    ids = peer(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt").input_ids
    with torch.inference_mode():
        return encode(ids)


def compare_clip(work, what, shape, seed, texts):
    torch.manual_seed(seed)
    folder = work / f"clip-{seed}"
    folder.mkdir()
    size = write_clip_words(folder)
    length = 19 + seed
    text = dict(vocab_size=size + seed, max_position_embeddings=length, bos_token_id=size - 2, eos_token_id=size - 1,
                pad_token_id=size - 1, **shape)
    network = randomise(CLIPTextModelWithProjection(CLIPTextConfig(**text)))
    network.save_pretrained(folder)
    what = f"CLIP, {what}, seed {seed}"
    compare(what, folder, texts,
            clip_vectors(folder, texts, length, lambda ids: network(ids).text_embeds))
    vision = dict(hidden_size=8, intermediate_size=9, num_hidden_layers=1, num_attention_heads=2, image_size=8,
                  patch_size=4, projection_dim=shape["projection_dim"])
    whole = randomise(CLIPModel(CLIPConfig(text_config=text, vision_config=vision,
                                           projection_dim=shape["projection_dim"])))
    whole.save_pretrained(folder)

    def both(ids):
        return whole.text_projection(whole.text_model(ids).pooler_output)
    compare(what + ", both towers", folder, texts, clip_vectors(folder, texts, length, both))


def main():
    pick = torch_reference.generator()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    texts = hostile_texts.FIXED + hostile_texts.LONG \
        + [hostile_texts.random_text(pick) for _ in range(torch_reference.scaled(2_000))]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for seed, (what, shape) in enumerate(BERTS.items(), 1):
            compare_sentences(work, what, shape, seed, texts)
        compare_older_files(work, texts)
        check_refusals(work)
        for seed, (what, shape) in enumerate(CLIPS.items(), 1):
            compare_clip(work, what, shape, seed, texts)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
