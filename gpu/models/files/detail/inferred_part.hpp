// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/detail/inferred_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu::detail {

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
