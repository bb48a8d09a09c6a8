// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::gpu {

/// What of a run's networks is written, and where.
struct run_export {
  /// The folder of the trainings.
  std::filesystem::path run;
  /// Gets a folder for each network: base, small, tiny and turbo are models,
  /// of which all but the first have links to its autoencoder, and those whose
  /// text encoder is base's, as turbo's is, to that; scorer, discriminator and
  /// classifier are networks alone.
  std::filesystem::path to;
  /// Replace networks that have the name already.
  bool replace = false;
};

/// One network that was written.
struct exported_folder {
  std::string name;
  /// Of its files, without those that are links.
  uint64_t bytes = 0;
};

/// Writes all that is trained in a run, in float16, with a card each that says
/// what the training's log says. A network whose training is not finished is
/// left out, and so is a model that import_run put into the run where the
/// folder has one of that name.
/// Errors: ec::not_found (no autoencoder, no denoiser), those of export_model;
///         what was written before stays.
/// Threads: any.
core::result<std::vector<exported_folder>> export_run(const run_export& what);

} // namespace atelier::gpu
