// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <vector>

namespace atelier::runtime::http::detail {

reply_json a1111_samplers();

/// How steps are spaced: as the sampler's own, evenly, or as Karras does.
reply_json a1111_schedulers();

/// Each model, then each variant under its own name. Nobody's files are told.
reply_json a1111_models(const std::vector<variant_status>& known);

/// "None" alone: pictures are not upscaled.
reply_json a1111_upscalers();

/// RAM of this machine and of this process; what a GPU has is not known here.
reply_json a1111_memory();

/// What an image's file tells of how it was made.
reply_json a1111_png_info(const std::vector<uint8_t>& file);

} // namespace atelier::runtime::http::detail
