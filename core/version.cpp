// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>

namespace atelier::core {

std::string_view version() {
  return ATELIER_VERSION;
}

bool is_quick_build() {
  return ATELIER_QUICK_BUILD;
}

} // namespace atelier::core
