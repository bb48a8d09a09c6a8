// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/core_set.hpp>
#include <atelier/runtime/split/core_affinity.hpp>

#include <fmt/ranges.h>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace atelier::runtime {

namespace {

static_assert(config::most_cores <= CPU_SETSIZE);

std::vector<uint32_t> cores_there() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<uint32_t> all;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return all;
  for (uint32_t i = 0; i < config::most_cores; ++i)
    if (CPU_ISSET(i, &set))
      all.push_back(i);
  return all;
}

} // namespace

core::result<void> check_cores(const config::settings& x) {
  std::string faults;
  const auto there = cores_there();
  const auto check = [&](const std::string& key, std::string_view text) {
    if (text.empty())
      return;
    for (const auto core :
         config::parse_core_set(text).value_or(std::vector<uint32_t>{})) {
      if (std::find(there.begin(), there.end(), core) != there.end())
        continue;
      faults += fmt::format("{}{}: core {} not found (available: {})",
                            faults.empty() ? "" : "\n", key, core,
                            fmt::join(there, ","));
      return;
    }
  };
  check("processes.cpu_cores", x.processes.cpu_cores);
  for (size_t i = 0; i < x.devices.size(); ++i)
    check(fmt::format("devices[{}].cores", i), x.devices[i].cores);
  if (faults.empty())
    return {};
  return core::fail(core::ec::bad_config, "{}", faults);
}

std::string_view cores_of(const config::settings& x, std::string_view part) {
  if (part == "cpu")
    return x.processes.cpu_cores;
  for (const auto& device : x.devices)
    if (device.name == part)
      return device.cores;
  return {};
}

core::result<void> run_on(std::string_view cores) {
  if (cores.empty())
    return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const auto core :
       config::parse_core_set(cores).value_or(std::vector<uint32_t>{}))
    CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0)
    return {};
  return core::fail(core::ec::bad_config, "cores {}: {}", cores,
                    std::strerror(errno));
}

} // namespace atelier::runtime
