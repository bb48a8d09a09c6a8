// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/exif.hpp>
#include <atelier/core/image/detail/text_codes.hpp>

#include <algorithm>

namespace atelier::image::detail {

using namespace std::string_view_literals;

namespace {

constexpr uint32_t tag_orientation = 0x0112;
constexpr uint32_t tag_exif_directory = 0x8769;
constexpr uint32_t tag_user_comment = 0x9286;
constexpr uint32_t type_short = 3;
constexpr uint32_t type_long = 4;
constexpr uint32_t type_undefined = 7;

constexpr auto code_unicode = "UNICODE\0"sv;
constexpr auto code_ascii = "ASCII\0\0\0"sv;
constexpr auto code_unknown = "\0\0\0\0\0\0\0\0"sv;

/// Appends a directory of one entry without a successor.
void append_directory(bytes& to, uint32_t tag, uint32_t type, uint32_t count,
                      uint32_t value) {
  append_be16(to, 1);
  append_be16(to, tag);
  append_be16(to, type);
  append_be32(to, count);
  append_be32(to, value);
  append_be32(to, 0);
}

/// A TIFF file in either byte order. All offsets count from its start.
struct tiff {
  bytes_view file;
  byte_order order;

  uint32_t u16(size_t at) const {
    const auto x = file.subspan(at, 2);
    return order == byte_order::big ? be16(x) : le16(x);
  }

  uint32_t u32(size_t at) const {
    const auto x = file.subspan(at, 4);
    return order == byte_order::big ? be32(x) : le32(x);
  }

  /// Returns the position of the entry with `tag` in the directory at `at`. The
  /// file holds all twelve bytes of the entry.
  std::optional<size_t> find_entry(size_t at, uint32_t tag) const {
    if (at > file.size() || file.size() - at < 2)
      return std::nullopt;
    const size_t entries =
      std::min<size_t>(u16(at), (file.size() - at - 2) / 12);
    for (size_t i = 0; i < entries; ++i) {
      const size_t entry = at + 2 + 12 * i;
      if (u16(entry) == tag)
        return entry;
    }
    return std::nullopt;
  }
};

/// Finds the byte order of an EXIF block. A block that it accepts holds the
/// offset of its first directory.
std::optional<tiff> open(bytes_view block) {
  if (block.size() < 8)
    return std::nullopt;
  if (starts_with(block, "II*\0"sv))
    return tiff{block, byte_order::little};
  if (starts_with(block, "MM\0*"sv))
    return tiff{block, byte_order::big};
  return std::nullopt;
}

/// Guesses the byte order of UTF-16 in a UserComment, on which writers
/// disagree. In most texts the upper bytes have more zeros.
byte_order guess_order(bytes_view utf16) {
  size_t zeros[2] = {0, 0};
  for (size_t i = 0; i < utf16.size(); ++i)
    if (utf16[i] == 0)
      ++zeros[i % 2];
  return zeros[1] > zeros[0] ? byte_order::little : byte_order::big;
}

std::string read_comment(bytes_view comment) {
  const bytes_view rest = part(comment, 8);
  if (starts_with(comment, code_unicode)) {
    if (rest.size() >= 2 && be16(rest) == 0xFEFF)
      return from_utf16(part(rest, 2), byte_order::big);
    if (rest.size() >= 2 && le16(rest) == 0xFEFF)
      return from_utf16(part(rest, 2), byte_order::little);
    return from_utf16(rest, guess_order(rest));
  }
  if (starts_with(comment, code_ascii) || starts_with(comment, code_unknown))
    return utf8_or_latin1(rest);
  return utf8_or_latin1(comment);
}

} // namespace

bytes make_exif(std::string_view text) {
  bytes comment;
  append(comment, as_bytes(code_unicode));
  append(comment, to_utf16(text));
  bytes block;
  append(block, as_bytes("MM\0*"sv));
  append_be32(block, 8);
  append_directory(block, tag_exif_directory, type_long, 1, 26);
  append_directory(block, tag_user_comment, type_undefined,
                   static_cast<uint32_t>(comment.size()), 44);
  append(block, comment);
  return block;
}

std::optional<uint32_t> read_orientation(bytes_view block) {
  const auto x = open(block);
  if (!x)
    return std::nullopt;
  const auto entry = x->find_entry(x->u32(4), tag_orientation);
  if (!entry || x->u16(*entry + 2) != type_short)
    return std::nullopt;
  const auto told = x->u16(*entry + 8);
  if (told < 1 || told > 8)
    return std::nullopt;
  return told;
}

std::optional<std::string> read_exif(bytes_view block) {
  const auto x = open(block);
  if (!x)
    return std::nullopt;
  const auto pointer = x->find_entry(x->u32(4), tag_exif_directory);
  if (!pointer)
    return std::nullopt;
  const auto entry = x->find_entry(x->u32(*pointer + 8), tag_user_comment);
  if (!entry)
    return std::nullopt;
  const size_t count = x->u32(*entry + 4);
  const size_t at = x->u32(*entry + 8);
  // A value of four bytes or fewer would be in the entry itself. A comment has
  // at least the eight bytes of its code.
  if (count < 8 || at > block.size() || count > block.size() - at
      || count > most_text_bytes)
    return std::nullopt;
  return read_comment(block.subspan(at, count));
}

} // namespace atelier::image::detail
