# SPDX-License-Identifier: Apache-2.0
"""Encodes prompts by the web UI's rules, from the definitions: each character has the
product of the weights of the brackets around it, words are split into chunks of 75
tokens, and weights multiply the states of transformers' text encoders."""
import re

import torch

BACKTRACK = 20


def weighted(prompt):
    """Returns [(text, weight, begins a chunk)]; weights by their definition, bracket by
    bracket."""
    chars, run, rounds, squares = [], 0, [], []

    def close(stack, weight):
        for x in chars[stack.pop():]:
            x[1] *= weight

    at = 0
    while at < len(prompt):
        c = prompt[at]
        weight = re.match(r":\s*([+-]?[.\d]+)\s*\)", prompt[at:])
        if c in "\\()[]:":
            run += 1
        if c == "\\":
            if at + 1 < len(prompt) and prompt[at + 1] in "\\()[]":
                at += 1
                chars.append([prompt[at], 1.0, run])
                run += 1
        elif c in "([":
            (rounds if c == "(" else squares).append(len(chars))
        elif weight and rounds:
            close(rounds, float(weight.group(1)))
            at += len(weight.group(0)) - 1
        elif c == ")" and rounds:
            close(rounds, 1.1)
        elif c == "]" and squares:
            close(squares, 1 / 1.1)
        else:
            chars.append([c, 1.0, run])
            if c in ")]:":
                run += 1
        at += 1
    while rounds:
        close(rounds, 1.1)
    while squares:
        close(squares, 1 / 1.1)
    out = [["", None, False]]
    at = 0
    while at < len(chars):
        end = at
        while end < len(chars) and chars[end][2] == chars[at][2]:
            end += 1
        text = "".join(x[0] for x in chars[at:end])
        for i, part in enumerate(re.split(r"\s*\bBREAK\b\s*", text)):
            if i or out[-1][1] is None or abs(
                    out[-1][1] - chars[at][1]) > 1e-12:
                out.append([part, chars[at][1], i > 0])
            else:
                out[-1][0] += part
        at = end
    return [x for x in out if x[1] is not None] or [["", 1.0, False]]


def chunks(words, prompt, emphasis):
    """Returns lists of 75 ids at most, each with its weight."""
    comma = words(",", add_special_tokens=False).input_ids[0]
    done, chunk, last = [], [], None
    parts = [[prompt, 1.0, False]] if emphasis == "off" else weighted(prompt)
    for text, weight, begins in parts:
        if begins:
            done.append(chunk)
            chunk, last = [], None
        for token in words(text, add_special_tokens=False,
                           truncation=False).input_ids:
            if token == comma:
                last = len(chunk)
            elif len(chunk) == 75 and last is not None \
                    and 75 - last <= BACKTRACK:
                done.append(chunk[:last + 1])
                chunk, last = chunk[last + 1:], None
            if len(chunk) == 75:
                done.append(chunk)
                chunk, last = [], None
            chunk.append((token, 1.0 if emphasis == "ignore" else weight))
    return done + [chunk] if chunk or not done else done


@torch.inference_mode()
def by_one(words, encoder, prompt, emphasis, clip_skip, count, normed):
    """Returns the states of all chunks and the pooled state of the first."""
    states, pooled = [], None
    split = chunks(words, prompt, emphasis)
    for chunk in split + [[]] * (count - len(split)):
        ids = [words.bos_token_id] + [x[0] for x in chunk] + [words.eos_token_id]
        weights = [1.0] + [x[1] for x in chunk]
        ids += [words.pad_token_id] * (77 - len(ids))
        weights += [1.0] * (77 - len(weights))
        out = encoder(torch.tensor([ids]), output_hidden_states=True)
        z = out.hidden_states[-clip_skip]
        if normed:
            inner = getattr(encoder, "text_model", encoder)
            z = inner.final_layer_norm(z)
        if pooled is None:
            pooled = out.text_embeds if hasattr(out, "text_embeds") \
                else out.pooler_output
        if any(x != 1 for x in weights):
            mean = z.mean()
            z = z * torch.tensor(weights)[None, :, None]
            if emphasis == "original":
                z = z * (mean / z.mean())
        states.append(z)
    return torch.cat(states, 1), pooled


def count_of(pipe, prompt, emphasis="original"):
    tokenizers = [pipe.tokenizer, getattr(pipe, "tokenizer_2", None)]
    return max(len(chunks(x, prompt, emphasis)) for x in tokenizers if x)


def encoded(pipe, prompt, emphasis="original", clip_skip=1, count=1):
    """Returns a pipeline's text input, and the pooled text of SDXL."""
    count = max(count, count_of(pipe, prompt, emphasis))
    two = getattr(pipe, "text_encoder_2", None)
    if two is None:
        return by_one(pipe.tokenizer, pipe.text_encoder, prompt, emphasis,
                      clip_skip, count, True)[0], None
    layer = max(clip_skip, 2)
    first, _ = by_one(pipe.tokenizer, pipe.text_encoder, prompt, emphasis,
                      layer, count, False)
    second, pooled = by_one(pipe.tokenizer_2, two, prompt, emphasis, layer,
                            count, False)
    return torch.cat([first, second], -1), pooled
