// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Tells from a prompt alone how good each way to draw it will be.
struct prompt_classifier_config {
  clip_text_config text;
  /// Ways to draw.
  int64_t levels = 5;
};

/// With the family's text encoder. `levels`: their names, the best first.
prompt_classifier_config family_prompt_classifier();
std::string prompt_classifier_config_text(
  const std::vector<std::string>& levels);

/// What a classifier's config.json says.
struct prompt_classifier_file {
  prompt_classifier_config shape;
  /// Names of the ways to draw, as variants have them: one for each level.
  std::vector<std::string> levels;
  /// The text encoder's configuration, for what else reads it.
  component encoder;
};

/// Reads what prompt_classifier_config_text writes, with a text encoder of any
/// shape.
/// Errors: ec::bad_config; the text names the file, the key and its value.
core::result<prompt_classifier_file> read_prompt_classifier_config(
  std::string_view text, const std::string& file);

/// Returns about how many numbers a network of that shape has, at least.
double parameters_of(const prompt_classifier_config& x);

} // namespace atelier::gpu
