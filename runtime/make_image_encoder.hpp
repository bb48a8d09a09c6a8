// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/image_encoder.hpp>
#include <atelier/index/text_encoder.hpp>

#include <memory>

namespace atelier::runtime {

/// Opens the encoder of images that goes with the settings' encoder of texts:
/// the image tower of the CLIP folder in `cache.encoder`. Returns null if the
/// cache compares prompts.
/// @param texts the result of make_text_encoder
/// Errors: ec::bad_config if the folder has no image tower, or one whose
///         vectors have another length than those of texts; ec::not_found if it
///         is not built in; those of gpu::load_image_embedder; the text names
///         the options.
core::result<std::shared_ptr<const index::image_encoder>> make_image_encoder(
  const config::settings& settings, const index::text_encoder& texts);

} // namespace atelier::runtime
