// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/argus/argus.hpp>

namespace atelier::planning {

std::vector<argus_rules> all_argus_rules() {
  argus_rules ours;
  argus_rules paper;
  paper.name = "argus-paper";
  paper.allocate = argus_rules::allocation_rule::counts;
  paper.shift = argus_rules::shift_rule::published;
  paper.worker_lanes = true;
  paper.wait = argus::wait_rule::queue_only;
  paper.backlog = false;
  paper.head_room = 1;
  paper.fresh = 0;
  argus_rules pac = paper;
  pac.name = "pac";
  pac.shift = argus_rules::shift_rule::by_load;
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
  argus_rules unpredicted = paper;
  unpredicted.name = "argus-no-classifier";
  unpredicted.shift = argus_rules::shift_rule::by_load;
  argus_rules unshifted = paper;
  unshifted.name = "argus-no-shift";
  unshifted.shift = argus_rules::shift_rule::none;
  argus_rules unchanged = paper;
  unchanged.name = "argus-no-switch";
  unchanged.changes = false;
  std::vector<argus_rules> all{ours,  paper, pac,         proteus,   sommelier,
                               heavy, light, unpredicted, unshifted, unchanged};
  for (argus_rules& r : all)
    r.settles = r.name != paper.name;
  return all;
}

} // namespace atelier::planning
