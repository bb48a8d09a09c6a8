// SPDX-License-Identifier: Apache-2.0

// Plan files keep no fields of modm's memory, only that it exists.

#include <atelier/planning/detail/plan_fields.hpp>
#include <atelier/planning/plan_file.hpp>
#include <atelier/planning/policies/modm/modm.hpp>
#include <atelier/planning/policies/modm/modm_memory.hpp>

namespace atelier::planning {

std::string_view modm_policy::memory_name() const {
  return modm_memory::name;
}

policy_memory modm_policy::kept(const policy_memory&) const {
  return modm_memory{};
}

core::result<policy_memory> modm_policy::restore(
  const saved_memory& from) const {
  if (auto ok = detail::expect_nothing(from); !ok)
    return ok.why();
  return policy_memory{modm_memory{}};
}

} // namespace atelier::planning
