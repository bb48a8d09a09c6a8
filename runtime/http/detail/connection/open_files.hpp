// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <cstdint>

namespace atelier::runtime::http::detail {

/// Returns how many of `wanted` connections fit into a limit of open files,
/// beside the files and the processes of the server.
uint32_t connections_within(uint32_t wanted, uint64_t open_files);

/// Returns the settings with no more connections than the system's limit of
/// open files allows, and warns if they are fewer. A server without a free
/// descriptor can neither refuse a connection nor start a process.
config::http_settings within_open_files(config::http_settings x);

} // namespace atelier::runtime::http::detail
