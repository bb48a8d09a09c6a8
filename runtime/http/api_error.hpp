// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/exchange.hpp>
#include <atelier/runtime/http/route_table.hpp>

#include <string>
#include <string_view>

namespace atelier::runtime::http {

/// Returns the status of a failure's code: one for each core::ec; 500 for what
/// is none.
unsigned status_of(std::string_view code);

/// Whether clients may read the texts of errors of that code: whether they
/// speak of what a client sent.
bool is_told(std::string_view code);

/// A reply that says why not, in the words of the API. Adds Retry-After where
/// the failure carries a time; texts of codes that only operators can act on
/// stay in the log, with a number to find them by.
/// @param param the field that is wrong, where one is
reply_message error_reply(error_shape how, const failure& why,
                          std::string_view param = {});

/// Likewise with a status and code of the protocol: 404, 405, 413, ...
reply_message error_reply(error_shape how, unsigned status,
                          std::string_view code, std::string_view text,
                          std::string_view param = {});

} // namespace atelier::runtime::http
