// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::config {

/// Returns whether a kind of device or a host's extension can have this name:
/// 1..64 of the characters a-z, A-Z, 0-9, _, - and .
bool is_kind_name(std::string_view x);

/// Returns the kind of a device: the kind that it names, otherwise the part of
/// its name before the colon.
std::string device_kind(const device_settings& x);

/// Returns the index of the first device of a kind that names a profile, which
/// holds for all devices of the kind; nothing if none names one.
std::optional<size_t> device_with_profile(const settings& x,
                                          std::string_view kind);

} // namespace atelier::config
