// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/delayed_link.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime {

delayed_link::delayed_link(std::shared_ptr<core::timers> timers,
                           link_script script)
  : timers_(std::move(timers)), script_(std::move(script)) {}

void delayed_link::post(std::function<void()> deliver) {
  if (!state_->open)
    return;
  const auto fate = script_ ? script_() : link_fate{};
  const auto now = timers_->now();
  last_ = std::max(last_, now + fate.delay);
  auto once = [at = state_, deliver = std::move(deliver)] {
    if (at->open)
      deliver();
  };
  if (fate.again.count() > 0)
    timers_->after(last_ + fate.again - now, once);
  timers_->after(last_ - now, std::move(once));
}

void delayed_link::after_all(core::timespan delay, std::function<void()> then) {
  const auto now = timers_->now();
  last_ = std::max(last_, now + delay);
  timers_->after(last_ - now, std::move(then));
}

void delayed_link::cut() {
  state_->open = false;
}

} // namespace atelier::runtime
