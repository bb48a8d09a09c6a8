// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/free_memory.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace atelier::ipc {

namespace {

/// Returns the number behind a word in a file of such lines.
std::optional<uint64_t> number_at(const std::string& file,
                                  std::string_view word) {
  std::ifstream in{file};
  for (std::string key; in >> key;) {
    uint64_t value = 0;
    if (key == word && in >> value)
      return value;
    std::string rest;
    std::getline(in, rest);
  }
  return std::nullopt;
}

/// Returns the number in a file; absent for "max".
std::optional<uint64_t> number_in(const std::string& file) {
  std::ifstream in{file};
  uint64_t value = 0;
  if (in >> value)
    return value;
  return std::nullopt;
}

/// What a version of control groups names its files and counts.
struct group_names {
  const char* limit;
  const char* used;
  const char* files;
  const char* shared;
};

constexpr group_names second_version{"/memory.max", "/memory.current", "file",
                                     "shmem"};
constexpr group_names first_version{"/memory.limit_in_bytes",
                                    "/memory.usage_in_bytes", "total_cache",
                                    "total_shmem"};

/// Returns what one control group grants; absent if it has no limit.
std::optional<uint64_t> free_in(const std::string& group,
                                const group_names& names) {
  const auto most = number_in(group + names.limit);
  const auto now = number_in(group + names.used);
  if (!most || !now)
    return std::nullopt;
  // The kernel drops copies of files when it needs room.
  const auto stat = group + "/memory.stat";
  const auto files = number_at(stat, names.files).value_or(0);
  const auto kept = std::min(number_at(stat, names.shared).value_or(0), files);
  const auto used = *now - std::min(*now, files - kept);
  return *most - std::min(*most, used);
}

/// Lowers `least` to what a group and those around it grant. In a container the
/// nearest one that is visible may be the root.
void lower_by_groups(std::optional<uint64_t>& least, const std::string& top,
                     std::string group, const group_names& names) {
  if (group == "/")
    group.clear();
  for (;;) {
    if (const auto free = free_in(top + group, names))
      least = std::min(least.value_or(*free), *free);
    if (group.empty())
      return;
    group.erase(group.rfind('/'));
  }
}

/// Returns the number behind a word in the machine's own file, in bytes.
std::optional<uint64_t> bytes_at(const std::string& root,
                                 std::string_view word) {
  auto kib = number_at(root + "/proc/meminfo", word);
  if (kib)
    *kib *= 1024;
  return kib;
}

/// Returns `least`, or what this process's groups grant if that is less.
std::optional<uint64_t> within_groups(std::optional<uint64_t> least,
                                      const std::string& root) {
  const auto groups = root + "/sys/fs/cgroup";
  std::ifstream in{root + "/proc/self/cgroup"};
  for (std::string line; std::getline(in, line);) {
    const auto path = line.find('/');
    if (path == std::string::npos)
      continue;
    if (line.starts_with("0::"))
      lower_by_groups(least, groups, line.substr(path), second_version);
    else if (line.find(":memory:") != std::string::npos)
      lower_by_groups(least, groups + "/memory", line.substr(path),
                      first_version);
  }
  return least;
}

} // namespace

std::optional<uint64_t> free_memory(const std::string& root) {
  auto least = bytes_at(root, "MemAvailable:");
  if (least)
    *least += bytes_at(root, "SwapFree:").value_or(0);
  return within_groups(least, root);
}

std::optional<uint64_t> free_ram(const std::string& root) {
  return within_groups(bytes_at(root, "MemAvailable:"), root);
}

} // namespace atelier::ipc
