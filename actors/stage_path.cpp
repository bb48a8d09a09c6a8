// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stage_path.hpp>
#include <atelier/core/result.hpp>

#include <algorithm>
#include <utility>

namespace atelier::actors {

namespace {

using planning::hook;
using planning::place;

role worker_for(const planning::stage_row& row, bool after_steps) {
  if (row.place == place::batch)
    return role::denoise_step;
  if (row.place == place::device)
    return role::device_stage;
  if (row.place == place::background)
    return role::recall;
  if (row.hook == hook::before_route)
    return role::classifier;
  return after_steps ? role::postprocess : role::preprocess;
}

} // namespace

stage_path::stage_path(std::shared_ptr<const planning::pipeline> stages)
  : stages_(std::move(stages)) {
  ATELIER_EXPECTS(stages_ && stages_->denoise() < stages_->size(),
                  "a pipeline has a stage that runs the steps");
  for (size_t i = 0; i < stages_->size(); ++i) {
    entry x;
    x.worker = worker_for(stages_->at(i).row(), i > stages_->denoise());
    x.phase = i < stages_->denoise()  ? core::phase::preparing
            : i == stages_->denoise() ? core::phase::denoising
                                      : core::phase::finishing;
    at_.push_back(x);
    const auto& row = stages_->at(i).row();
    has_unasked_facts_ =
      has_unasked_facts_ || (row.hook == hook::before_route && !row.on_demand);
  }
}

bool stage_path::has_stage_of(role workers) const {
  return std::any_of(at_.begin(), at_.end(),
                     [&](const entry& x) { return x.worker == workers; });
}

size_t stage_path::first(hook of) const {
  size_t i = 0;
  while (i < size() && at(i).row().hook < of)
    ++i;
  return i;
}

} // namespace atelier::actors
