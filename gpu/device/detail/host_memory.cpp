// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/host_memory.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> number_in(const fs::path& file) {
  std::ifstream in{file};
  uint64_t out = 0;
  return in >> out ? std::optional{out} : std::nullopt;
}

/// Returns the number after a word.
std::optional<uint64_t> number_after(const fs::path& file,
                                     std::string_view word) {
  std::ifstream in{file};
  for (std::string found; in >> found;) {
    uint64_t out = 0;
    if (found == word && in >> out)
      return out;
    in.clear();
  }
  return std::nullopt;
}

/// What a control group names its files.
struct group_names {
  const char* limit;
  const char* used;
  const char* inactive;
};

constexpr group_names second_version{"memory.max", "memory.current",
                                     "inactive_file"};
constexpr group_names first_version{
  "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

/// Returns what is left to one group; nothing if it has no limit.
std::optional<uint64_t> left_to(const fs::path& group,
                                const group_names& names) {
  const auto limit = number_in(group / names.limit);
  const auto used = number_in(group / names.used);
  if (!limit || !used)
    return std::nullopt;
  const auto inactive =
    number_after(group / "memory.stat", names.inactive).value_or(0);
  const auto kept = *used > inactive ? *used - inactive : 0;
  return *limit > kept ? *limit - kept : 0;
}

void lower(std::optional<uint64_t>& to, std::optional<uint64_t> x) {
  if (x)
    to = to ? std::min(*to, *x) : *x;
}

/// Lowers `to` to what is left to a group and to those above it.
void lower_by_groups(std::optional<uint64_t>& to, const fs::path& top,
                     fs::path group, const group_names& names) {
  lower(to, left_to(top, names));
  for (group = group.relative_path(); !group.empty();
       group = group.parent_path())
    lower(to, left_to(top / group, names));
}

} // namespace

std::optional<uint64_t> free_host_memory(const fs::path& root) {
  std::optional<uint64_t> out;
  if (const auto kib = number_after(root / "proc" / "meminfo", "MemAvailable:"))
    out = *kib << 10;
  const auto groups = root / "sys" / "fs" / "cgroup";
  std::ifstream in{root / "proc" / "self" / "cgroup"};
  for (std::string line; std::getline(in, line);) {
    const auto path = line.rfind(':');
    if (path == std::string::npos)
      continue;
    if (line.starts_with("0::"))
      lower_by_groups(out, groups, line.substr(path + 1), second_version);
    else if (line.find(":memory:") != std::string::npos)
      lower_by_groups(out, groups / "memory", line.substr(path + 1),
                      first_version);
  }
  return out;
}

} // namespace atelier::gpu::detail
