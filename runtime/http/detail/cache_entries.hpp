// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/result.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/detail/replies.hpp>
#include <atelier/runtime/http/exchange.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace atelier::runtime::http::detail {

/// Reads the page of entries that a call's query names: limit, after and key.
/// Errors: ec::invalid_argument with the field, the value and the range.
core::result<cache_query> read_cache_query(const request_message& asked);

/// Returns the names of keys by their tenants, with "" for clients without a
/// key.
std::map<std::string, std::string> names_by_tenant(
  const std::vector<std::string>& names);

/// Returns a page as a list.
/// @param has_more there are entries after these
reply_json cache_entries_json(const std::vector<cache_entry>& entries,
                              bool has_more,
                              const std::map<std::string, std::string>& names,
                              std::chrono::system_clock::time_point now);

} // namespace atelier::runtime::http::detail
