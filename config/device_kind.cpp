// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/variant_name.hpp>
#include <atelier/config/device_kind.hpp>

namespace atelier::config {

bool is_kind_name(std::string_view x) {
  return detail::is_name(x);
}

std::string device_kind(const device_settings& x) {
  return x.kind.empty() ? x.name.substr(0, x.name.find(':')) : x.kind;
}

std::optional<size_t> device_with_profile(const settings& x,
                                          std::string_view kind) {
  for (size_t i = 0; i < x.devices.size(); ++i)
    if (!x.devices[i].profile.empty() && device_kind(x.devices[i]) == kind)
      return i;
  return std::nullopt;
}

} // namespace atelier::config
