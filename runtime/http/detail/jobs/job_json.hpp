// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// How a reply contains a job's images.
enum class image_form : uint8_t { none, url, b64_json };

/// Returns an image's URL, which is one of the job's own routes.
std::string image_url(std::string_view base, const job_view& x, uint32_t index);

/// Returns the job without images and preview.
reply_json job_json(const job_view& x);

/// Returns the text of the JSON object that GET /v1/jobs/{id} returns.
std::string job_text(const job_view& x, image_form how, std::string_view base,
                     bool with_preview);

/// Returns the text of a JSON object for one of the job's images.
/// @pre the job has this image
std::string image_text(const job_view& x, uint32_t index, image_form how,
                       std::string_view base);

} // namespace atelier::runtime::http::detail
