// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;

template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return value;
}

} // namespace

core::result<uint64_t> parse_whole(std::string_view argument,
                                   std::string_view text, uint64_t least,
                                   uint64_t most) {
  const auto value = read_all<uint64_t>(text);
  if (!value || *value < least || *value > most)
    return fail(ec::invalid_argument, "{}: {} is not a whole number in {}..{}",
                argument, show_value(text), least, most);
  return *value;
}

core::result<float> parse_decimal(std::string_view argument,
                                  std::string_view text, float most,
                                  float least) {
  const auto value = read_all<float>(text);
  // Written so that NaN, which compares false with all, is refused.
  if (!value || !(*value >= least && *value <= most))
    return fail(ec::invalid_argument, "{}: {} is not a number in {}..{}",
                argument, show_value(text), least, most);
  return *value;
}

core::result<float> parse_share(std::string_view argument,
                                std::string_view text) {
  const auto value = read_all<float>(text);
  if (!value || !(*value > 0 && *value <= 1))
    return fail(ec::invalid_argument,
                "{}: {} is not a number above 0 and at most 1", argument,
                show_value(text));
  return *value;
}

core::result<core::extent> parse_size(std::string_view argument,
                                      std::string_view text,
                                      const core::limits& within) {
  if (text == "auto")
    return core::extent{};
  const auto fault = [&] {
    return fail(ec::invalid_argument,
                "{}: {} is neither auto nor WxH, or one number for a square, "
                "with sides of {}..{} pixels, multiples of {}, and at most {} "
                "pixels in all",
                argument, show_value(text), core::grid_px, within.side_px,
                core::grid_px, within.picture_px);
  };
  const auto cross = text.find_first_of("xX");
  const auto width = read_all<uint32_t>(text.substr(0, cross));
  const auto height = cross == std::string_view::npos
                      ? width
                      : read_all<uint32_t>(text.substr(cross + 1));
  const auto fits = [&](const std::optional<uint32_t>& side) {
    return side && *side > 0 && *side <= within.side_px
        && *side % core::grid_px == 0;
  };
  if (!fits(width) || !fits(height))
    return fault();
  const core::extent px{*width, *height};
  if (px.pixels() > within.picture_px)
    return fault();
  return px;
}

core::result<void> check_choice(std::string_view argument,
                                std::string_view text) {
  const auto words = choices_of(argument);
  if (std::find(words.begin(), words.end(), text) != words.end())
    return {};
  return fail(ec::invalid_argument, "{}: {} is not {}", argument,
              show_value(text), list_choices(words));
}

core::result<void> check_text(std::string_view argument, std::string_view text,
                              uint64_t most_bytes) {
  if (text.size() > most_bytes)
    return fail(ec::invalid_argument, "{}: {} has {} bytes, outside 0..{}",
                argument, show_value(text), text.size(), most_bytes);
  if (const auto at = core::find_utf8_fault(text))
    return fail(ec::invalid_argument, "{}: {} is not UTF-8 at byte {} of {}",
                argument, show_value(text), *at, text.size());
  return {};
}

std::string show_value(std::string_view text) {
  constexpr size_t most = 60;
  std::string shown{text.substr(0, most)};
  // A cut through the middle of a character is a fault at the very end.
  while (const auto at = core::find_utf8_fault(shown)) {
    if (text.size() > most && *at + 4 > shown.size())
      shown.resize(*at);
    else
      shown[*at] = '?';
  }
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = ' ';
  return "'" + shown + (text.size() > most ? "...'" : "'");
}

} // namespace atelier::runtime::cli
