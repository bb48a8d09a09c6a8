// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>

#include <memory>

namespace atelier::gpu::detail {

/// Checks that a network can be built from a part, without reading its numbers:
/// its configuration is supported and it has exactly the required tensors.
/// Errors: ec::bad_config (file and key), ec::bad_payload (file and the first
///         tensor, with the count of the others).
core::result<void> check_network(const component& x);

/// Loads a text encoder's vocabulary and checks that the encoder has a vector
/// for each of its ids. If `encoder` is null, nothing is compared.
/// Errors: those of tokenizer::load and read_clip_text_config;
///         ec::bad_payload.
core::result<std::shared_ptr<const tokenizer>> load_words(
  const tokenizer_files& from, const component* encoder);

} // namespace atelier::gpu::detail
