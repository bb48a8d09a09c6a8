# SPDX-License-Identifier: Apache-2.0
"""Texts that break tokenizers, and the protocol by which programs get them."""
import struct
import subprocess

FIXED = [
    "", " ", "\t\n\r ", "a", "!", "!!!", "a photo of a cat!", "Wow! ! !wow",
    "the quick brown fox, jumps over 13 lazy dogs", "it's I'm 'S ''s '",
    "caf\u00e9 cafe\u0301 CAF\u00c9 \u00c5ngstr\u00f6m na\u00efve \u0130stanbul I\u0131 \u1e9e \u00df \ufb01",
    "\u03a3\u03a3 \u039f\u0394\u039f\u03a3 \u1f88 \u01c5 \ua7cb\ua7dc\U00010d50\U00016ea0",
    "a\u0301\u0316\u0327 \u0301a e\u0345\u0301\u0334 \u1e14\u0301 \u212b\u2126\u0340\u0344\uf900\U0002f800\u0958\ufb1d",
    "a  b\u00a0c\u2003d\u3000e\u200bf\ufeffg\u180eh\u0085i\u2028j\x1ck\x1fl\x0bm\x0cn",
    "".join(map(chr, range(0x20))), "".join(map(chr, range(0x7f, 0xa1))),
    "\0", "a\0b", "\0" * 100, "\ufffd\ufffe\uffff\U0010ffff", "\ue000\U000f0000 x\ue000y",
    "\U0001f600\U0001f3fd\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f 1\ufe0f\u20e3",
    "\u6c34\u58a8\u753b\u3001\u6625\u306e\u5c71 cat\u732bdog \u30ab\u30bf\u30ab\u30ca",
    "\u1100\u1161\u11a8 \uac00\u11a8 \ud55c\uae00", "\u0e01\u0e38\u0e07\u0e40\u0e17\u0e1e",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u202e\u05e2\u05d1\u05e8\u05d9\u05ea\u202c \u0928\u093f\u0915\u094d\u0937",
    "[CLS] [SEP] [PAD] [MASK] [UNK]", "x[SEP]y [sep] [ SEP ] [[SEP]] [SEP", "##s ##", "a##b",
    "don\u2019t \u201cquote\u201d \u2014 \u2026 \u00bf\u00a1 $+<=>^`|~ a_b-c/d",
    "\u166d\u1734x\u1885\ua9bd\U000111c9\u2e43\u08d4\u08e2",
    "a" * 100, "a" * 101, "\u00e9" * 100, "e\u0301" * 100, "e\u0301" * 101, "ab" * 60,
    "https://example.org/a?b=c&d=%20 (masterpiece:1.2), <lora:x:0.8>",
    "-" * 300, "cat " * 60,
]
LONG = [
    "a" * 10_000, "cat " * 2_500, "!" * 10_000, "\u0301" * 10_000, "a" + "\u0301\u0316" * 5_000,
    "\U0001f600" * 10_000, "\u6c34" * 10_000, " " * 10_000, "\0" * 10_000, "[SEP]" * 2_000,
    "the quick brown fox, jumps over 13 lazy dogs; " * 220,
]
POOLS = [
    (0x20, 0x7e), (0x61, 0x7a), (0x00, 0x20), (0x7f, 0xff), (0x100, 0x24f), (0x300, 0x36f), (0x370, 0x5ff),
    (0x600, 0x8ff), (0x900, 0xdff), (0xe00, 0x11ff), (0x1e00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x2fff),
    (0x3000, 0x30ff), (0x4e00, 0x4fff), (0xa000, 0xabff), (0xac00, 0xd7a3), (0xf900, 0xffff),
    (0x10000, 0x11fff), (0x1d000, 0x1dfff), (0x1f000, 0x1faff), (0x2eb00, 0x2fa1f), (0, 0x10ffff),
]
WORDS = ["[SEP]", "[MASK]", "##", "'s", "cat", "Photo", "\u0301", "\u0327", "\u00a0", "\u0130", "\u03a3", "!", " "]


def random_text(pick):
    out = []
    low, high = pick.choice(POOLS)
    for _ in range(pick.randrange(1, pick.choice((4, 12, 60, 300)))):
        kind = pick.random()
        if kind < 0.06:
            low, high = pick.choice(POOLS)
        if kind < 0.2:
            out.append(pick.choice(WORDS))
        else:
            code = pick.randint(low, high)
            out.append(chr(code) if not 0xd800 <= code < 0xe000 else " ")
    return "".join(out)


def run(program, *arguments, texts):
    """Returns a program's output for the texts, or raises ValueError with the reason
    for which it refuses the folder."""
    given = b"".join(struct.pack("<I", len(x)) + x for x in (text.encode() for text in texts))
    done = subprocess.run([program, *map(str, arguments)], input=given, capture_output=True)
    if done.returncode == 3:
        raise ValueError(done.stderr.decode().strip())
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout
