// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http::detail {

/// How a job's pictures stand in a reply.
enum class picture_form : uint8_t { none, url, b64_json };

/// Where its pictures are: those of the job's own routes.
std::string picture_url(std::string_view base, const job_view& x,
                        uint32_t index);

/// Without pictures and preview.
reply_json job_json(const job_view& x);

/// The text of an object, as GET /v1/jobs/{id} answers.
std::string job_text(const job_view& x, picture_form how, std::string_view base,
                     bool with_preview);

/// One picture of it, as an object.
/// @pre it is there
std::string picture_text(const job_view& x, uint32_t index, picture_form how,
                         std::string_view base);

} // namespace atelier::runtime::http::detail
