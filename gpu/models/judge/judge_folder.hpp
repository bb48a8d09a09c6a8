// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

namespace atelier::gpu {

/// The contents of a judge's folder, without its configuration.
struct judge_folder {
  std::shared_ptr<const tokenizer> words;
  std::shared_ptr<const tensor_source> weights;
};

/// Opens a judge's tokenizer and weights.
/// @param encoder the text encoder that reads the tokens; null: not checked
/// Errors: ec::not_found, ec::io_failed, ec::bad_payload.
/// Threads: any.
core::result<judge_folder> open_judge_folder(
  const std::filesystem::path& folder, const component* encoder = nullptr);

/// Opens the folder of one of the family's judges, whose configuration is that
/// very text.
/// @param name the judge, for messages
/// Errors: those of open_judge_folder; ec::bad_payload: another configuration.
/// Threads: any.
core::result<judge_folder> open_family_judge(
  const std::filesystem::path& folder, std::string_view config,
  std::string_view name);

} // namespace atelier::gpu
