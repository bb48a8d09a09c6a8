// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace atelier::gpu {

/// The exported models that a run begins with.
struct run_import {
  /// The folder of the models, as export_run writes it.
  std::filesystem::path from;
  /// The folder of the trainings.
  std::filesystem::path run;
};

/// Puts exported models into a run as if they had been trained there, so that
/// other networks can learn from them: the autoencoder, its preview, the text
/// encoder, and the denoisers and judges that `from` has. Parts already trained
/// in the run stay. Returns the names of the added parts.
/// Errors: ec::not_found (no model base in `from`), ec::bad_payload (a file),
///         ec::io_failed. Files written before the error stay.
/// Threads: any.
core::result<std::vector<std::string>> import_run(const run_import& what);

} // namespace atelier::gpu
