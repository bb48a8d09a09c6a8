// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace atelier::runtime::http::detail {

/// Returns the name by which a client and an operator speak of a request: the
/// client's own x-request-id where the head has one of 1..128 visible ASCII
/// characters, else a new one, "req_" and 32 hexadecimal digits.
/// @param draw random bits; empty: zeros
std::string request_id_of(const fields& headers,
                          const std::function<uint64_t()>& draw);

} // namespace atelier::runtime::http::detail
