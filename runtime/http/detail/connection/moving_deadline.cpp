// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/moving_deadline.hpp>

namespace atelier::runtime::http::detail {

bool moving_deadline::set(core::time_point due) {
  due_ = due;
  if (due_ >= timer_at_)
    return false;
  timer_at_ = due_;
  return true;
}

moving_deadline::woken moving_deadline::wake(core::time_point now) {
  timer_at_ = core::never;
  if (due_ == core::never)
    return woken::idle;
  if (now >= due_)
    return woken::due;
  timer_at_ = due_;
  return woken::early;
}

} // namespace atelier::runtime::http::detail
