// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace atelier::test {

/// Look for `done` until it holds or `limit` has passed; return whether it
/// held.
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

} // namespace atelier::test
