// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/prompt_rules.hpp>

#include <cstdint>
#include <string>

namespace atelier::gpu {

/// A text and everything that its encoding depends on.
struct prompt_text {
  std::string text;
  bool negative = false;
  core::prompt_grammar syntax = core::prompt_grammar::plain;
  core::emphasis_rule emphasis = core::emphasis_rule::original;
  /// The text encoder's layer that is used, counted from the last.
  uint32_t clip_skip = 1;

  friend bool operator==(const prompt_text&, const prompt_text&) = default;
};

} // namespace atelier::gpu
