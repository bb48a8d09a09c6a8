// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/http/detail/connection/open_files.hpp>

#include <sys/resource.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

uint32_t connections_within(uint32_t wanted, uint64_t open_files) {
  // Logs, databases, shared memory, and a few for each process.
  constexpr uint64_t others = 256;
  const auto most = open_files - std::min(others, open_files / 2);
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, most));
}

config::http_settings within_open_files(config::http_settings x) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
    return x;
  const auto most = connections_within(x.connections, files.rlim_cur);
  if (most < x.connections)
    core::log_warn("http.connections is lowered from {} to {}: the limit of "
                   "open files is {} (ulimit -n)",
                   x.connections, most, files.rlim_cur);
  x.connections = most;
  return x;
}

} // namespace atelier::runtime::http::detail
