// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::config {

/// Whether a kind of device, or what a host adds, can be called so: 1..64 of
/// the characters a-z, A-Z, 0-9, _, - and .
bool is_kind_name(std::string_view x);

/// Returns the kind of a device: as it is called, else what stands before the
/// colon in the device's name.
std::string device_kind(const device_settings& x);

/// Returns the index of the first device of a kind that names a profile, which
/// holds for all of them; nothing where none does.
std::optional<size_t> device_with_profile(const settings& x,
                                          std::string_view kind);

} // namespace atelier::config
