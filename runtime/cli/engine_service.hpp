// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/cli/service.hpp>

namespace atelier::runtime::cli {

/// Starts an engine in this process, as a service.
started_service start_engine_service(const engine_options& options);

} // namespace atelier::runtime::cli
