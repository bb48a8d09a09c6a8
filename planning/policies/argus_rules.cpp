// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus.hpp>

namespace atelier::planning {

std::vector<argus_rules> all_argus_rules() {
  argus_rules ours;
  argus_rules paper;
  paper.name = "argus-paper";
  paper.allocate = argus_rules::allocation_rule::counts;
  paper.exact_shift = false;
  paper.worker_lanes = true;
  paper.wait = argus::wait_rule::queue_only;
  paper.backlog = false;
  paper.head_room = 1;
  paper.fresh = 0;
  argus_rules pac = paper;
  pac.name = "pac";
  pac.classifier = false;
  pac.any_worker = true;
  argus_rules proteus = pac;
  proteus.name = "proteus";
  proteus.latents = false;
  argus_rules sommelier = proteus;
  sommelier.name = "sommelier";
  sommelier.allocate = argus_rules::allocation_rule::alone;
  argus_rules heavy = proteus;
  heavy.name = "clipper-heavy";
  heavy.allocate = argus_rules::allocation_rule::first;
  heavy.any_worker = false;
  argus_rules light = heavy;
  light.name = "clipper-light";
  light.allocate = argus_rules::allocation_rule::last;
  return {ours, paper, pac, proteus, sommelier, heavy, light};
}

} // namespace atelier::planning
