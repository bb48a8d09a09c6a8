// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/memory_kills.hpp>

#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace atelier::runtime {

namespace {

/// Calls f with each line.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    f(text.substr(0, end));
    text =
      end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

std::optional<std::string> read(const std::string& path) {
  std::ifstream in{path};
  if (!in)
    return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{in}, {}};
}

/// Returns the files that may contain the count, the narrowest first.
std::vector<std::string> candidates(const std::string& root) {
  std::vector<std::string> out;
  const auto groups = read(root + "/proc/self/cgroup").value_or("");
  each_line(groups, [&](std::string_view line) {
    // "0::/path" of version 2, "9:memory:/path" of version 1.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos)
      return;
    const auto of = line.substr(first + 1, second - first - 1);
    std::string path{line.substr(second + 1)};
    if (path == "/")
      path.clear();
    if (of.empty())
      out.push_back(root + "/sys/fs/cgroup" + path + "/memory.events");
    else if (of == "memory")
      out.push_back(root + "/sys/fs/cgroup/memory" + path
                    + "/memory.oom_control");
  });
  out.push_back(root + "/proc/vmstat");
  return out;
}

} // namespace

std::optional<uint64_t> parse_memory_kills(std::string_view text) {
  constexpr std::string_view key = "oom_kill ";
  std::optional<uint64_t> found;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with(key))
      return;
    line.remove_prefix(key.size());
    uint64_t n = 0;
    const auto end = line.data() + line.size();
    if (const auto read = std::from_chars(line.data(), end, n);
        read.ec == std::errc{} && read.ptr == end)
      found = n;
  });
  return found;
}

memory_kills::memory_kills(std::string root) {
  for (auto& path : candidates(root))
    if (const auto text = read(path); text && parse_memory_kills(*text)) {
      file_ = std::move(path);
      break;
    }
  seen_ = count().value_or(0);
}

std::optional<uint64_t> memory_kills::count() const {
  if (file_.empty())
    return std::nullopt;
  const auto text = read(file_);
  return text ? parse_memory_kills(*text) : std::nullopt;
}

bool memory_kills::more() {
  const auto now = count();
  return now && *now > std::exchange(seen_, *now);
}

} // namespace atelier::runtime
