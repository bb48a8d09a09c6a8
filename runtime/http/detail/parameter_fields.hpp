// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/limits.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <type_traits>

namespace atelier::runtime::http::detail {

/// Reads a parameter's value from the field `name`, as the public interface
/// holds it; none where it is left out, or refused.
template <class Member>
auto read_parameter(field_reader& r, const core::parameter& x, const Member&,
                    std::string_view name, double least,
                    const core::limits& within) {
  using type = typename Member::type;
  if constexpr (std::is_enum_v<type>) {
    return r.choice(name, core::names_of<type>());
  } else if constexpr (std::is_same_v<type, bool>) {
    return r.flag(name);
  } else if constexpr (std::is_same_v<type, float>) {
    const auto value = r.real(name, least, core::most_of(x, within));
    return value ? std::optional{static_cast<float>(*value)} : std::nullopt;
  } else {
    const auto value = r.whole(name, static_cast<int64_t>(least),
                               static_cast<int64_t>(core::most_of(x, within)));
    return value ? std::optional{static_cast<type>(*value)} : std::nullopt;
  }
}

} // namespace atelier::runtime::http::detail
