// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace atelier::runtime::http::detail {

/// Returns the id by which clients and operators refer to a request: the
/// client's own x-request-id if it has 1..128 visible ASCII characters,
/// otherwise "req_" and 32 random hexadecimal digits.
/// @param draw returns random bits; empty: zeros
std::string request_id_of(const fields& headers,
                          const std::function<uint64_t()>& draw);

} // namespace atelier::runtime::http::detail
