// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/time.hpp>

namespace atelier::runtime::http {

/// What was used of an amount per minute. The amount may be used in one burst,
/// and what was used returns evenly within a minute. Pure.
class minute_account {
public:
  /// Returns how long to wait until `amount` fits; zero if it does.
  /// @param most the amount per minute, which may differ from call to call:
  /// what
  ///        was used stays used
  /// @pre amount <= most
  core::timespan wait(double amount, double most, core::time_point now);

  void use(double amount) {
    used_ += amount;
  }

  void give_back(double amount);

private:
  double used_ = 0;
  core::time_point since_{};
};

} // namespace atelier::runtime::http
