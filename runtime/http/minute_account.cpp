// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/minute_account.hpp>

#include <algorithm>

namespace atelier::runtime::http {

core::timespan minute_account::wait(double amount, double most,
                                    core::time_point now) {
  const double per_second = most / 60;
  if (now > since_) {
    used_ = std::max(0.0, used_ - core::to_seconds(now - since_) * per_second);
    since_ = now;
  }
  // The sum of many small parts may slightly exceed the whole.
  constexpr double rounding = 1e-9;
  const auto lacking = used_ + amount - most;
  if (lacking <= rounding * most)
    return {};
  return core::from_seconds(lacking / per_second) + core::timespan{1};
}

void minute_account::give_back(double amount) {
  used_ = std::max(0.0, used_ - amount);
}

} // namespace atelier::runtime::http
