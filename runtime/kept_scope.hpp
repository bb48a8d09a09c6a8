// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <string>

namespace atelier::runtime {

/// Returns 64 characters that differ if one run of a server may not use the
/// work of another. They differ if the variants or their order, the names,
/// sizes or dates of a hosted model's files, the name of an executor, or the
/// version of the program differ. Weights are not read.
/// Errors: those of gpu::open_model; ec::io_failed if a file of a model is
///         gone.
core::result<std::string> kept_scope(const config::settings& x);

} // namespace atelier::runtime
