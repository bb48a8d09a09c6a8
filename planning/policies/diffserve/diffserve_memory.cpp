// SPDX-License-Identifier: Apache-2.0

// Plan files keep no fields of diffserve's memory, only that it exists.

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/diffserve/diffserve.hpp>
#include <atelier/planning/policies/diffserve/diffserve_memory.hpp>

namespace atelier::planning {

std::string_view diffserve_policy::memory_name() const {
  return diffserve_memory::name;
}

policy_memory diffserve_policy::kept(const policy_memory&) const {
  return diffserve_memory{};
}

core::result<policy_memory> diffserve_policy::restore(
  const saved_memory& from) const {
  if (auto ok = detail::expect_nothing(from); !ok)
    return ok.why();
  return policy_memory{diffserve_memory{}};
}

plan_reasons diffserve_policy::explain(const plan& made) const {
  const auto* memory = made.memory.as<diffserve_memory>();
  plan_reasons out;
  if (memory == nullptr)
    return out;
  const auto& thresholds = made.thresholds;
  if (!thresholds.empty())
    out.objective = thresholds.front();
  if (memory->decided)
    out.lines.push_back(fmt::format(
      "deferred share {:.3f}, threshold {:.3f}", memory->decided->deferred,
      thresholds.empty() ? 0.0 : thresholds.front()));
  return out;
}

} // namespace atelier::planning
