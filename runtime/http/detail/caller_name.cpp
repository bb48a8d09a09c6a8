// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/caller_name.hpp>
#include <atelier/runtime/http/detail/connection/peer_table.hpp>

namespace atelier::runtime::http::detail {

std::string caller_name(const request_message& asked) {
  return asked.key.empty() ? peer_table::network_of(asked.client)
                           : "key " + asked.key;
}

} // namespace atelier::runtime::http::detail
