// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/batching/group_size.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

constexpr uint64_t longest_wait = uint64_t{1} << 20;

} // namespace

void group_size::fitted(uint64_t places, uint64_t left_out) {
  known_ = std::max(known_, places);
  if (most_ == 0 || left_out == 0)
    return;
  if (++waited_ < wait_)
    return;
  waited_ = 0;
  most_ = places + left_out;
  trying_ = true;
}

void group_size::failed(uint64_t places) {
  // A try of one row more ends where it began.
  if (trying_ && places > known_) {
    wait_ = std::min(2 * wait_, longest_wait);
    most_ = known_;
  } else {
    most_ = std::max<uint64_t>(places / 2, 1);
    known_ = 0;
  }
  trying_ = false;
  waited_ = 0;
}

} // namespace atelier::gpu
