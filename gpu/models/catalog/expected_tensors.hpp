// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

/// Reads a part's configuration as its network does, and returns the tensors
/// that its weights must have. All names of a text encoder's tensors begin with
/// "text_model.", except the projection.
/// Errors: ec::bad_config: as parse_unet_config, read_autoencoder_config and
///         read_clip_text_config, or more than `most` tensors; the text names
///         the file, the key and the value.
/// Source: the modules of diffusers 0.42 models/unets/unet_2d_condition.py,
///         unet_2d_blocks.py, autoencoders/autoencoder_kl.py, vae.py and
///         autoencoder_tiny.py; transformers, models/clip/modeling_clip.py.
core::result<expected_tensors> expect_tensors(const component& x,
                                              size_t most = 50'000);

/// Compares a part's weights with its configuration. Returns a sentence for
/// each tensor that is missing, unexpected, or of another shape or type.
/// Errors: as expect_tensors.
core::result<std::vector<std::string>> compare_tensors(const component& x);

/// Checks that a network can be built from a part, without reading its numbers:
/// its configuration is supported and it has exactly the required tensors.
/// Errors: ec::bad_config (file and key), ec::bad_payload (file and the first
///         tensor, with the count of the others).
core::result<void> check_network(const component& x);

} // namespace atelier::gpu::detail
