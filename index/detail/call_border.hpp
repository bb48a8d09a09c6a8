// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace atelier::index::detail {

/// Makes a call on a thread of the server, on which an exception would end the
/// process. Logs an exception instead. Returns whether there was none.
/// @param of the thread, for the log
bool ends_well(std::string_view of, const std::function<void()>& call);

} // namespace atelier::index::detail
