// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/core/tenant.hpp>

#include <cstddef>

namespace atelier::core {

tenant_id tenant_of(std::string_view name) {
  if (name.empty())
    return {};
  const auto digest = sha256(std::as_bytes(std::span{name}));
  return *tenant_in(std::span{digest}.first(sizeof(tenant_bytes)));
}

tenant_bytes bytes_of(tenant_id x) {
  tenant_bytes out{};
  for (size_t i = 0; i < 8; ++i) {
    const auto shift = 56 - 8 * i;
    out[i] = static_cast<uint8_t>(x.high >> shift);
    out[8 + i] = static_cast<uint8_t>(x.low >> shift);
  }
  return out;
}

std::optional<tenant_id> tenant_in(std::span<const uint8_t> bytes) {
  if (bytes.size() != sizeof(tenant_bytes))
    return std::nullopt;
  tenant_id out;
  for (size_t i = 0; i < 8; ++i) {
    out.high = out.high << 8 | bytes[i];
    out.low = out.low << 8 | bytes[8 + i];
  }
  return out;
}

std::string digits_of(tenant_id x) {
  return x == tenant_id{} ? std::string{} : to_hex(bytes_of(x));
}

} // namespace atelier::core
