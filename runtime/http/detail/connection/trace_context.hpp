// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/exchange.hpp>

#include <cstdint>
#include <string>

namespace atelier::runtime::http::detail {

/// Returns the traceparent of a span of this server's in the trace that a
/// request's head names; empty where it names none, several or a faulty one.
/// Source: W3C Trace Context, sections 3.2 and 4.3.
/// @param span random bits: its number, unless they are 0
std::string own_span(const fields& headers, uint64_t span);

} // namespace atelier::runtime::http::detail
