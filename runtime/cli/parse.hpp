// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstdint>
#include <string_view>

namespace atelier::runtime::cli {

// All of these functions return ec::invalid_argument with a sentence that names
// the argument, its value and the allowed values.

/// Reads a whole number in `least`..`most`, in decimal digits.
core::result<uint64_t> parse_whole(std::string_view argument,
                                   std::string_view text, uint64_t least,
                                   uint64_t most);

/// Reads a decimal number in `least`..`most`.
core::result<float> parse_decimal(std::string_view argument,
                                  std::string_view text, float most,
                                  float least = 0);

/// Reads a fraction: a decimal number above 0 and at most 1.
core::result<float> parse_share(std::string_view argument,
                                std::string_view text);

/// Reads "WxH" or "WXH" in pixels, "N" as a square, or "auto" as 0x0: the
/// model's own size.
core::result<core::extent> parse_size(std::string_view argument,
                                      std::string_view text,
                                      const core::limits& within);

/// Checks that `text` is one of the words that `choices_of(argument)` gives.
core::result<void> check_choice(std::string_view argument,
                                std::string_view text);

/// Checks that `text` is UTF-8 of at most `most_bytes`.
core::result<void> check_text(std::string_view argument, std::string_view text,
                              uint64_t most_bytes);

/// Returns `text` in quotes, fit for a message: control characters and invalid
/// UTF-8 are replaced, and long text is shortened.
std::string show_value(std::string_view text);

} // namespace atelier::runtime::cli
