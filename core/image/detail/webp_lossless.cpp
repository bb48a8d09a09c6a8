// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/detail/webp_lossless.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace atelier::image::detail {

namespace {

constexpr uint32_t longest_code = 15;
constexpr uint32_t literals = 256;
constexpr uint32_t lengths = 24;
constexpr uint32_t distances = 40;
constexpr uint32_t longest_cache_bits = 11;

/// Rows that libwebp keeps in addition to the image, for pixels before their
/// transforms.
constexpr uint64_t cached_rows = 17;

/// The number of entries in a group's five tables without a cache of colours,
/// the size of an entry, and the size of the rest of the group.
constexpr uint64_t entries_of_group = 2'960;
constexpr uint64_t bytes_of_entry = 4;
constexpr uint64_t bytes_of_group = 640;

/// Reads bits, the lowest of each byte first. Bits after the end are zeros.
class bit_reader {
public:
  explicit bit_reader(bytes_view from) : from_(from) {}

  uint32_t take(uint32_t n) {
    uint32_t x = 0;
    for (uint32_t i = 0; i < n; ++i, ++at_)
      if (at_ / 8 < from_.size())
        x |= (uint32_t{from_[at_ / 8]} >> (at_ % 8) & 1u) << i;
    return x;
  }

  bool ended() const {
    return at_ > 8 * from_.size();
  }

private:
  bytes_view from_;
  size_t at_ = 0;
};

/// A prefix code: its symbols in the order of their codes, and their number by
/// length.
class prefix_code {
public:
  /// Returns false if the lengths are not those of a complete code.
  bool build(std::span<const uint8_t> length_of) {
    counts_.fill(0);
    symbols_.clear();
    for (const auto n : length_of)
      ++counts_[n];
    counts_[0] = 0;
    for (uint32_t n = 1; n <= longest_code; ++n)
      for (uint32_t i = 0; counts_[n] > 0 && i < length_of.size(); ++i)
        if (length_of[i] == n)
          symbols_.push_back(static_cast<uint16_t>(i));
    // The only symbol of a code takes no bit.
    if (symbols_.size() <= 1)
      return !symbols_.empty();
    int64_t left = 1;
    for (uint32_t n = 1; n <= longest_code && left >= 0; ++n)
      left = 2 * left - counts_[n];
    return left == 0;
  }

  uint32_t read(bit_reader& in) const {
    if (symbols_.size() == 1)
      return symbols_.front();
    uint32_t code = 0;
    uint32_t first = 0;
    uint32_t index = 0;
    for (uint32_t n = 1; n <= longest_code; ++n) {
      code |= in.take(1);
      if (code - first < counts_[n])
        return symbols_[index + code - first];
      index += counts_[n];
      first = (first + counts_[n]) << 1;
      code <<= 1;
    }
    return 0;
  }

private:
  std::array<uint32_t, longest_code + 1> counts_{};
  std::vector<uint16_t> symbols_;
};

constexpr uint32_t parts_of(uint32_t side, uint32_t bits) {
  return (side + (1u << bits) - 1) >> bits;
}

class stream_reader {
public:
  explicit stream_reader(bytes_view from) : in_(from) {}

  /// Reads up to the codes of the pixels and returns the bytes that decoding
  /// needs.
  std::optional<uint64_t> bytes_for(core::extent px) {
    uint64_t sum = 4 * (px.pixels() + cached_rows * px.width);
    uint32_t seen = 0;
    while (in_.take(1) != 0) {
      const auto type = in_.take(2);
      if (in_.ended() || (seen & 1u << type) != 0 || !transform(type, px, sum))
        return std::nullopt;
      seen |= 1u << type;
    }
    const auto cache = cache_bits();
    if (!cache)
      return std::nullopt;
    uint32_t groups = 1;
    if (in_.take(1) != 0) {
      const auto bits = in_.take(3) + 2;
      const core::extent tiles{parts_of(px.width, bits),
                               parts_of(px.height, bits)};
      sum += 4 * tiles.pixels();
      const auto largest = largest_literal(tiles);
      if (!largest)
        return std::nullopt;
      groups = *largest + 1;
    }
    if (in_.ended())
      return std::nullopt;
    const uint64_t colours = *cache > 0 ? 1u << *cache : 0;
    return sum
         + groups
             * (bytes_of_entry * (entries_of_group + colours) + bytes_of_group);
  }

private:
  enum transforms : uint32_t {
    predictor,
    cross_colour,
    subtract_green,
    palette
  };

  bool transform(uint32_t type, core::extent& px, uint64_t& sum) {
    if (type == subtract_green)
      return true;
    if (type == palette) {
      const auto colours = in_.take(8) + 1;
      if (!largest_literal({colours, 1}))
        return false;
      // Several pixels share one pixel of the stream.
      px.width = parts_of(px.width, colours <= 2    ? 3
                                    : colours <= 4  ? 2
                                    : colours <= 16 ? 1
                                                    : 0);
      return true;
    }
    const auto bits = in_.take(3) + 2;
    const core::extent tiles{parts_of(px.width, bits),
                             parts_of(px.height, bits)};
    sum += 4 * tiles.pixels();
    return largest_literal(tiles).has_value();
  }

  std::optional<uint32_t> cache_bits() {
    if (in_.take(1) == 0)
      return 0;
    const auto bits = in_.take(4);
    if (bits < 1 || bits > longest_cache_bits)
      return std::nullopt;
    return bits;
  }

  bool read_code(prefix_code& into, uint32_t alphabet) {
    lengths_.assign(std::max(alphabet, literals), 0);
    if (in_.take(1) != 0) {
      const bool two = in_.take(1) != 0;
      lengths_[in_.take(in_.take(1) != 0 ? 8 : 1)] = 1;
      if (two)
        lengths_[in_.take(8)] = 1;
    } else if (!read_lengths(alphabet)) {
      return false;
    }
    return !in_.ended() && into.build(lengths_);
  }

  bool read_lengths(uint32_t alphabet) {
    constexpr std::array<uint8_t, 19> order{
      17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    std::array<uint8_t, 19> of_lengths{};
    const auto n = in_.take(4) + 4;
    if (n > order.size())
      return false;
    for (uint32_t i = 0; i < n; ++i)
      of_lengths[order[i]] = static_cast<uint8_t>(in_.take(3));
    prefix_code code;
    if (!code.build(of_lengths))
      return false;
    auto left = alphabet;
    if (in_.take(1) != 0) {
      const auto bits = 2 + 2 * in_.take(3);
      left = 2 + in_.take(bits);
      if (left > alphabet)
        return false;
    }
    uint8_t last = 8;
    for (uint32_t at = 0; at < alphabet && left > 0; --left) {
      const auto x = code.read(in_);
      if (x < 16) {
        lengths_[at++] = static_cast<uint8_t>(x);
        if (x != 0)
          last = static_cast<uint8_t>(x);
        continue;
      }
      const auto times = x == 16 ? 3 + in_.take(2)
                       : x == 17 ? 3 + in_.take(3)
                                 : 11 + in_.take(7);
      if (at + times > alphabet)
        return false;
      std::fill_n(lengths_.begin() + at, times, x == 16 ? last : uint8_t{0});
      at += times;
    }
    return true;
  }

  uint32_t extra(uint32_t symbol) {
    if (symbol < 4)
      return symbol + 1;
    const auto bits = (symbol - 2) >> 1;
    return ((2 + (symbol & 1)) << bits) + in_.take(bits) + 1;
  }

  /// Reads a sub-image and returns the largest red << 8 | green of its literal
  /// pixels. Copies, either of pixels or from the cache, repeat one of these.
  std::optional<uint32_t> largest_literal(core::extent px) {
    const auto cache = cache_bits();
    if (!cache)
      return std::nullopt;
    const uint32_t colours = *cache > 0 ? 1u << *cache : 0;
    prefix_code green;
    prefix_code red;
    prefix_code blue;
    prefix_code alpha;
    prefix_code distance;
    if (!read_code(green, literals + lengths + colours)
        || !read_code(red, literals) || !read_code(blue, literals)
        || !read_code(alpha, literals) || !read_code(distance, distances))
      return std::nullopt;
    uint32_t largest = 0;
    for (uint64_t at = 0; at < px.pixels() && !in_.ended();) {
      const auto g = green.read(in_);
      if (g < literals) {
        const auto r = red.read(in_);
        blue.read(in_);
        alpha.read(in_);
        largest = std::max(largest, r << 8 | g);
        ++at;
      } else if (g < literals + lengths) {
        at += extra(g - literals);
        extra(distance.read(in_));
      } else {
        ++at;
      }
    }
    if (in_.ended())
      return std::nullopt;
    return largest;
  }

  bit_reader in_;
  std::vector<uint8_t> lengths_;
};

} // namespace

std::optional<uint64_t> lossless_working_bytes(bytes_view stream,
                                               core::extent px) {
  return stream_reader{stream}.bytes_for(px);
}

} // namespace atelier::image::detail
