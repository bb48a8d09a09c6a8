// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/core/log.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/runtime/instruction_set.hpp>

#include <fmt/ranges.h>

#include <mutex>

namespace atelier::runtime {

core::result<core::instruction_set> instruction_set_of(
  const config::settings& x, std::span<const core::instruction_set> available) {
  const auto named = core::parse_instruction_set(x.processes.instruction_set);
  if (!named)
    return available.back();
  if (auto ok = core::check_available(*named, available); !ok)
    return core::fail(ok.why().code, "processes.instruction_set: {}",
                      ok.why().text);
  return *named;
}

core::result<instruction_set_hold> use_instruction_set(
  const config::settings& x) {
  struct last_hold {
    std::mutex mutex;
    std::weak_ptr<const core::instruction_set> set;
  };

  // Never destroyed: engines start and end while the process exits.
  static auto& last = *new last_hold;
  const auto& available = core::available_instruction_sets();
  const auto wanted = instruction_set_of(x, available);
  if (!wanted)
    return wanted.why();
  const std::lock_guard guard{last.mutex};
  auto hold = last.set.lock();
  const bool any = !core::parse_instruction_set(x.processes.instruction_set);
  // Weights are arranged for the code that reads them.
  if (hold && !any && *hold != *wanted)
    return core::fail(core::ec::bad_config,
                      "processes.instruction_set: {} is not {}, which another "
                      "engine of this process uses",
                      core::to_string(*wanted), core::to_string(*hold));
  if (!hold) {
    if (auto limited = core::limit_instruction_set(*wanted); !limited)
      return limited.why();
    hold = std::make_shared<const core::instruction_set>(*wanted);
    last.set = hold;
  }
  std::vector<std::string_view> names;
  for (const auto one : available)
    names.push_back(core::to_string(one));
  core::log_info("instruction set {} (available: {})",
                 core::to_string(core::instruction_set_in_use()),
                 fmt::join(names, ", "));
  return hold;
}

std::string other_measurement(
  std::string_view where, const std::optional<core::instruction_set>& measured,
  core::instruction_set in_use) {
  if (!measured || *measured == in_use)
    return {};
  return fmt::format("{}: its times were measured with the instruction set {}, "
                     "and {} is in use",
                     where, core::to_string(*measured),
                     core::to_string(in_use));
}

std::vector<std::string> other_measurements(const config::settings& x,
                                            const planning::profile& known,
                                            core::instruction_set in_use) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view where, const auto& measured) {
    if (auto text = other_measurement(where, measured, in_use); !text.empty())
      out.push_back(std::move(text));
  };
  if (!x.planner.profile.empty())
    add("planner.profile: " + x.planner.profile, known.measured_with);
  for (size_t i = 0; i < x.devices.size(); ++i) {
    const auto kind = config::device_kind(x.devices[i]);
    // Devices of one kind have one profile.
    if (config::device_with_profile(x, kind) != i)
      continue;
    if (const auto* of = planning::find_kind(known, kind))
      add(fmt::format("devices[{}].profile: {}", i, x.devices[i].profile),
          of->measured_with);
  }
  return out;
}

} // namespace atelier::runtime
