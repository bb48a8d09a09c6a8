# SPDX-License-Identifier: Apache-2.0
"""Compares the tokenizer with transformers' CLIPTokenizer, id for id. It uses CLIP's
vocabulary if the set-up has downloaded it, otherwise a small one, from vocab.json and
merges.txt, and from tokenizer.json, with the settings of Stable Diffusion's families
and with unusual ones."""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import torch_reference

PROGRAM, TORCH = sys.argv[1:]
torch_reference.load(TORCH)
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import transformers
    from transformers import CLIPTokenizer
    import tokenizers
except ImportError as error:
    print(f"skipped: no transformers to compare with ({error})")
    sys.exit(77)
transformers.utils.logging.set_verbosity_error()

WANTED = "5.23.0"
CLIP = pathlib.Path(__file__).resolve().parents[2] / "build/clip-vocabulary"
START, END = "<|startoftext|>", "<|endoftext|>"


# ---- prompts

def hostile():
    """Returns prompts that break tokenizers."""
    marks = "".join(map(chr, range(0x300, 0x370)))
    fixed = [
        "", " ", "\t\n\r ", "a", "!", "!!!", "a photo of a cat!", "Wow! ! !wow",
        "it's I'm we've they'll he'd 'S 'T 'RE don't 're 'x ''s '", "''", "'s's",
        "rock'n'roll\u2019s \u02bcs \uff07s", "1234 5th \u00bd\u00b2 \u2167 \u0663\u0664",
        "a  b\u00a0c\u2003d\u3000e\u200bf\ufeffg\u180eh\u0085i\u2028j\x1ck\x1fl",
        "".join(map(chr, range(0x20))), "".join(map(chr, range(0x7f, 0xa1))),
        "\0", "a\0b", "\0" * 100, "\ufffd\ufffe\uffff\U0010ffff", "\ue000\U000f0000",
        "\U0001f600\U0001f3fd\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\U0001f1e9\U0001f1ea\U0001f3f4\U000e0067\U000e0062\U000e007f \u2764\ufe0f 1\ufe0f\u20e3",
        "e\u0301 \u00e9 E\u0301\u0327 E\u0327\u0301 \u1e14\u0301 a\u0345\u0301\u0334",
        "\u0301a", "<|endoftext|>\u0301", "\u0301<|endoftext|>", "Z" + marks + marks[::-1] + "algo",
        "\u212b\u2126\u2000\u0340\u0344\uf900\U0002f800\u0958\ufb1d\u1d15e\U0001d15e",
        "\u1100\u1161\u11a8 \uac00\u11a8 \u1100\u1100\u1161\u1161 \ud55c\uae00",
        "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u202e\u05e2\u05d1\u05e8\u05d9\u05ea\u202c \u200f!\u200e",
        "\u0928\u093f\u0915\u094d\u0937 \u0bcd\u0b95 \u0e33\u0e49 \u0f73\u0f71\u0f72 \u17d2\u1780",
        "\u0130stanbul I\u0131 \u01c5 \u03a3\u03a3 \u039f\u0394\u039f\u03a3 \u1e9e \u00df \ufb01 \u1f88 \u2c2f \ua7cb\ua7dc\U00010d50\U00016ea0",
        START, END, START + END, f"a {END} b {START}c", f"x{END}y", f"!{END}!", f"!!{START}",
        f"{END}!!", f"{START}{START[:-1]}", "<|StartOfText|> <|ENDOFTEXT|>", "<|endoftext", "<|", "|>",
        "<| endoftext |>", "<<|endoftext|>>", "<|endoftext|>'s", "'<|endoftext|>",
        "<|startof\u00adtext|>", "<\u0338|endoftext|>", "<|endoftext|>\u0338",
        "<tok> <TOK> a<tok>b  <left>  <right>  <word>x <word> !<word>! \u00e9<word> \u0301<word> <both> \t<both>\n<both>",
        "</w>", "a</w> b</w>", "\u0120a \u010a", "\\n\\t", "\"{}[]()*&^%$#@~`", "a" * 47, "a" * 48, "a" * 49, "ab" * 60,
        "\u6c34\u58a8\u753b\u3001\u6625\u306e\u5c71", "\u0e01\u0e38\u0e07\u0e40\u0e17\u0e1e", "\u0421\u041b\u041e\u041d",
        "https://example.org/a?b=c&d=%20 (masterpiece:1.2), <lora:x:0.8>, 8k--ar 16:9",
        "-" * 300, "=" * 77, "." * 1000, "\u2014" * 200,
    ]
    long = [
        "a" * 100_000, "cat " * 25_000, "!" * 100_000, "\u0301" * 100_000,
        "a" + "\u0301\u0316" * 50_000, "\u00e9\u0327" * 50_000, "\U0001f600" * 25_000,
        "\u6c34" * 100_000, " " * 100_000, "'s" * 50_000, END * 7_000, "<|endoftext" * 9_000,
        "\u1100" * 50_000 + "\u1161" * 50_000, "\u05d0\u05b8" * 50_000, "7" * 100_000, "\0" * 100_000,
        "the quick brown fox, jumps over 13 lazy dogs; " * 2_200, "abcdefghijklmnopqrstuvwxyz" * 3_847,
    ]
    return fixed, long


POOLS = [
    (0x20, 0x7e), (0x61, 0x7a), (0x00, 0x20), (0x7f, 0xff), (0x100, 0x24f), (0x300, 0x36f), (0x370, 0x5ff),
    (0x600, 0x8ff), (0x900, 0xdff), (0xe00, 0x11ff), (0x1100, 0x11ff), (0x1e00, 0x1fff), (0x2000, 0x206f),
    (0x2070, 0x2fff), (0x3000, 0x30ff), (0x4e00, 0x4fff), (0xa000, 0xabff), (0xac00, 0xd7a3), (0xf900, 0xffff),
    (0x10000, 0x11fff), (0x10d00, 0x10dff), (0x16a00, 0x16fff), (0x1d000, 0x1dfff), (0x1f000, 0x1faff),
    (0x2eb00, 0x2fa1f), (0xe0000, 0xe01ff), (0, 0x10ffff),
]
PIECES = [START, END, "!", "'s", "'ll", "<tok>", "<word>", "<left>", "<right>", "<both>", "  ", "\u0301", "\u0327",
          "\u00a0", "\u0130", "\u03a3", "photo", "Cat", "</w>", "<|", "|>", "'", "\u200d", "\u0344", "\u1161"]


def random_prompt(pick):
    out = []
    low, high = pick.choice(POOLS)
    for _ in range(pick.randrange(1, pick.choice((4, 12, 60, 300)))):
        kind = pick.random()
        if kind < 0.06:
            low, high = pick.choice(POOLS)
        if kind < 0.2:
            piece = pick.choice(PIECES)
            out.append(piece.upper() if pick.random() < 0.2 else piece)
        else:
            code = pick.randint(low, high)
            out.append(chr(code) if not 0xd800 <= code < 0xe000 else " ")
    return "".join(out)


def data_prompts():
    data = os.environ.get("ATELIER_REFERENCE_DATA")
    file = pathlib.Path(data or ".") / "data/diffserve/prompts_diffusiondb_5k.txt"
    if not data or not file.exists():
        print("no prompts of data/diffserve: that part is left out")
        return []
    return file.read_text(encoding="utf-8").split("\n")


# ---- tokenizer folders

def token(content, **fields):
    out = {"__type": "AddedToken", "content": content, "lstrip": False, "normalized": True, "rstrip": False,
           "single_word": False}
    out.update(fields)
    return out


def untyped(content, **fields):
    out = token(content, **fields)
    del out["__type"]
    return out


def settings(size):
    """Returns descriptions of folders, with their files beside the vocabulary. The
    first ones are those of the families' repositories."""
    start, end = size - 2, size - 1
    sd1_map = {"bos_token": untyped(START), "eos_token": untyped(END), "pad_token": END, "unk_token": untyped(END)}
    sd1 = {"add_prefix_space": False, "bos_token": token(START), "do_lower_case": True, "eos_token": token(END),
           "errors": "replace", "model_max_length": 77, "name_or_path": "x", "pad_token": END,
           "special_tokens_map_file": "./x", "tokenizer_class": "CLIPTokenizer", "unk_token": token(END)}
    listed = {"0": untyped("!", normalized=False, special=True), str(start): untyped(START, special=True),
              str(end): untyped(END, special=True)}
    xl2 = {"add_prefix_space": False, "added_tokens_decoder": listed, "bos_token": START,
           "clean_up_tokenization_spaces": True, "do_lower_case": True, "eos_token": END, "errors": "replace",
           "model_max_length": 77, "pad_token": "!", "tokenizer_class": "CLIPTokenizer", "unk_token": END}
    return [
        ("nothing beside", {}),
        ("SD 1.x", {"tokenizer_config.json": sd1, "special_tokens_map.json": sd1_map}),
        ("SD 2.x", {"tokenizer_config.json": {**sd1, "unk_token": token(END)},
                    "special_tokens_map.json": {**sd1_map, "pad_token": "!"}}),
        ("SDXL, second", {"tokenizer_config.json": xl2,
                          "special_tokens_map.json": {**sd1_map, "pad_token": "!"}}),
        ("transformers 5", {"tokenizer_config.json": {
            "backend": "tokenizers", "bos_token": START, "eos_token": END, "is_local": True, "model_max_length": 77,
            "pad_token": "!", "tokenizer_class": "CLIPTokenizer", "unk_token": END}}),
        ("no limit", {"tokenizer_config.json": {"model_max_length": int(1e30), "pad_token": END}}),
        ("tokens listed", {"tokenizer_config.json": {**xl2, "pad_token": END, "added_tokens_decoder": {
            str(start): untyped(START, special=True, normalized=False),
            str(end): untyped(END, special=True),
            str(size): untyped("<tok>", special=False),
            str(size + 1): untyped("<left>", lstrip=True, normalized=False),
            str(size + 2): untyped("<RIGHT>", rstrip=True),
            str(size + 3): untyped("<word>", special=True),
            str(size + 4): untyped("<both>", lstrip=True, rstrip=True),
            str(size + 5): untyped("\u0130<", special=True),
            str(size + 6): untyped("  ", normalized=False),
        }}}),
        ("old additions", {"added_tokens.json": {"<tok>": size, "<word>": size + 1, "<Both>": size + 2},
                           "tokenizer_config.json": {**sd1, "mask_token": "<word>"},
                           "special_tokens_map.json": {**sd1_map, "additional_special_tokens": ["<Both>", "photo</w>"]}}),
        ("one token for all", {"special_tokens_map.json": {
            "bos_token": END, "eos_token": untyped(END), "unk_token": untyped(END, normalized=False),
            "pad_token": untyped("!"), "cls_token": START}}),
        ("others as the ends", {"tokenizer_config.json": {
            "bos_token": "!", "eos_token": token("?", normalized=False), "pad_token": ".", "unk_token": "#",
            "extra_special_tokens": ["%", token("&")]}}),
    ]


def poor_vocabulary(folder, from_folder, pick):
    """Writes the merges of another vocabulary in any order, without some of its
    bytes."""
    tokens = json.loads((from_folder / "vocab.json").read_text())
    merges = [line.split(" ") for line in (from_folder / "merges.txt").read_text().split("\n")[1:-1]]
    pick.shuffle(merges)
    used = {token for merge in merges for token in (*merge, "".join(merge))}
    tokens = [token for token in tokens if token in used or len(token) > 5 or pick.random() < 0.7]
    write_vocabulary(folder, tokens, merges)


def small_vocabulary(folder, prompts):
    """Writes a vocabulary of all bytes and some hundred merges, with the special tokens
    last, as in CLIP's."""
    letters = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    letters = [chr(c) for c in letters] + [chr(0x100 + i) for i in range(256 - len(letters))]
    tokens = letters + [c + "</w>" for c in letters]
    words = sorted({word for prompt in prompts for word in prompt.lower().split()
                    if word.isascii() and word.isprintable() and len(word) < 20 and not set(word) & set("<|>")})
    words = [[*word[:-1], word[-1] + "</w>"] for word in words]
    merges = []
    while len(merges) < 300:
        counts = {}
        for word in words:
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        if best[0] + best[1] not in tokens:
            tokens.append(best[0] + best[1])
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i:i + 2] = [best[0] + best[1]]
                i += 1
    if "photo</w>" not in tokens:
        tokens.append("photo</w>")
    tokens += [START, END]
    write_vocabulary(folder, tokens, merges)


def write_vocabulary(folder, tokens, merges):
    folder.mkdir(parents=True)
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}, ensure_ascii=False))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, merges), ""]))


# ---- both sides

def ours(folder, wanted):
    """Returns the head of the program's output, and for each (prompt, length) of
    `wanted` (ids, left out, nanoseconds)."""
    text = b"".join(struct.pack("<II", length, len(prompt)) + prompt for prompt, length in wanted)
    done = subprocess.run([PROGRAM, folder], input=text, stdout=subprocess.PIPE, check=True).stdout
    head = struct.unpack_from("<iiiII", done)
    at, out = 20, []
    for _, length in wanted:
        left_out, took = struct.unpack_from("<II", done, at)
        ids = struct.unpack_from(f"<{length}i", done, at + 8)
        out.append((list(ids), left_out, took))
        at += 8 + 4 * length
    assert at == len(done)
    return head, out


wrong = []
compared = 0
times = {}


def compare(what, folder, prompts, keep_times=None, also_cut=False):
    """Compares ids at 77 tokens and at many more, and the number left out. The peer's
    result at 77 tokens follows from all of them; `also_cut` checks that."""
    global compared
    peer = CLIPTokenizer.from_pretrained(folder)
    begin = time.perf_counter()
    whole = peer(prompts).input_ids
    peer_took = time.perf_counter() - begin
    longest = 4096
    wanted = [(prompt.encode(), length) for prompt in prompts for length in (77, longest)]
    head, got = ours(folder, wanted)
    limit = peer.model_max_length if peer.model_max_length < 1e20 else 77
    size = max(peer.get_vocab().values()) + 1
    if head != (peer.bos_token_id, peer.eos_token_id, peer.pad_token_id, size, limit):
        wrong.append(f"{what}: ids of the special tokens")
        print("not equal:", wrong[-1], head, limit)
    cut = [ids[:76] + [peer.eos_token_id] if len(ids) > 77
           else ids + [peer.pad_token_id] * (77 - len(ids)) for ids in whole]
    if also_cut and cut != peer(prompts, padding="max_length", truncation=True, max_length=77).input_ids:
        wrong.append(f"{what}: the comparison's own cutting and padding")
        print("not equal:", wrong[-1])
    for i, prompt in enumerate(prompts):
        left_out = max(0, len(whole[i]) - 77)
        rest = whole[i][:longest - 1] + [peer.eos_token_id] if len(whole[i]) > longest else whole[i] + [
            peer.pad_token_id] * (longest - len(whole[i]))
        if got[2 * i][0] != cut[i] or got[2 * i][1] != left_out or got[2 * i + 1][0] != rest:
            wrong.append(f"{what}: {ascii(prompt)[:200]}")
            if len(wrong) <= 20:
                first = next((j for j, (x, y) in enumerate(zip(got[2 * i + 1][0], rest)) if x != y), None)
                print("not equal:", wrong[-1], "left out", got[2 * i][1], left_out, "first difference", first,
                      got[2 * i + 1][0][:first + 3 if first is not None else 0][-8:],
                      rest[:first + 3 if first is not None else 0][-8:])
    compared += len(prompts)
    if keep_times:
        took = [x[2] for x in got[::2]]
        times[keep_times] = (sum(took) / len(took) / 1e3, max(took) / 1e3, peer_took / len(prompts) * 1e6)


def put_settings(folder, files):
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False))


def compare_vocabulary(name, vocabulary, work, prompts, pick):
    fixed, long = hostile()
    size = len(json.loads((vocabulary / "vocab.json").read_text()))
    count = torch_reference.scaled(20_000)
    # transformers needs a second to read CLIP's vocabulary, so only the families'
    # settings are used.
    for i, (what, files) in enumerate(settings(size)[:4 if name == "CLIP" else None]):
        what = f"{name}, {what}"
        folder = work / f"{name}-{i}"
        shutil.copytree(vocabulary, folder)
        put_settings(folder, files)
        some = fixed + [random_prompt(pick) for _ in range(count)] + [x for x in prompts[i::50] if x]
        compare(what, folder, some, also_cut=True)
        if i == 0:
            if name == "CLIP" or not (CLIP / "merges.txt").exists():
                compare(what + ", long", folder, long)
            if prompts:
                compare(what + ", data", folder, prompts, f"{name}, prompts of data/diffserve")
        if name == "CLIP" and i not in (0, 2):
            continue
        saved = work / f"{name}-{i}-saved"
        CLIPTokenizer.from_pretrained(folder).save_pretrained(saved)
        assert (saved / "tokenizer.json").exists() and not (saved / "vocab.json").exists()
        compare(what + ", saved", saved, some)
        if i == 0:
            compare_older_form(what, saved, some, prompts)


def compare_older_form(what, saved, some, prompts):
    """Compares tokenizer.json as transformers 4 wrote it: merges as text, no special
    tokens in the pattern, no settings beside it."""
    if prompts:
        compare(what + ", saved, data", saved, prompts)
    file = saved / "tokenizer.json"
    content = json.loads(file.read_text())
    content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]
    split, level = content["pre_tokenizer"]["pretokenizers"]
    split["pattern"]["Regex"] = split["pattern"]["Regex"].split(r"endoftext\|>|")[1]
    del level["use_regex"]
    file.write_text(json.dumps(content))
    (saved / "tokenizer_config.json").unlink()
    compare(what + ", older form", saved, some)


def compare_poor_vocabulary(work, pick):
    fixed, long = hostile()
    some = fixed + [random_prompt(pick) for _ in range(torch_reference.scaled(20_000))]
    poor = work / "poor"
    poor_vocabulary(poor, work / "small", pick)
    compare("poor", poor, some)
    compare("poor, long", poor, long)


def compare_faulty_text(folder, pick):
    """Checks that bytes that are not UTF-8 are read as Python decodes them."""
    peer = CLIPTokenizer.from_pretrained(folder)
    fixed = [b"\xff", b"a\x80b", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80",
             b"\xc0\xaf", b"cat\xe2\x82cat", b"\xf0\x9f\x98\xe9\xe9"]
    some = fixed + [bytes(pick.choice((pick.randrange(256), 0xe2, 0x82, 0xf0, 0x9f, 0x61))
                          for _ in range(pick.randrange(1, 30))) for _ in range(torch_reference.scaled(20_000))]
    _, got = ours(folder, [(x, 77) for x in some])
    for text, (ids, _, _) in zip(some, got):
        wanted = peer(text.decode(errors="replace"), padding="max_length", truncation=True, max_length=77).input_ids
        if ids != wanted:
            wrong.append(f"bytes {text}")
            print("not equal:", wrong[-1])


def main():
    pick = torch_reference.generator()
    print(f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}")
    if transformers.__version__ != WANTED:
        print(f"note: the comparison was made for transformers {WANTED}")
    prompts = data_prompts()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        small = work / "small"
        fixed, _ = hostile()
        small_vocabulary(small, fixed + prompts[:100])
        compare_vocabulary("small", small, work, prompts[::10], random.Random(pick.random()))
        compare_poor_vocabulary(work, random.Random(pick.random()))
        vocabulary = small
        if (CLIP / "merges.txt").exists():
            size = len(json.loads((CLIP / "vocab.json").read_text(encoding="utf-8")))
            lines = (CLIP / "merges.txt").read_text(encoding="utf-8").count("\n")
            if (size, lines) != (49408, 48895):
                wrong.append(f"{CLIP}: {size} tokens, {lines} lines of merges")
            vocabulary = work / "clip"
            shutil.copytree(CLIP, vocabulary, ignore=shutil.ignore_patterns(".*"))
            compare_vocabulary("CLIP", vocabulary, work, prompts, random.Random(pick.random()))
        else:
            print(f"no vocabulary in {CLIP}: CLIP's own is left out")
        compare_faulty_text(vocabulary, random.Random(pick.random()))
    print(f"{compared} prompts compared, {len(wrong)} not equal")
    for what, (mean, most, peer) in times.items():
        print(f"{what}: {mean:.1f} us a prompt, {most:.1f} at most; transformers, all at once: {peer:.1f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
