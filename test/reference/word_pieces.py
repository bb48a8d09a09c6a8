# SPDX-License-Identifier: Apache-2.0
"""Compares the tokenizer of sentence encoders with transformers' BertTokenizer, id for
id: from vocab.txt, from tokenizer.json and its older forms, with every setting, and on
single code points. Usage: word_pieces.py PROGRAM TORCH"""
import json
import pathlib
import struct
import sys
import tempfile
import unicodedata

import torch_reference

PROGRAM, TORCH = sys.argv[1:]
torch_reference.load(TORCH, needs=["transformers", "tokenizers"])
import transformers
from transformers import BertTokenizer

import hostile_texts

transformers.utils.logging.set_verbosity_error()

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SETTINGS = {
    "defaults": {},
    "upper case": {"do_lower_case": False},
    "upper case without accents": {"do_lower_case": False, "strip_accents": True},
    "accents": {"strip_accents": False},
    "Chinese as words": {"tokenize_chinese_chars": False},
    "short": {"model_max_length": 9},
}
FEW, MANY = 7, 20_000
wrong = []
compared = 0


def vocabulary(texts):
    """Returns the words, their beginnings and ends, and the characters of texts in
    several forms: enough pieces for words to be split in several ways."""
    pieces = set()
    for text in texts:
        for form in (text, text.lower(), unicodedata.normalize("NFD", text),
                     unicodedata.normalize("NFD", text).lower()):
            pieces.update(x for x in form if not x.isspace() and x != "\0")
            for word in form.split():
                if word.isalnum() and len(word) < 20:
                    pieces.update((word, word[:2], "##" + word[2:], "##" + word[-2:]))
    pieces.update(["##" + x for x in pieces if not x.startswith("##")])
    return SPECIAL + sorted(x for x in pieces if x not in ("", "##"))


def write(folder, tokens, settings):
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(x + "\n" for x in tokens), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **settings}))


def ours(folder, length, texts):
    done = hostile_texts.run(PROGRAM, folder, length, texts=texts)
    at, out = 12, []
    while at < len(done):
        count, = struct.unpack_from("<I", done, at)
        out.append(list(struct.unpack_from(f"<{count}i", done, at + 4)))
        at += 4 + 4 * count
    assert len(out) == len(texts)
    return struct.unpack_from("<iII", done), out


def compare(what, folder, texts):
    global compared
    peer = BertTokenizer.from_pretrained(folder)
    before = len(wrong)
    for length in (FEW, MANY):
        head, got = ours(folder, length, texts)
        longest = peer.model_max_length if peer.model_max_length < 1e20 else 1 << 20
        if head != (peer.pad_token_id, len(peer), longest):
            wrong.append(f"{what}: {head}, not {peer.pad_token_id, len(peer), longest}")
        wanted = peer(texts, truncation=True, max_length=length).input_ids
        for text, ids, theirs in zip(texts, got, wanted):
            compared += 1
            if ids != theirs:
                wrong.append(f"{what}: {text[:60]!r}: {ids[:20]}, not {theirs[:20]}")
    print(f"{what}: {len(texts)} texts, {len(wrong) - before} differ")


def changed(folder, to, change):
    """Copies a saved tokenizer with its tokenizer.json changed."""
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    content = json.loads((to / "tokenizer.json").read_text())
    change(content)
    (to / "tokenizer.json").write_text(json.dumps(content))
    return to


def compare_saved(what, folder, work, texts):
    saved = work / (folder.name + "-saved")
    BertTokenizer.from_pretrained(folder).save_pretrained(saved)
    assert not (saved / "vocab.txt").exists()
    compare(what + ", saved", saved, texts)
    if what != "defaults":
        return

    def older(content):
        ids = content["model"]["vocab"]
        content["post_processor"] = {"type": "BertProcessing", "sep": ["[SEP]", ids["[SEP]"]],
                                     "cls": ["[CLS]", ids["[CLS]"]]}
        del content["model"]["type"]
        content["truncation"] = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    compare("older form", changed(saved, work / "older", older), texts)

    def adds(content):
        ids = content["model"]["vocab"]
        for token, flags in {"cat": {"lstrip": True}, "over": {"rstrip": True, "normalized": True}}.items():
            content["added_tokens"].append({"id": ids[token], "content": token, "single_word": False, "lstrip": False,
                                            "rstrip": False, "normalized": False, "special": False, **flags})
    compare("added tokens", changed(saved, work / "added", adds), texts)
    check_refusals(saved, work)


def check_refusals(saved, work):
    """Checks that other settings of tokenizer.json are refused by name."""
    def put(*keys, value):
        def change(content):
            for key in keys[:-1]:
                content = content[key]
            content[keys[-1]] = value
        return change
    cases = {
        "model.max_input_chars_per_word: 50": put("model", "max_input_chars_per_word", value=50),
        "model.type: \"BPE\"": put("model", "type", value="BPE"),
        "model.continuing_subword_prefix: \"@@\"": put("model", "continuing_subword_prefix", value="@@"),
        "normalizer.type: \"NFC\"": put("normalizer", "type", value="NFC"),
        "normalizer.clean_text: false": put("normalizer", "clean_text", value=False),
        "pre_tokenizer.type: \"Whitespace\"": put("pre_tokenizer", "type", value="Whitespace"),
        "post_processor.single: not a list of 3": put("post_processor", "single", value=[]),
        "truncation.direction: \"Left\"": put("truncation", value={"direction": "Left"}),
    }
    for i, (reason, change) in enumerate(cases.items()):
        folder = changed(saved, work / f"refused-{i}", change)
        try:
            ours(folder, FEW, ["a"])
            wrong.append(f"not refused: {reason}")
        except ValueError as why:
            if reason not in str(why):
                wrong.append(f"refused as {why}, not as {reason}")


def compare_code_points(work, pick):
    """Compares every code point, by itself and within a word, as far as the scale
    allows."""
    codes = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
    count = torch_reference.scaled(len(codes))
    start = pick.randrange(len(codes) - count + 1)
    # The first code points have most of the rules.
    some = sorted({*codes[:0x3000][::1 if count > 0x3000 else 5], *codes[start:start + count]})
    texts = [chr(c) for c in some]
    for i in range(0, len(texts), 20_000):
        part = texts[i:i + 20_000]
        folder = work / f"codes-{i}"
        write(folder, vocabulary(part + ["a", "b"]), {})
        compare(f"code points from {some[i]:#x}", folder, part + [f"a{x}b" for x in part])


def main():
    pick = torch_reference.generator()
    print(f"transformers {transformers.__version__}")
    texts = hostile_texts.FIXED + hostile_texts.LONG \
        + [hostile_texts.random_text(pick) for _ in range(torch_reference.scaled(50_000))]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        tokens = vocabulary(hostile_texts.FIXED + texts[-100:])
        for name, settings in SETTINGS.items():
            folder = work / name.replace(" ", "-")
            write(folder, tokens, settings)
            compare(name, folder, texts)
            compare_saved(name, folder, work, texts)
        compare_code_points(work, pick)
    print(f"{compared} texts compared")
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)


main()
