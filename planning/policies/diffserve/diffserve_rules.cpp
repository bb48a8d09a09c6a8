// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/diffserve.hpp>

namespace atelier::planning {

std::vector<diffserve_rules> all_diffserve_rules() {
  using rule = diffserve_rules::allocation_rule;
  diffserve_rules ours;
  diffserve_rules paper;
  paper.name = "diffserve-paper";
  paper.quality_cap = paper.bypass = paper.light_fallback = false;
  paper.worker_lanes = true;
  paper.provisioning = diffserve::over_provisioning;
  diffserve_rules fixed = paper;
  fixed.name = "diffserve-static";
  fixed.allocate = rule::once;
  diffserve_rules drawn = paper;
  drawn.name = "diffserve-proteus";
  drawn.allocate = rule::random;
  diffserve_rules random = paper;
  random.name = "random-cascade";
  random.judge = random_judge;
  diffserve_rules score = paper;
  score.name = "score-cascade";
  score.judge = "pickscore";
  diffserve_rules clip = score;
  clip.name = "clip-cascade";
  clip.judge = "clipscore";
  diffserve_rules plain = paper;
  plain.name = "no-queueing";
  plain.queueing = diffserve_rules::queueing_rule::doubled;
  diffserve_rules waitless = paper;
  waitless.name = "no-waits";
  waitless.queueing = diffserve_rules::queueing_rule::ignored;
  diffserve_rules trial = paper;
  trial.name = "aimd";
  trial.trial_batches = true;
  diffserve_rules peak = paper;
  peak.name = "diffserve-peak";
  peak.allocate = rule::once_for_peak;
  diffserve_rules threshold = paper;
  threshold.name = "static-threshold";
  threshold.allocate = rule::fixed_threshold;
  diffserve_rules light = trial;
  light.name = "light-aimd";
  light.allocate = rule::all_light;
  diffserve_rules heavy = trial;
  heavy.name = "heavy-aimd";
  heavy.allocate = rule::all_heavy;
  std::vector<diffserve_rules> all{ours,     paper, fixed, peak,      drawn,
                                   random,   score, clip,  threshold, plain,
                                   waitless, trial, light, heavy};
  for (diffserve_rules& r : all)
    // Batches found by trial are occasionally too large for a period, and the
    // workers must follow them.
    r.settles = r.name != paper.name && !r.trial_batches;
  return all;
}

} // namespace atelier::planning
