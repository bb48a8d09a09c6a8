// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// Returns the HTTP status of a failure's code: one for each core::ec; 500 for
/// any other code.
unsigned status_of(std::string_view code);

/// The text of a failure, `unavailable`, before the engine has started.
inline constexpr std::string_view starting_text =
  "the server is starting: its models load";

/// Returns the failure of a call that only a started engine can answer.
/// Retry-After is a second.
failure starting_failure();

/// Returns whether clients may read the text of a failure, because it describes
/// what a client sent, or that the server is starting or stopping.
bool is_told(const failure& why);

/// Returns what clients may read of a failure: its text, or, if only operators
/// can act on it, which variant cannot be loaded, or the code.
/// @param number the number by which the log names it, if the reply has one
std::string public_text(const failure& why,
                        std::optional<uint64_t> number = std::nullopt);

/// Returns a reply with the reason for a failure, in the format of the API.
/// Adds Retry-After if the failure carries a time, and "x-should-retry: false"
/// if the same request would fail again. Texts of codes that only
/// operators can act on stay in the log; the reply has a number to find them
/// by.
/// @param param the field that is wrong, if any
reply_message error_reply(error_shape how, const failure& why,
                          std::string_view param = {});

/// Returns such a reply for a status and code of the protocol: 404, 405, 413,
/// ...
reply_message error_reply(error_shape how, unsigned status,
                          std::string_view code, std::string_view text,
                          std::string_view param = {});

/// Adds Retry-After, in whole seconds.
void add_retry_after(reply_message& to, std::chrono::nanoseconds wait);

} // namespace atelier::runtime::http
