# SPDX-License-Identifier: Apache-2.0
"""Image files that promise little and hold much, or the reverse.

bombs("png", 200, seed) yields (name, file, pixels): a bomb of one of the families
below, mutated by the seed, and the pixels that its header promises. It needs only
Python's standard library. The same arguments give the same files.
"""
import random
import struct
import zlib

MIB = 1 << 20

# Above this size the APIs refuse a file unread.
MOST_BYTES = 11 * MIB


def chunk(kind, data=b""):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def zeros(count, level=9):
    """Returns a zlib stream of `count` zeros. It is made quickly, because blocks
    repeat."""
    packer = zlib.compressobj(level)
    piece = bytes(MIB)
    first = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    whole, rest = divmod(count, MIB)
    if whole == 0:
        return zlib.compress(bytes(count), level)
    last = packer.compress(bytes(rest)) + packer.flush()
    # The checksum at the end belongs to other data, but no reader reaches it.
    return first + again * (whole - 1) + last


def ihdr(width, height, depth=8, colours=2, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colours,
                                      0, 0, interlace))


PNG = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def raw_bytes(width, height, depth, colours):
    return height * (1 + (width * CHANNELS[colours] * depth + 7) // 8)


def png(width, height, parts=(), depth=8, colours=2, interlace=0, data=None):
    if data is None:
        data = zeros(raw_bytes(width, height, depth, colours))
    return (PNG + ihdr(width, height, depth, colours, interlace)
            + b"".join(parts) + chunk(b"IDAT", data) + chunk(b"IEND"))


def side(r):
    return r.choice([8, 16, 64, 100, 256])


def png_data_without_end(r):
    width, height = side(r), side(r)
    more = r.choice([1, 20, 400, 3000])
    return png(width, height, interlace=r.choice([0, 1]),
               data=zeros(more * MIB)[:MOST_BYTES]), width * height


def png_data_in_pieces(r):
    width, height = side(r), side(r)
    data = zeros(r.choice([20, 400]) * MIB)
    step = r.choice([1000, 8192, 65536])
    pieces = [chunk(b"IDAT", data[i:i + step])
              for i in range(0, len(data), step)]
    return (PNG + ihdr(width, height) + b"".join(pieces)
            + chunk(b"IEND"))[:MOST_BYTES], width * height


def png_packed_texts(r):
    packed = zeros(r.choice([1, 8, 64]) * MIB)
    kinds = [chunk(b"zTXt", b"parameters\0\0" + packed),
             chunk(b"iTXt", b"parameters\0\1\0\0\0" + packed),
             chunk(b"zTXt", b"Comment\0\0" + packed),
             chunk(b"iCCP", b"x\0\0" + packed)]
    many = max(1, min(r.choice([1, 50, 900]), MOST_BYTES // len(kinds[0])))
    width, height = side(r), side(r)
    return png(width, height, [r.choice(kinds) for _ in range(many)]), \
        width * height


def png_huge_canvas(r):
    width, height = r.choice([(8192, 4096), (4096, 4096), (4000, 3000),
                              (1_000_000, 33), (33, 1_000_000),
                              (2**31 - 1, 2**31 - 1), (60000, 60000)])
    depth, colours = r.choice([(8, 2), (8, 6), (16, 6), (1, 0), (16, 2)])
    most = min(raw_bytes(width, height, depth, colours), 300 * MIB)
    return png(width, height, [], depth, colours, r.choice([0, 1]),
               zeros(most)), width * height


def png_many_chunks(r):
    kind = r.choice([b"tEXt", b"gAMA", b"abCd", b"eXIf", b"IDAT", b"tRNS"])
    data = {b"tEXt": b"a\0b", b"gAMA": struct.pack(">I", 45455),
            b"eXIf": b"II*\0\x08\0\0\0" + struct.pack("<H", 5) + bytes(60),
            b"tRNS": bytes(6)}.get(kind, b"")
    one = chunk(kind, data)
    width, height = side(r), side(r)
    many = r.choice([1000, MOST_BYTES // len(one)])
    return png(width, height, [one * many]), width * height


def png_empty_blocks(r):
    width, height = side(r), side(r)
    empty = b"\0\0\0\xff\xff"
    data = b"\x78\x9c" + empty * r.choice([1000, MOST_BYTES // len(empty) - 99])
    return png(width, height, data=data), width * height


def png_many_fields(r):
    field = r.choice([b"ab:x,", b"a" * 9 + b':"\\', b'k: "v", '])
    text = b"parameters\0" + field * (r.choice([1000, 10 * MIB]) // len(field))
    return png(8, 8, [chunk(b"tEXt", text)]), 64


def marker(code, data=b""):
    return bytes([0xFF, code]) + struct.pack(">H", len(data) + 2) + data


def table(kind, index, counts, symbols):
    return marker(0xC4, bytes([kind << 4 | index])
                  + bytes(counts) + bytes([0] * (16 - len(counts))) + symbols)


def jpeg_head(width, height, frame, parts=3):
    components = b"".join(bytes([i + 1, 0x11, 0]) for i in range(parts))
    return (b"\xff\xd8" + marker(0xDB, bytes([0]) + bytes([1] * 64))
            + marker(frame, struct.pack(">BHHB", 8, height, width, parts)
                     + components)
            # DC: one bit means 0. AC: one bit ends a block, two end 32,767 blocks.
            + table(0, 0, [1, 1], b"\0\1")
            + table(1, 0, [1, 1, 1], b"\0\xe0\1"))


def scan(components, first, last, approximation, data):
    return marker(0xDA, bytes([len(components)])
                  + b"".join(bytes([c, 0]) for c in components)
                  + bytes([first, last, approximation])) + data


def ends_of_blocks(blocks):
    """Returns codes that end all blocks of a scan: "10" and fourteen bits each."""
    bits = "10" + "1" * 14
    text = bits * (blocks // 32767 + 1)
    data = int(text, 2).to_bytes(len(text) // 8, "big")
    return data.replace(b"\xff", b"\xff\0")


def jpeg_many_scans(r):
    width, height = r.choice([(8192, 4096), (4000, 3000), (1024, 1024), (64, 64)])
    blocks = -(-width // 8) * -(-height // 8)
    file = jpeg_head(width, height, 0xC2)
    file += scan([1, 2, 3], 0, 0, 0, bytes(-(-blocks * 3 // 8)))
    ends = ends_of_blocks(blocks)
    many = r.choice([9, 60, 99, 3000])
    for i in range(many):
        file += scan([1 + i % 3], 1 + i % 63, 63, 0, ends)
        if len(file) > MOST_BYTES:
            break
    return file + b"\xff\xd9", width * height


def jpeg_huge_canvas(r):
    width, height = r.choice([(65500, 65500), (8192, 4096), (5792, 5792),
                              (65500, 512), (512, 65500), (4000, 3000)])
    frame = r.choice([0xC0, 0xC1, 0xC2, 0xC9, 0xCA])
    blocks = width * height // 64
    data = bytes(r.choice([10, blocks // 8, blocks, MIB]))[:MOST_BYTES]
    last = 0 if frame in (0xC2, 0xCA) else 63
    return jpeg_head(width, height, frame) \
        + scan([1, 2, 3], 0, last, 0, data) + b"\xff\xd9", width * height


def jpeg_many_markers(r):
    code = r.choice([0xE1, 0xE2, 0xFE, 0xDB, 0xC4, 0xDD])
    exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<H", 5000) + bytes(60000)
    data = {0xE1: exif, 0xE2: b"ICC_PROFILE\0\1\2" + bytes(65000),
            0xFE: b"x" * 65000, 0xDB: bytes([0]) + bytes([1] * 64),
            0xDD: b"\0\1"}.get(code)
    one = marker(code, data) if data else table(0, 0, [1, 1], b"\0\1")
    width, height = side(r), side(r)
    body = jpeg_head(width, height, 0xC0)
    many = r.choice([10, MOST_BYTES // len(one)])
    return b"\xff\xd8" + one * many + body[2:] \
        + scan([1, 2, 3], 0, 63, 0, bytes(width * height)) + b"\xff\xd9", \
        width * height


def jpeg_restarts(r):
    width, height = r.choice([(64, 64), (2048, 2048)])
    blocks = width * height // 64
    data = b"".join(b"\0\xff" + bytes([0xD0 + i % 8])
                    for i in range(min(blocks * r.choice([1, 9]), 500_000)))
    return jpeg_head(width, height, 0xC0) + marker(0xDD, b"\0\1") \
        + scan([1, 2, 3], 0, 63, 0, data) + b"\xff\xd9", width * height


def riff(*chunks):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def part(kind, data):
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


class Bits:
    """Writes bits, the lowest first."""

    def __init__(self):
        self.value, self.count, self.out = 0, 0, bytearray()

    def put(self, value, count):
        self.value |= value << self.count
        self.count += count
        while self.count >= 8:
            self.out.append(self.value & 255)
            self.value >>= 8
            self.count -= 8

    def one_symbol(self, symbol=0):
        # A simple code with one symbol of eight bits.
        self.put(1 | symbol << 3 | 1 << 2, 11)

    def bytes(self):
        return bytes(self.out) + bytes([self.value & 255])


def lossless(width, height, groups=1, bits=0, cache=0):
    """Returns a VP8L stream of one colour with `groups` groups of codes. A sub-image
    that names every group uses all of them."""
    b = Bits()
    b.put(0x2F, 8)
    b.put(width - 1, 14)
    b.put(height - 1, 14)
    b.put(0, 4)
    b.put(0, 1)  # no transform
    b.put(1 | cache << 1, 5) if cache else b.put(0, 1)
    if groups == 1:
        b.put(0, 1)
    else:
        b.put(1, 1)
        b.put(bits, 3)
        # The sub-image uses all symbols of green and red, in eight bits.
        b.put(0, 1)
        for symbols in (280, 256, 1, 1, 1):
            if symbols == 1:
                b.one_symbol()
                continue
            # 17 code lengths are 0 and only 8 has a length, so each of the 256 lengths
            # is read without any bit.
            b.put(0, 1)
            b.put(19 - 4, 4)
            order = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8] + list(range(9, 16))
            for x in order:
                b.put(1 if x == 8 else 0, 3)
            # This many symbols have that length, and all others have none.
            b.put(1, 1)
            b.put(4, 3)
            b.put(256 - 2, 10)
        tile = 4 << bits
        for at in range(-(-width // tile) * -(-height // tile)):
            group = at % groups
            # Codes are sent from their highest bit.
            green = int(f"{group & 255:08b}"[::-1], 2)
            red = int(f"{group >> 8:08b}"[::-1], 2)
            b.put(green, 8)
            b.put(red, 8)
    for _ in range(groups):
        for _ in range(5):
            b.one_symbol()
    return b.bytes()


def webp_huge_canvas(r):
    width, height = r.choice([(16383, 16383), (16383, 2048), (8192, 4096),
                              (4096, 4096), (16, 16383)])
    return riff(part(b"VP8L", lossless(width, height, 1, 0,
                                       r.choice([0, 1, 11])))), width * height


GROUPS = {}


def webp_many_groups(r):
    # They are made only once, because Python needs a moment for them.
    key = r.choice([(512, 512, 16384, 0), (1024, 1024, 65536, 0),
                    (256, 256, 4096, 0)])
    if key not in GROUPS:
        GROUPS[key] = lossless(*key)
    return riff(part(b"VP8L", GROUPS[key])), key[0] * key[1]


def canvas(flags, width, height):
    return part(b"VP8X", bytes([flags, 0, 0, 0])
                + struct.pack("<I", width - 1)[:3]
                + struct.pack("<I", height - 1)[:3])


def webp_animation(r):
    width, height = r.choice([(16, 16), (2048, 2048), (16383, 16383)])
    frame = part(b"ANMF", bytes(6) + struct.pack("<I", 15)[:3]
                 + struct.pack("<I", 15)[:3] + bytes(4)
                 + part(b"VP8L", lossless(16, 16)))
    many = r.choice([2, 1000, MOST_BYTES // len(frame)])
    return riff(canvas(2, width, height), part(b"ANIM", bytes(6)),
                frame * many), width * height


def webp_metadata(r):
    kind = r.choice([b"EXIF", b"ICCP", b"XMP ", b"abcd"])
    exif = b"II*\0\x08\0\0\0" + struct.pack("<H", 65535) + bytes(r.choice(
        [100, 8 * MIB]))
    flag = {b"EXIF": 8, b"ICCP": 32, b"XMP ": 4}.get(kind, 0)
    width, height = side(r), side(r)
    many = r.choice([1, 100_000])
    data = exif if many == 1 else b"\0" * r.choice([0, 2, 60])
    return riff(canvas(flag, width, height), part(kind, data) * many,
                part(b"VP8L", lossless(width, height))), width * height


def lossy(width, height, data):
    """Returns a VP8 key frame of zeros: the same block again and again."""
    first = min(max(16, data // 2), (1 << 19) - 1)
    head = struct.pack("<I", first << 5 | 1 << 4)[:3]
    return head + b"\x9d\x01\x2a" + struct.pack("<HH", width, height) \
        + bytes(data + 16)


def webp_lossy_canvas(r):
    width, height = r.choice([(16383, 16383), (8192, 4096), (4096, 4096),
                              (1000, 1000)])
    data = r.choice([64, 100_000, 900_000, 6 * MIB])
    frame = part(b"VP8 ", lossy(width, height, data))
    if r.random() < 0.5:
        return riff(frame), width * height
    alpha = part(b"ALPH", b"\x01" + lossless(width, height)[5:])
    return riff(canvas(16, width, height), alpha, frame), width * height


FAMILIES = {
    "png": [png_data_without_end, png_data_in_pieces, png_packed_texts,
            png_huge_canvas, png_many_chunks, png_empty_blocks, png_many_fields],
    "jpeg": [jpeg_many_scans, jpeg_huge_canvas, jpeg_many_markers,
             jpeg_restarts],
    "webp": [webp_huge_canvas, webp_many_groups, webp_animation, webp_metadata,
             webp_lossy_canvas],
}


def mutate(r, file):
    """Changes, removes or duplicates some bytes in some files."""
    file = bytearray(file)
    what = r.random()
    if what < 0.6:
        return bytes(file)
    if what < 0.85:
        for _ in range(r.randint(1, 8)):
            within = len(file) if r.random() < 0.5 else min(64, len(file))
            file[r.randrange(within)] = r.randrange(256)
    elif what < 0.95:
        del file[r.randrange(len(file)):]
    else:
        at = r.randrange(len(file))
        file[at:at] = file[at:at + r.randint(1, 4096)]
    return bytes(file) or b"\0"


def promised(kind, file, otherwise):
    """Returns the pixels that a header promises, even after a mutation of the
    header."""
    if kind == "png" and len(file) >= 24:
        width, height = struct.unpack(">II", file[16:24])
        return width * height
    if kind == "jpeg":
        at = 2
        while at + 9 <= len(file) and file[at] == 0xFF:
            if 0xC0 <= file[at + 1] <= 0xCF and file[at + 1] not in (
                    0xC4, 0xC8, 0xCC):
                height, width = struct.unpack(">HH", file[at + 5:at + 9])
                return width * height
            at += 2 + struct.unpack(">H", file[at + 2:at + 4])[0]
    if kind == "webp":
        most = 0
        at = 12
        while at + 18 <= len(file):
            data = file[at + 8:at + 18]
            if file[at:at + 4] == b"VP8L":
                bits = int.from_bytes(data[1:5], "little")
                most = max(most, ((bits & 0x3FFF) + 1)
                           * ((bits >> 14 & 0x3FFF) + 1))
            elif file[at:at + 4] == b"VP8 ":
                width, height = struct.unpack("<HH", data[6:10])
                most = max(most, (width & 0x3FFF) * (height & 0x3FFF))
            length = struct.unpack("<I", file[at + 4:at + 8])[0]
            at += 8 + length + length % 2
        return most or otherwise
    return otherwise


def bombs(kind, count, seed):
    for i in range(count):
        r = random.Random(f"{kind} {seed} {i}")
        family = FAMILIES[kind][i % len(FAMILIES[kind])]
        file, pixels = family(r)
        file = mutate(r, file[:MOST_BYTES])
        yield f"{family.__name__} {i}", file, promised(kind, file, pixels)


def tiny(kind):
    """Returns a valid image of 64x64 pixels."""
    return {"png": png(64, 64),
            "png with transparency": png(64, 64, colours=6),
            "webp": riff(part(b"VP8L", lossless(64, 64)))}[kind]
