// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/recent_images.hpp>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http {

namespace {

constexpr size_t most_kept = 4096;
constexpr core::timespan kept_for = std::chrono::minutes{10};

} // namespace

recent_images::recent_images(std::function<core::time_point()> clock)
  : clock_(std::move(clock)) {}

void recent_images::note(const generated_image& x) {
  const auto now = clock_();
  const std::lock_guard guard{mutex_};
  kept_.push_back({now, x.variant, x.route, x.took.total});
  forget_old(now);
}

std::vector<recent_image> recent_images::all() const {
  const auto now = clock_();
  const std::lock_guard guard{mutex_};
  const auto first =
    std::find_if(kept_.begin(), kept_.end(),
                 [&](const auto& x) { return now - x.time <= kept_for; });
  return {first, kept_.end()};
}

void recent_images::forget_old(core::time_point now) {
  while (kept_.size() > most_kept || now - kept_.front().time > kept_for)
    kept_.pop_front();
}

} // namespace atelier::runtime::http
