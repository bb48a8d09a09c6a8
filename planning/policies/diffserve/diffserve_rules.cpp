// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/diffserve/diffserve.hpp>

namespace atelier::planning {

std::vector<diffserve_rules> all_diffserve_rules() {
  diffserve_rules ours;
  diffserve_rules paper;
  paper.name = "diffserve-paper";
  paper.quality_cap = paper.bypass = paper.light_fallback = false;
  paper.settles = false;
  paper.worker_queues = true;
  paper.provisioning = diffserve::over_provisioning;
  return {ours, paper};
}

} // namespace atelier::planning
