// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>

#include <string>
#include <vector>

namespace atelier::runtime::http {

/// A setting that a newly read configuration has otherwise.
struct setting_change {
  /// As "http.body_mib", or a section where it has more or fewer tables.
  std::string key;
  /// As TOML.
  std::string before;
  std::string after;
  /// Whether a running server can take it over; else it waits for a restart.
  bool applies = false;

  friend bool operator==(const setting_change&,
                         const setting_change&) = default;
};

/// Returns what `after` has otherwise than `before`, in the order of the file.
/// A running server takes over the level of the log and, of [http], limits,
/// times, origins, and the files of keys and certificates, as long as both or
/// neither name one: who is served at which address is decided at the start.
std::vector<setting_change> changes_between(const config::settings& before,
                                            const config::settings& after);

/// Returns `before` with what applies of `after`.
config::settings with_applied(const config::settings& before,
                              const config::settings& after);

} // namespace atelier::runtime::http
