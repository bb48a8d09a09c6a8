// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/base64.hpp>

#include <algorithm>
#include <array>

namespace atelier::runtime::http {

namespace {

using core::ec;

constexpr std::string_view letters =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Marks what is no letter: no sum of four values reaches it.
constexpr uint32_t no_letter = 1u << 31;

constexpr auto values = [] {
  std::array<uint32_t, 256> all{};
  all.fill(no_letter);
  for (uint32_t i = 0; i < 64; ++i)
    all[static_cast<uint8_t>(letters[i])] = i;
  return all;
}();

uint32_t value_of(char c) {
  return values[static_cast<uint8_t>(c)];
}

core::error fault(std::string_view field, std::string_view what) {
  return core::fail(ec::bad_payload, "{} is not base64: {}", field, what);
}

} // namespace

std::string to_base64(std::span<const uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3, out += 4) {
    const uint32_t x =
      uint32_t{bytes[i]} << 16 | uint32_t{bytes[i + 1]} << 8 | bytes[i + 2];
    out[0] = letters[x >> 18];
    out[1] = letters[x >> 12 & 63];
    out[2] = letters[x >> 6 & 63];
    out[3] = letters[x & 63];
  }
  if (const auto left = bytes.size() - i; left > 0) {
    const uint32_t x =
      uint32_t{bytes[i]} << 16 | (left == 2 ? uint32_t{bytes[i + 1]} << 8 : 0u);
    out[0] = letters[x >> 18];
    out[1] = letters[x >> 12 & 63];
    if (left == 2)
      out[2] = letters[x >> 6 & 63];
  }
  return text;
}

core::result<std::vector<uint8_t>> from_base64(std::string_view field,
                                               std::string_view text,
                                               uint64_t most_bytes) {
  // Line breaks add a few hundredths to what the bytes need, or are a flood.
  const auto most_text = most_bytes / 3 * 4 + 4;
  if (text.size() > most_text + most_text / 16 + 64)
    return core::fail(ec::invalid_argument,
                      "{} has {} characters of base64, more than {} bytes need",
                      field, text.size(), most_bytes);
  std::string joined;
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    joined.reserve(text.size());
    std::copy_if(text.begin(), text.end(), std::back_inserter(joined),
                 [](char c) { return c != '\r' && c != '\n'; });
    text = joined;
  }
  if (text.size() % 4 != 0)
    return fault(field, "its length is not a multiple of 4");
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  const auto size = text.size() / 4 * 3 + (padding > 0 ? 3 - padding : 0);
  if (size > most_bytes)
    return core::fail(ec::invalid_argument, "{} has {} bytes, outside 1..{}",
                      field, size, most_bytes);
  std::vector<uint8_t> bytes(size);
  uint8_t* out = bytes.data();
  uint32_t faults = 0;
  size_t i = 0;
  for (; i + 4 <= text.size(); i += 4, out += 3) {
    const auto a = value_of(text[i]);
    const auto b = value_of(text[i + 1]);
    const auto c = value_of(text[i + 2]);
    const auto d = value_of(text[i + 3]);
    faults |= a | b | c | d;
    const auto x = a << 18 | b << 12 | c << 6 | d;
    out[0] = static_cast<uint8_t>(x >> 16);
    out[1] = static_cast<uint8_t>(x >> 8);
    out[2] = static_cast<uint8_t>(x);
  }
  if (padding > 0) {
    const auto a = value_of(text[i]);
    const auto b = value_of(text[i + 1]);
    const auto c = padding == 1 ? value_of(text[i + 2]) : 0;
    faults |= a | b | c;
    if ((padding == 2 ? b & 15 : c & 3) != 0)
      return fault(field, "bits are left over at its end");
    out[0] = static_cast<uint8_t>(a << 2 | b >> 4);
    if (padding == 1)
      out[1] = static_cast<uint8_t>(b << 4 | c >> 2);
  }
  if ((faults & no_letter) != 0)
    return fault(field, "a character is not of its alphabet");
  return bytes;
}

core::result<std::vector<uint8_t>> from_image_text(std::string_view field,
                                                   std::string_view text,
                                                   uint64_t most_bytes) {
  constexpr std::string_view scheme = "data:";
  constexpr size_t longest_type = 200;
  if (text.starts_with(scheme)) {
    const auto head = text.substr(0, longest_type);
    const auto comma = head.find(',');
    if (comma == std::string_view::npos
        || !head.substr(0, comma).ends_with(";base64"))
      return core::fail(ec::bad_payload, "{} is a data URL without ;base64,",
                        field);
    return from_base64(field, text.substr(comma + 1), most_bytes);
  }
  if (text.substr(0, 16).find("://") != std::string_view::npos)
    return core::fail(ec::invalid_argument,
                      "{} is a URL, and this server fetches none: send the "
                      "image itself, as an upload, base64 or a data URL",
                      field);
  return from_base64(field, text, most_bytes);
}

std::string to_data_url(std::string_view content_type,
                        std::span<const uint8_t> bytes) {
  std::string url{"data:"};
  url += content_type;
  url += ";base64,";
  url += to_base64(bytes);
  return url;
}

} // namespace atelier::runtime::http
