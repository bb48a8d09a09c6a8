// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/load.hpp>

#include <boost/test/unit_test.hpp>

#include <ostream>

namespace atelier::config {

inline std::ostream& operator<<(std::ostream& out, const fault& x) {
  return out << to_string(x);
}

/// Checks that there are no faults, and shows them otherwise.
inline bool is_valid(const outcome& x) {
  for (const auto& f : x.faults)
    BOOST_ERROR(to_string(f));
  return static_cast<bool>(x);
}

} // namespace atelier::config
