// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime {

/// Returns the digest (gpu::content_digest) of each model of the settings, by
/// its place. It is empty if no device draws the model with LibTorch.
/// Errors: those of gpu::open_model and gpu::content_digest, with the model's
///         name.
core::result<std::vector<std::string>> digests_of_models(
  const config::settings& x);

/// Returns a digest of the sources of this build that decide the pixels of an
/// image: of the folder gpu, of the noise, and of the scaling of sources.
std::string_view drawing_sources();

/// Returns 64 characters that differ if one run of a server may not use the
/// work of another. They differ if the variants or their order, the content of
/// a hosted model's files, the name of an executor, or the sources that draw
/// differ.
/// @param digests those of digests_of_models
std::string kept_scope(const config::settings& x,
                       std::span<const std::string> digests,
                       std::string_view sources = drawing_sources());

} // namespace atelier::runtime
