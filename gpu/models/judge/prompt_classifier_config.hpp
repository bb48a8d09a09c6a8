// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Shape of the network that predicts from a prompt each route's quality.
struct prompt_classifier_config {
  clip_text_config text;
  /// Number of routes.
  int64_t levels = 5;
};

/// Return the shape with the family's text encoder, and its config.json.
/// `levels` are the routes' names, the best first.
prompt_classifier_config family_prompt_classifier();
std::string prompt_classifier_config_text(
  const std::vector<std::string>& levels);

/// The contents of a classifier's config.json.
struct prompt_classifier_file {
  prompt_classifier_config shape;
  /// Names of the routes, as variants have them: one for each level.
  std::vector<std::string> levels;
  /// The text encoder's configuration, which other functions read.
  component encoder;
};

/// Reads the output of prompt_classifier_config_text, with a text encoder of
/// any shape.
/// Errors: ec::bad_config; the text names the file, the key and its value.
core::result<prompt_classifier_file> read_prompt_classifier_config(
  std::string_view text, const std::string& file);

/// Returns a lower estimate of the parameters of a network of that shape.
double parameters_of(const prompt_classifier_config& x);

/// The contents of a classifier's folder.
struct prompt_classifier_files {
  prompt_classifier_file config;
  std::shared_ptr<const tokenizer> words;
  std::shared_ptr<const tensor_source> weights;
};

/// Opens a classifier's folder without building its network, and checks
/// everything except the names and shapes of its tensors.
/// Errors: ec::not_found, ec::io_failed, ec::bad_config, ec::bad_payload; the
///         text names the file, and the key.
/// Threads: any.
core::result<prompt_classifier_files> open_prompt_classifier(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
