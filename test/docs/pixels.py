# SPDX-License-Identifier: Apache-2.0
"""Reads a PNG's pixels with only Python's standard library, to find colours in small
images."""
import struct
import zlib

CHANNELS = {2: 3, 6: 4}


def unfilter(kind, line, above, step):
    """Undoes one line's filter in place, as the PNG specification says."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up = above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            add = left
        elif kind == 2:
            add = up
        elif kind == 3:
            add = (left + up) // 2
        elif kind == 4:
            guess = left + up - corner
            add = min((left, up, corner), key=lambda x: abs(guess - x))
        else:
            add = 0
        line[i] = (line[i] + add) & 255


def read_png(data):
    """Returns (width, height, rows of (red, green, blue)) of an 8-bit colour image."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    if depth != 8 or colour not in CHANNELS:
        raise ValueError(f"depth {depth}, colour type {colour}")
    step = CHANNELS[colour]
    raw = zlib.decompress(packed)
    above, rows = bytearray(width * step), []
    for y in range(height):
        begin = y * (width * step + 1)
        line = bytearray(raw[begin + 1:begin + 1 + width * step])
        unfilter(raw[begin], line, above, step)
        rows.append([tuple(line[x:x + 3]) for x in range(0, len(line), step)])
        above = line
    return width, height, rows


def places(rows, is_wanted):
    """Returns (share, mean x, mean y) of the wanted pixels, as shares of the image's
    sides."""
    found = [(x, y) for y, row in enumerate(rows) for x, p in enumerate(row)
             if is_wanted(*p)]
    width, height = len(rows[0]), len(rows)
    if not found:
        return 0, 0, 0
    return (len(found) / (width * height),
            sum(x for x, _ in found) / len(found) / width,
            sum(y for _, y in found) / len(found) / height)


def is_red(r, g, b):
    return r > 140 and g < 90 and b < 90


def is_green(r, g, b):
    return g > 100 and r < 110 and b < 110


def is_blue(r, g, b):
    return b > 140 and r < 100 and g < 130


def is_yellow(r, g, b):
    return r > 170 and g > 150 and b < 110


def is_white(r, g, b):
    return min(r, g, b) > 200
