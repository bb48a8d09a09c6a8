// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace atelier::gpu {

/// The run to export, and the destination.
struct run_export {
  /// The folder of the trainings.
  std::filesystem::path run;
  /// Receives a folder for each network. base, small, tiny and turbo are
  /// models. All but the first link to its autoencoder, and models that share
  /// base's text encoder, as turbo does, link to that too. scorer,
  /// discriminator and classifier are single networks.
  std::filesystem::path to;
  /// Replaces existing networks of the same name.
  bool replace = false;
};

/// One exported network.
struct exported_folder {
  std::string name;
  /// Size of its files, excluding links.
  uint64_t bytes = 0;
};

/// Writes all trained networks of a run in float16, each with a card that
/// reports the training's log. Networks with an unfinished training are
/// skipped. A model that import_run put into the run is skipped if the folder
/// already has one of that name.
/// Errors: ec::not_found (no autoencoder, no denoiser), and those of
///         export_model. Networks written before the error stay.
/// Threads: any.
core::result<std::vector<exported_folder>> export_run(const run_export& what);

} // namespace atelier::gpu
