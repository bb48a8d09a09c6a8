// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/free_memory.hpp>
#include <atelier/runtime/cli/system_facts.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the value after "key:" in a file of such lines.
std::string value_in(const fs::path& file, std::string_view key) {
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key))
      continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

std::optional<uint64_t> meminfo(std::string_view key) {
  std::istringstream in{value_in("/proc/meminfo", key)};
  uint64_t kib = 0;
  if (in >> kib)
    return kib * 1024;
  return std::nullopt;
}

/// Reads a control group's number; absent for "max".
std::optional<uint64_t> group_number(const fs::path& file) {
  std::ifstream in{file};
  uint64_t value = 0;
  if (in >> value)
    return value;
  return std::nullopt;
}

std::optional<double> core_quota() {
  std::ifstream in{"/sys/fs/cgroup/cpu.max"};
  double quota = 0;
  double period = 0;
  if (in >> quota >> period && period > 0)
    return quota / period;
  return std::nullopt;
}

uint32_t usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<uint32_t>(CPU_COUNT(&set));
  return static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::optional<uint64_t> soft_limit(__rlimit_resource what) {
  rlimit limit{};
  if (getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

std::vector<std::string> nvidia_devices() {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator folders{"/proc/driver/nvidia/gpus", error};
  if (error)
    return names;
  for (const auto& folder : folders)
    names.push_back(value_in(folder.path() / "information", "Model"));
  return names;
}

void look_at_data(system_facts& x) {
  std::error_code error;
  x.data_exists = fs::is_directory(x.data, error);
  auto there = x.data;
  while (!fs::exists(there, error) && there.has_relative_path())
    there = there.has_parent_path() ? there.parent_path() : fs::path{"."};
  x.data_writable = access(there.c_str(), W_OK | X_OK) == 0;

  struct statvfs room {};

  if (statvfs(there.c_str(), &room) == 0)
    x.data_free_bytes = uint64_t{room.f_bavail} * room.f_frsize;
}

} // namespace

system_facts look_around(const fs::path& data) {
  system_facts x;
  x.cpu = value_in("/proc/cpuinfo", "model name");
  x.cores = usable_cores();
  x.instruction_sets = core::available_instruction_sets();
  x.core_quota = core_quota();
  x.memory_bytes = meminfo("MemTotal");
  x.memory_available_bytes = meminfo("MemAvailable");
  x.memory_limit_bytes = group_number("/sys/fs/cgroup/memory.max");
  x.memory_free_bytes = ipc::free_memory();
  x.open_files = soft_limit(RLIMIT_NOFILE);
  x.locked_bytes = soft_limit(RLIMIT_MEMLOCK);
  x.file_bytes = soft_limit(RLIMIT_FSIZE);
  x.gpus = nvidia_devices();
  x.data = data;
  if (!data.empty())
    look_at_data(x);
  return x;
}

} // namespace atelier::runtime::cli
