// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/account.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

void account::begin(std::vector<core::note> notes) {
  notes_ = std::move(notes);
}

void account::note(std::span<const core::note> what) {
  for (const auto& x : what)
    if (notes_.size() < core::most_notes
        && std::find(notes_.begin(), notes_.end(), x) == notes_.end())
      notes_.push_back(x);
}

void account::waited(core::timespan took) {
  took_.queue += took;
}

void account::asked(const planning::need& wanted, core::timespan took) {
  if (wanted.near || wanted.hit_likely)
    took_.retrieve += took;
  else if (wanted.tolerated)
    took_.classify += took;
}

void account::staged(core::phase at, core::timespan took) {
  if (at == core::phase::finishing)
    took_.postprocess += took;
  else
    took_.preprocess += took;
}

void account::drew(const denoised& x, core::time_point arrived) {
  took_.text += x.text + x.encode;
  took_.denoise += x.denoise;
  took_.decode += x.decode;
  if (took_.first_step.count() == 0 && x.first_step_ns != 0)
    took_.first_step =
      core::time_point{core::timespan{x.first_step_ns}} - arrived;
}

void account::ran(uint32_t steps) {
  steps_run_ += steps;
}

void account::reused(std::optional<reused_work> what) {
  reused_ = std::move(what);
}

bool account::note_hit() {
  return !std::exchange(hit_counted_, true);
}

void account::close(answer& into, core::time_point arrived,
                    core::time_point now) const {
  into.steps_run = steps_run_;
  into.took = took_;
  into.took.total = now - arrived;
}

void account::close_with_image(answer& into, core::time_point arrived,
                               core::time_point now) {
  close(into, arrived, now);
  into.reused = reused_;
  into.notes = std::exchange(notes_, {});
}

} // namespace atelier::actors
