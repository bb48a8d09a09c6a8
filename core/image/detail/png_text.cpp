// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/formats.hpp>
#include <atelier/core/image/detail/png_text.hpp>
#include <atelier/core/image/detail/text_codes.hpp>
#include <atelier/core/image/png_texts.hpp>

#include <zlib.h>

#include <optional>
#include <string>

namespace atelier::image::detail {

using namespace std::string_view_literals;

namespace {

constexpr auto keyword = "parameters\0"sv;

/// Replaces U+0000, which neither form of text may hold.
std::string without_nul(std::string_view text) {
  std::string clean;
  for (char c : text) {
    if (c == '\0')
      clean += "\xEF\xBF\xBD";
    else
      clean += c;
  }
  return clean;
}

std::optional<bytes> inflate_text(bytes_view packed) {
  bytes text(most_text_bytes);
  uLongf n = text.size();
  if (uncompress(text.data(), &n, packed.data(), packed.size()) != Z_OK)
    return std::nullopt;
  text.resize(n);
  return text;
}

/// Returns the bytes after the first NUL of `x`, if it has one.
std::optional<bytes_view> behind_nul(bytes_view x) {
  const size_t at = as_text(x).find('\0');
  if (at == std::string_view::npos)
    return std::nullopt;
  return part(x, at + 1);
}

/// Returns the text of an iTXt chunk. The keyword is followed by a flag, a
/// method, a language, a translated keyword and the text.
std::optional<std::string> read_international(bytes_view x) {
  if (x.size() < 2)
    return std::nullopt;
  const bool packed = x[0] != 0;
  const auto translated = behind_nul(part(x, 2));
  if (!translated)
    return std::nullopt;
  const auto text = behind_nul(*translated);
  if (!text)
    return std::nullopt;
  if (!packed)
    return utf8_or_latin1(*text);
  const auto plain = inflate_text(*text);
  if (!plain)
    return std::nullopt;
  return utf8_or_latin1(*plain);
}

bool holds_text(std::string_view type) {
  return type == "tEXt" || type == "iTXt" || type == "zTXt";
}

/// Returns the text of a chunk, if it can be read, from the data after its
/// keyword and the NUL that ends it.
std::optional<std::string> read_chunk(std::string_view type, bytes_view rest) {
  // The limit on an unpacked text also applies to a packed one.
  if (rest.size() > most_text_bytes)
    return std::nullopt;
  if (type == "tEXt")
    return from_latin1(rest);
  if (type == "iTXt")
    return read_international(rest);
  if (type == "zTXt" && !rest.empty())
    if (const auto plain = inflate_text(part(rest, 1)))
      return from_latin1(*plain);
  return std::nullopt;
}

} // namespace

void append_png_chunk(bytes& to, std::string_view type, bytes_view data) {
  append_be32(to, static_cast<uint32_t>(data.size()));
  const size_t from = to.size();
  append(to, as_bytes(type));
  append(to, data);
  const uLong sum = crc32_z(0, to.data() + from, to.size() - from);
  append_be32(to, static_cast<uint32_t>(sum));
}

void append_png_text(bytes& to, std::string_view text) {
  const std::string clean = without_nul(text);
  bytes data;
  append(data, as_bytes(keyword));
  if (const auto latin1 = to_latin1(clean)) {
    append(data, as_bytes(*latin1));
    append_png_chunk(to, "tEXt", data);
    return;
  }
  // The text is not packed; the method is deflate, and the language and the
  // translated keyword are empty.
  append(data, as_bytes("\0\0\0\0"sv));
  append(data, as_bytes(clean));
  append_png_chunk(to, "iTXt", data);
}

std::optional<std::string> read_png_text(bytes_view file) {
  std::optional<std::string> text;
  for_each_png_chunk(file, [&](std::string_view type, bytes_view data) {
    if (!holds_text(type) || !starts_with(data, keyword))
      return true;
    // The first text counts, even if it is faulty. Otherwise a file with many
    // texts would have each of them unpacked.
    text = read_chunk(type, part(data, keyword.size()));
    return false;
  });
  return text;
}

} // namespace atelier::image::detail

namespace atelier::image {

std::vector<std::pair<std::string, std::string>> read_png_texts(
  std::span<const uint8_t> file) {
  std::vector<std::pair<std::string, std::string>> all;
  if (recognise(file) != core::image_format::png)
    return all;
  size_t seen = 0;
  size_t bytes = 0;
  detail::for_each_png_chunk(
    file, [&](std::string_view type, detail::bytes_view data) {
      const auto rest = detail::behind_nul(data);
      if (!detail::holds_text(type) || !rest)
        return true;
      if (auto text = detail::read_chunk(type, *rest)) {
        bytes += text->size();
        if (bytes > most_text_bytes)
          return false;
        all.emplace_back(
          detail::from_latin1(data.first(data.size() - rest->size() - 1)),
          std::move(*text));
      }
      return ++seen < most_png_texts;
    });
  return all;
}

} // namespace atelier::image
