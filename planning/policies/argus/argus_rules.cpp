// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/argus.hpp>

namespace atelier::planning {

std::vector<argus_rules> all_argus_rules() {
  argus_rules ours;
  argus_rules paper;
  paper.name = "argus-paper";
  paper.allocate = argus_rules::allocation_rule::counts;
  paper.shift = argus_rules::shift_rule::published;
  paper.worker_queues = true;
  paper.wait = argus::wait_rule::queue_only;
  paper.settles = false;
  paper.backlog = false;
  paper.head_room = 1;
  paper.fresh = 0;
  return {ours, paper};
}

} // namespace atelier::planning
