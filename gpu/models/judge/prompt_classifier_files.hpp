// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_config.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <filesystem>
#include <memory>

namespace atelier::gpu {

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
