// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <vector>

namespace atelier::runtime::http::detail {

reply_json a1111_samplers();

/// Returns the spacings of steps: the sampler's own, even, and Karras.
reply_json a1111_schedulers();

/// Returns each model, then each variant under its own name. File names are not
/// disclosed.
reply_json a1111_models(const std::vector<variant_status>& known);

/// Returns only "None": images are not upscaled.
reply_json a1111_upscalers();

/// Returns the RAM of this machine and of this process. GPU memory is unknown
/// here.
reply_json a1111_memory();

/// Returns the generation parameters that an image's file contains.
reply_json a1111_png_info(const std::vector<uint8_t>& file);

} // namespace atelier::runtime::http::detail
