// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that promise little and hold much, or the reverse, made bit by bit.

#include <atelier/core/image/detail/bytes.hpp>
#include <atelier/core/image/detail/png_text.hpp>

#include <zlib.h>

#include <algorithm>
#include <string_view>

namespace atelier::image::test {

using detail::append;
using detail::append_be16;
using detail::append_be32;
using detail::append_le32;
using detail::append_png_chunk;
using detail::as_bytes;
using detail::bytes;
using detail::bytes_view;

inline bytes packed(bytes_view raw) {
  uLongf n = compressBound(raw.size());
  bytes x(n);
  compress2(x.data(), &n, raw.data(), raw.size(), 9);
  x.resize(n);
  return x;
}

inline bytes packed_zeros(size_t n) {
  return packed(bytes(n));
}

struct png_form {
  uint32_t width = 8;
  uint32_t height = 8;
  uint8_t depth = 8;
  /// The colour type: 0 grey, 2 RGB, 3 palette, 4 grey and A, 6 RGBA.
  uint8_t colours = 2;
  uint8_t interlaced = 0;

  uint32_t bits() const {
    constexpr uint32_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[colours] * depth;
  }
};

/// Returns the bytes of the filtered rows of all passes.
inline size_t raw_bytes(const png_form& x) {
  const auto rows = [&](uint32_t width, uint32_t height) {
    return width == 0
           ? size_t{0}
           : size_t{height} * (1 + (size_t{width} * x.bits() + 7) / 8);
  };
  if (x.interlaced == 0)
    return rows(x.width, x.height);

  struct pass {
    uint32_t x, y, dx, dy;
  };

  constexpr pass passes[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                             {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                             {0, 1, 1, 2}};
  size_t sum = 0;
  for (const auto& p : passes)
    sum += rows((x.width + p.dx - 1 - p.x) / p.dx,
                (x.height + p.dy - 1 - p.y) / p.dy);
  return sum;
}

inline bytes begin_png(const png_form& x) {
  bytes file;
  append(file, as_bytes("\x89PNG\r\n\x1a\n"));
  bytes head;
  append_be32(head, x.width);
  append_be32(head, x.height);
  for (uint8_t b : {x.depth, x.colours, uint8_t{0}, uint8_t{0}, x.interlaced})
    head.push_back(b);
  append_png_chunk(file, "IHDR", head);
  return file;
}

inline void end_png(bytes& file, bytes_view data) {
  append_png_chunk(file, "IDAT", data);
  append_png_chunk(file, "IEND", {});
}

inline void append_marker(bytes& to, uint8_t code, bytes_view data) {
  to.push_back(0xFF);
  to.push_back(code);
  append_be16(to, static_cast<uint32_t>(data.size() + 2));
  append(to, data);
}

/// Returns the start of a JPEG of three components, up to its first scan. One
/// bit says that a block's DC equals the previous one, and one bit that all its
/// AC are 0.
inline bytes begin_jpeg(uint32_t width, uint32_t height, uint8_t frame) {
  bytes file{0xFF, 0xD8};
  bytes table(65, 1);
  table[0] = 0;
  append_marker(file, 0xDB, table);
  bytes head{8};
  append_be16(head, height);
  append_be16(head, width);
  append(head, bytes{3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0});
  append_marker(file, frame, head);
  for (const auto kind : {uint8_t{0x00}, uint8_t{0x10}}) {
    bytes codes(17);
    codes[0] = kind;
    codes[1] = 1;
    codes.push_back(0);
    append_marker(file, 0xC4, codes);
  }
  return file;
}

/// Appends a scan of some components and coefficients.
inline void append_scan(bytes& to, bytes_view components, uint8_t first,
                        uint8_t last, bytes_view data) {
  bytes head{static_cast<uint8_t>(components.size())};
  for (const auto c : components) {
    head.push_back(c);
    head.push_back(0);
  }
  append(head, bytes{first, last, 0});
  append_marker(to, 0xDA, head);
  append(to, data);
}

/// Writes bits, the lowest first.
class bit_writer {
public:
  void put(uint32_t x, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i, ++count_) {
      if (count_ % 8 == 0)
        out_.push_back(0);
      const auto bit = (x >> i & 1u) << (count_ % 8);
      out_.back() = static_cast<uint8_t>(out_.back() | bit);
    }
  }

  /// Writes a code of one symbol, 0, which needs no bit.
  void one_symbol() {
    put(0b101, 11);
  }

  bytes take() {
    return std::move(out_);
  }

private:
  bytes out_;
  uint32_t count_ = 0;
};

/// Returns a lossless stream of one colour with `groups` groups of codes, up to
/// 65,536. Each group is used by one block of 4x4 pixels.
inline bytes lossless_stream(uint32_t width, uint32_t height,
                             uint32_t groups = 1) {
  bit_writer b;
  b.put(0x2F, 8);
  b.put(width - 1, 14);
  b.put(height - 1, 14);
  b.put(0, 4);
  b.put(0, 2); // no transform, no cache
  b.put(groups > 1 ? 1 : 0, 1);
  if (groups > 1) {
    b.put(0, 3); // blocks of 4x4
    b.put(0, 1); // no cache
    for (int code = 0; code < 2; ++code) {
      // 19 lengths of lengths give 256 symbols of eight bits each.
      constexpr int place_of_8 = 11;
      b.put(0, 1);
      b.put(15, 4);
      for (int i = 0; i < 19; ++i)
        b.put(i == place_of_8 ? 1 : 0, 3);
      b.put(1, 1);
      b.put(4, 3);
      b.put(254, 10);
    }
    for (int code = 0; code < 3; ++code)
      b.one_symbol();
    const auto reversed = [](uint32_t x) {
      uint32_t r = 0;
      for (int i = 0; i < 8; ++i)
        r |= (x >> i & 1u) << (7 - i);
      return r;
    };
    const uint32_t tiles = ((width + 3) / 4) * ((height + 3) / 4);
    for (uint32_t at = 0; at < tiles; ++at) {
      b.put(reversed(at % groups & 255), 8);
      b.put(reversed(at % groups >> 8), 8);
    }
  }
  for (uint32_t i = 0; i < 5 * groups; ++i)
    b.one_symbol();
  return b.take();
}

inline void append_webp_chunk(bytes& to, std::string_view type,
                              bytes_view data) {
  append(to, as_bytes(type));
  append_le32(to, static_cast<uint32_t>(data.size()));
  append(to, data);
  if (data.size() % 2 != 0)
    to.push_back(0);
}

inline bytes webp_of(bytes_view chunks) {
  bytes file;
  append(file, as_bytes("RIFF"));
  append_le32(file, static_cast<uint32_t>(chunks.size() + 4));
  append(file, as_bytes("WEBP"));
  append(file, chunks);
  return file;
}

inline bytes lossless_webp(uint32_t width, uint32_t height,
                           uint32_t groups = 1) {
  bytes chunks;
  append_webp_chunk(chunks, "VP8L", lossless_stream(width, height, groups));
  return webp_of(chunks);
}

} // namespace atelier::image::test
