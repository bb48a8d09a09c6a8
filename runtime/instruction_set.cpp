// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/runtime/instruction_set.hpp>

#include <fmt/ranges.h>

#include <mutex>
#include <string_view>
#include <vector>

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

} // namespace atelier::runtime
