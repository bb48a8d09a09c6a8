// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/tenant.hpp>

#include <algorithm>
#include <cstdint>

namespace atelier::core {

tenant_id tenant_of(std::string_view name) {
  if (name.empty())
    return {};
  // The hash is FNV-1a.
  uint32_t hash = 2166136261u;
  for (const char c : name)
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return tenant_id{std::max(hash, 1u)};
}

} // namespace atelier::core
