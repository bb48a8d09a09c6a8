// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/jobs.hpp>

#include <optional>
#include <string>

namespace atelier::runtime::http::detail {

/// Reads the header Idempotency-Key into `into`. Returns the reply where the
/// key is too long.
std::optional<reply_message> read_idempotency_key(const request_message& asked,
                                                  error_shape how,
                                                  job_request& into);

/// Returns what the same call has again: a hash of its path and body. Forms are
/// compared by their parts, because clients draw a new boundary for each try.
std::string fingerprint_of(const request_message& asked);

/// The reply to a call that was not taken on.
reply_message refusal_reply(error_shape how, const failure& why);

} // namespace atelier::runtime::http::detail
