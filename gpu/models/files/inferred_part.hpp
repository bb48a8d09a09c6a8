// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

// Parts of a model whose file has no config.json, so that the configuration is
// inferred from the shapes of tensors under diffusers' and transformers' names.
// Properties that no shape determines (heads, activations, factors) are those
// of the family's published models, as in diffusers.
//
// Source: diffusers 0.42 loaders/single_file_utils.py,
//         create_unet_diffusers_config_from_ldm and
//         create_vae_diffusers_config_from_ldm; the config.json of the models
//         that its DIFFUSERS_DEFAULT_PIPELINE_PATHS names.

using json_object = nlohmann::ordered_json;

// The width of an attention head in every published model with linear
// projections, and in all of their text encoders.
inline constexpr int64_t head_width = 64;

/// Reads the shapes of tensors, and keeps the first error.
/// Threads: one at a time.
class tensor_shapes {
public:
  explicit tensor_shapes(const tensor_source& from)
    : from_(from), names_(from.names()) {}

  /// Returns the length of an axis, or 1 after an error.
  int64_t side(const std::string& name, size_t axis);

  /// Returns how many axes a tensor has; 0 if it is missing.
  size_t axes(const std::string& name) const;

  /// Returns whether a name begins with `prefix`.
  bool has(std::string_view prefix) const;

  /// Returns the number of consecutive prefixes prefix + "0.", prefix + "1.",
  /// ... that names begin with.
  size_t count(std::string_view prefix) const;

  /// Keeps an error about a tensor, unless there is one.
  void fault(const std::string& name, std::string_view what);

  /// Returns the first error, ec::bad_payload with the file and the tensor.
  const std::optional<core::error>& why() const {
    return fault_;
  }

private:
  const tensor_source& from_;
  std::vector<std::string> names_;
  std::optional<core::error> fault_;
};

/// Returns ec::bad_payload with the file's name.
core::error bad_file(const std::filesystem::path& file, std::string_view what);

/// Rejects tensors of a part that have no place in it.
/// Errors: ec::bad_payload.
core::result<void> expect_none(const std::filesystem::path& file,
                               std::string_view part,
                               const std::vector<std::string>& left_over);

/// Makes a part from a file without a config.json.
component inferred_part(const json_object& config,
                        std::shared_ptr<const tensor_source> weights,
                        const std::filesystem::path& file,
                        std::string class_name);

} // namespace atelier::gpu::detail
