// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/messages.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/planning/pipeline.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace atelier::actors {

/// Maps each stage of a pipeline to the workers that run it and to the phase of
/// a request meanwhile. Immutable.
/// Threads: any.
class stage_path {
public:
  /// @pre one stage of each leg runs its steps
  explicit stage_path(std::shared_ptr<const planning::pipeline> stages);

  const planning::pipeline& stages() const {
    return *stages_;
  }

  size_t size() const {
    return at_.size();
  }

  const planning::any_stage& at(size_t stage) const {
    return stages_->at(stage);
  }

  /// Returns the workers that run a stage.
  role worker_of(size_t stage) const {
    return at_[stage].worker;
  }

  /// Whether workers of that role run one of the stages.
  bool has_stage_of(role workers) const;

  /// Returns the phase that is reported for a request at a stage.
  core::phase phase_of(size_t stage) const {
    return at_[stage].phase;
  }

  size_t denoise() const {
    return stages_->denoise();
  }

  /// Returns the first stage of a hook; if it has none, that of the next hook.
  size_t first(planning::hook of) const;

  /// Whether the stage exists and belongs to that hook.
  bool is(size_t stage, planning::hook of) const {
    return stage < size() && at(stage).row().hook == of;
  }

  /// Whether a stage looks for facts that no policy asked for.
  bool has_unasked_facts() const {
    return has_unasked_facts_;
  }

private:
  struct entry {
    role worker = role::preprocess;
    core::phase phase = core::phase::preparing;
  };

  std::shared_ptr<const planning::pipeline> stages_;
  std::vector<entry> at_;
  bool has_unasked_facts_ = false;
};

} // namespace atelier::actors
