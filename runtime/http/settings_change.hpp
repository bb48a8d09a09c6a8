// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::http {

/// A setting whose value differs in a newly read configuration.
struct setting_change {
  /// For example "http.body_mib", or a section if it has more or fewer tables.
  std::string key;
  /// The old value, as TOML.
  std::string before;
  std::string after;
  /// Whether a running server can apply it; otherwise it takes effect at a
  /// restart.
  bool applies = false;

  friend bool operator==(const setting_change&,
                         const setting_change&) = default;
};

/// Returns the differences between `before` and `after`, in the order of the
/// file. A running server applies the log level and, in [http], limits, times,
/// origins, proxies, and the files of keys and certificates, as long as both or
/// neither configuration names one: the start decides which clients are served
/// at which address.
std::vector<setting_change> changes_between(const config::settings& before,
                                            const config::settings& after);

/// Returns `before` with the applicable changes of `after`.
config::settings with_applied(const config::settings& before,
                              const config::settings& after);

} // namespace atelier::runtime::http
