// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <string>

namespace atelier::runtime {

/// Returns 64 characters that differ where the work of one run of a server may
/// not be used by another: where the variants are others or in another order, a
/// hosted model's files have another name, size or date, an executor has
/// another name, or the program another version. Weights are not read.
/// Errors: those of gpu::open_model; ec::io_failed where a file of a model is
///         gone.
core::result<std::string> kept_scope(const config::settings& x);

} // namespace atelier::runtime
