// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/config/schema.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/runtime/host_extensions.hpp>
#include <atelier/runtime/host_policy.hpp>
#include <atelier/runtime/host_stages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace atelier::runtime {

namespace {

/// Returns the fault of the i-th executor; empty if it has none.
std::string fault_of(const std::vector<host_executor>& all, size_t i) {
  const auto& x = all[i];
  if (!config::is_kind_name(x.name))
    return fmt::format("its name '{}' is not 1..64 of the characters a-z, A-Z, "
                       "0-9, ., _ and -",
                       x.name);
  const bool built_in =
    std::ranges::find(config::executors, x.name) != std::end(config::executors);
  const auto first = std::ranges::find(all, x.name, &host_executor::name);
  if (built_in || first != all.begin() + static_cast<std::ptrdiff_t>(i))
    return fmt::format("executor '{}' already exists", x.name);
  if (!x.make)
    return fmt::format("executor '{}' has no factory", x.name);
  return {};
}

} // namespace

bool host_extensions::is_called_by_actors() const {
  return !stages.empty() || !policies.empty() || !executors.empty() || cache;
}

std::vector<std::string> host_extensions::executor_names() const {
  std::vector<std::string> out;
  for (const auto& x : executors)
    out.push_back(x.name);
  return out;
}

core::result<host_extensions> admit(const extensions& own) {
  std::string faults;
  const auto complain = [&](std::string_view what) {
    faults += fmt::format("{}{}", faults.empty() ? "" : "\n", what);
  };
  host_extensions out;
  if (auto stages = host_stages(own.stages))
    out.stages = std::move(*stages);
  else
    complain(stages.why().text);
  if (auto policies = host_policies(own.policies, out.plans))
    out.policies = std::move(*policies);
  else
    complain(policies.why().text);
  for (size_t i = 0; i < own.executors.size(); ++i)
    if (const auto fault = fault_of(own.executors, i); !fault.empty())
      complain(fmt::format("extensions::executors[{}]: {}", i, fault));
  out.executors = own.executors;
  for (size_t i = 0; i < own.families.size(); ++i)
    if (const auto added = gpu::add_family(own.families[i]); !added)
      complain(
        fmt::format("extensions::families[{}]: {}", i, added.why().text));
  out.families = !own.families.empty();
  out.cache = own.cache;
  if (!faults.empty())
    return core::fail(core::ec::bad_config, "{}", faults);
  return out;
}

std::string needs_own_program(const host_extensions& own) {
  const auto elsewhere = std::ranges::find_if(own.stages, [](const auto& x) {
    return x.stage->row().place != planning::place::background;
  });
  if (elsewhere != own.stages.end())
    return fmt::format("the stage '{}'", elsewhere->stage->row().name);
  if (!own.executors.empty())
    return fmt::format("the executor '{}'", own.executors.front().name);
  return own.families ? "families of models" : "";
}

} // namespace atelier::runtime
