// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace atelier::test {

/// Checks `done` until it holds or `limit` has passed; returns whether it held.
template <class Predicate>
bool eventually(Predicate done,
                std::chrono::milliseconds limit = std::chrono::seconds{30}) {
  constexpr auto pause = std::chrono::microseconds{200};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

/// Waits for `us`, the random moment of a death, or less if `over` becomes true
/// earlier.
template <class Predicate>
void come_to_moment(uint64_t us, Predicate over) {
  using clock = std::chrono::steady_clock;
  constexpr auto pause = std::chrono::microseconds{200};
  const auto end = clock::now() + std::chrono::microseconds{us};
  while (clock::now() < end && !over())
    std::this_thread::sleep_until(std::min(end, clock::now() + pause));
}

} // namespace atelier::test
