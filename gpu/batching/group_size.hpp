// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu {

/// How many places of a pass fit a device's memory, as learnt from passes of
/// one model and shape. A pass that does not fit halves the number; after
/// `patience` passes that left out rows, one row more is tried. Each try that
/// fails doubles the wait until the next. Pure.
/// Threads: one at a time.
class group_size {
public:
  /// Passes that left out rows, until the first try of one row more.
  static constexpr uint64_t patience = 64;

  /// Returns the places that a pass may have; 0: no limit is known.
  uint64_t most() const {
    return most_;
  }

  /// Notes that a pass of that many places fitted.
  /// @param left_out the places of the first row that the number left out; 0:
  ///        the pass had all rows
  void fitted(uint64_t places, uint64_t left_out = 0);

  /// Notes that a pass of that many places did not fit.
  void failed(uint64_t places);

private:
  uint64_t most_ = 0;
  /// The greatest number that fitted since the last failure without a try.
  uint64_t known_ = 0;
  /// Whether `most_` is a try, above what is known to fit.
  bool trying_ = false;
  uint64_t wait_ = patience;
  uint64_t waited_ = 0;
};

} // namespace atelier::gpu
