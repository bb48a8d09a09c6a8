// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <optional>
#include <string_view>

namespace atelier::runtime::http::detail {

/// The job that a caller means: that of the name, or without one its newest
/// open job of the web UI's API, before all one that runs.
std::optional<job_view> find_a1111_job(const jobs& all,
                                       const request_message& asked,
                                       std::string_view id);

/// As GET /sdapi/v1/progress answers.
reply_json progress_json(const std::optional<job_view>& v, bool with_image);

/// As POST /internal/progress answers a front end.
/// @param seen number of the preview that the caller has; -1: none
reply_json task_progress_json(const std::optional<job_view>& v, bool ended,
                              int64_t seen, bool with_image);

} // namespace atelier::runtime::http::detail
