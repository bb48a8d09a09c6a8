// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Predicts from a prompt the quality of its image on each of several routes.
/// Source: Argus, section 4.1; a quality for each level instead of one class.
/// Threads: one at a time.
class prompt_classifier {
public:
  virtual ~prompt_classifier() = default;

  /// Returns the names of the routes, such as "base@50"; each once.
  virtual const std::vector<std::string>& levels() const = 0;

  /// Returns the expected quality, 0..1, of each of `levels`, in their order.
  /// Errors: ec::out_of_resources, ec::internal.
  virtual core::result<std::vector<float>> qualities(
    std::string_view prompt) const = 0;
};

/// Opens a folder that `atelier train export` wrote for the classifier, to run
/// it on the CPU. Available only in builds with models.
/// Errors: ec::not_found, ec::io_failed, ec::bad_config, ec::bad_payload; the
///         text names the file, and the key or tensor.
/// Threads: any.
core::result<std::shared_ptr<const prompt_classifier>> load_prompt_classifier(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
