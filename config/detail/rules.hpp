// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::config::detail {

/// A rule that settings break.
struct finding {
  /// The keys that the rule is about, the one to change first.
  std::vector<std::string> keys;
  std::string text;
};

/// Checks every option by itself, then the rules between options.
/// @param executors what devices[].executor may be
std::vector<finding> check(const settings& x,
                           std::span<const std::string_view> executors);

} // namespace atelier::config::detail
