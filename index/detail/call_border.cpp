// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/detail/call_border.hpp>

#include <exception>

namespace atelier::index::detail {

bool ends_well(std::string_view of, const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const std::exception& e) {
    core::log_error("cache: a call of its thread for {} failed: {}", of,
                    e.what());
  } catch (...) {
    core::log_error("cache: a call of its thread for {} failed", of);
  }
  return false;
}

} // namespace atelier::index::detail
