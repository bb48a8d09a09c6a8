// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace atelier::core {

/// Stands in the text of an `unavailable` between a variant and why its files
/// cannot be loaded. Clients may read what is before it; what follows names
/// files.
inline constexpr std::string_view not_loaded = " cannot be loaded: ";

} // namespace atelier::core
