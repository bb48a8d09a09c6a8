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

/// Returns what one control group grants; absent if it has no limit.
std::optional<uint64_t> free_in(const std::string& group) {
  const auto most = number_in(group + "/memory.max");
  const auto now = number_in(group + "/memory.current");
  if (!most || !now)
    return std::nullopt;
  // The kernel drops copies of files when it needs room.
  const auto stat = group + "/memory.stat";
  const auto files = number_at(stat, "file").value_or(0);
  const auto kept = std::min(number_at(stat, "shmem").value_or(0), files);
  const auto used = *now - std::min(*now, files - kept);
  return *most - std::min(*most, used);
}

/// Returns this process's control group of version 2, as "/a/b"; empty for the
/// root.
std::string group_of(const std::string& root) {
  std::ifstream in{root + "/proc/self/cgroup"};
  constexpr std::string_view version_2 = "0::";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(version_2))
      return line == "0::/" ? "" : line.substr(version_2.size());
  return {};
}

} // namespace

std::optional<uint64_t> free_memory(const std::string& root) {
  const auto meminfo = root + "/proc/meminfo";
  auto least = number_at(meminfo, "MemAvailable:");
  if (least)
    *least = (*least + number_at(meminfo, "SwapFree:").value_or(0)) * 1024;
  // The limits of all groups around this one apply too. In a container the
  // nearest one that is visible may be the root.
  auto group = group_of(root);
  for (;;) {
    if (const auto free = free_in(root + "/sys/fs/cgroup" + group))
      least = std::min(least.value_or(*free), *free);
    if (group.empty())
      return least;
    group.erase(group.rfind('/'));
  }
}

} // namespace atelier::ipc
