// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu {

/// The location of a named model.
struct model_place {
  std::filesystem::path path;
  model_file_options options;
  /// The digest of its files at the start (content_digest). Other files are
  /// refused, however late they are loaded. Empty: any.
  std::string digest = {};
};

struct torch_executor_config {
  /// "cpu:N" or "cuda:N".
  std::string device = "cpu:0";
  /// Threads of one operator on the CPU; 0: LibTorch's choice.
  uint32_t threads = 0;
  /// Whether nobody else uses LibTorch in the process.
  bool alone = false;
  /// Names the variants.
  std::shared_ptr<const planning::profile> known;
  /// The variants that may be hosted here, by name. As many as fit together are
  /// loaded from the start, in this order.
  std::vector<std::string> variants;
  /// Limit on the bytes of all models together; 0: no limit.
  uint64_t memory_bytes = 0;
  /// Whether no model is loaded from the start.
  bool bare = false;
  /// Limit on the bytes that opening a row and decoding an image may take; 0:
  /// what is free.
  uint64_t free_bytes = 0;
  /// Models by the name that the variants use.
  std::map<std::string, model_place, std::less<>> models;
  /// Folders of judges, by the name that jobs use.
  std::map<std::string, std::filesystem::path, std::less<>> judges;
};

/// Loads the variants' models, each model and element type once and as many as
/// fit, and returns a device that runs them with LibTorch and loads the others
/// on request. Blocks until the models are loaded. Models that cannot be loaded
/// are left out; the device lists their variants (failed_at_start).
/// Errors: ec::not_found (the device, or a model that is not configured),
///         ec::bad_config, and those of judges.
/// Threads: any; the returned executor has its own rules.
core::result<std::shared_ptr<executor>> make_torch_executor(
  const torch_executor_config& config, std::shared_ptr<ipc::slot_store> slots);

} // namespace atelier::gpu
