// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>

#include <vector>

namespace atelier::gpu {

/// A variant that a device could not load.
struct load_failure {
  core::variant_id variant;
  core::error why;

  friend bool operator==(const load_failure&, const load_failure&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f,
                                                 load_failure& x) {
    return f(x.variant, x.why);
  }
};

/// The result of a loading.
struct load_report {
  /// Set if none of the variants were loaded for this reason; then `failed` is
  /// empty.
  core::error failure;
  /// The variants that were not loaded; all others were.
  std::vector<load_failure> failed = {};
};

} // namespace atelier::gpu
