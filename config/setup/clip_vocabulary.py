# SPDX-License-Identifier: Apache-2.0
"""Write CLIP's vocabulary as vocab.json and merges.txt.

Usage: clip_vocabulary.py WHEEL FOLDER

WHEEL is one of the Python package open_clip_torch, which carries the merges of
OpenAI's tokenizer. FOLDER gets the two files as transformers' CLIPTokenizer
reads them: 49,408 tokens, 48,894 merges.
"""
import gzip
import hashlib
import json
import pathlib
import sys
import zipfile

MERGES = "open_clip/bpe_simple_vocab_16e6.txt.gz"
# Of the file as OpenAI published it.
MERGES_SHA256 = \
    "924691ac288e54409236115652ad4aa250f48203de50a9e4722a6ecd48d6804a"
MERGE_COUNT = 49152 - 256 - 2


def byte_letters():
    """Return the letter that stands for each byte, in the vocabulary's order:
    printable bytes stand for themselves, others for letters from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = len(set(range(256)) - set(printable))
    return [chr(byte) for byte in printable] + [
        chr(256 + i) for i in range(others)]


def main():
    wheel, folder = map(pathlib.Path, sys.argv[1:])
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(MERGES)
    if hashlib.sha256(packed).hexdigest() != MERGES_SHA256:
        sys.exit(f"{wheel}: {MERGES} is not OpenAI's")
    text = gzip.decompress(packed).decode("utf-8")
    # The first line is a version, and what follows the used merges is left over
    # from a larger vocabulary.
    merges = text.split("\n")[1:1 + MERGE_COUNT]

    letters = byte_letters()
    tokens = letters + [letter + "</w>" for letter in letters]
    tokens += [merge.replace(" ", "") for merge in merges]
    tokens += ["<|startoftext|>", "<|endoftext|>"]

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: i for i, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(
        json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text(
        "\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
