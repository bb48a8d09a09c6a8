// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/text_encoder.hpp>

#include <memory>

namespace atelier::runtime {

/// Opens the encoder that the settings name for the cache's searches, with its
/// memo: the text tower of a CLIP folder, or a sentence encoder; if they name
/// none, the encoder of words.
/// Errors: ec::not_found if it is not built in; those of
///         gpu::load_text_embedder; the text names the option.
core::result<std::shared_ptr<const index::text_encoder>> make_text_encoder(
  const config::settings& settings);

} // namespace atelier::runtime
