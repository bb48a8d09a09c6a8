// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/memory_kills.hpp>

#include <charconv>
#include <fstream>
#include <sstream>
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

/// Returns what the file contains. A process may end between the opening and
/// the reading of its files, which is an error of the stream then and no
/// exception.
std::optional<std::string> read(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return std::nullopt;
  return std::move(text).str();
}

/// Returns the files of a process's control groups that may contain the count,
/// the narrowest first.
std::vector<std::string> candidates(const std::string& root,
                                    const std::string& process) {
  std::vector<std::string> out;
  const auto groups = read(root + "/proc/" + process + "/cgroup").value_or("");
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
  return out;
}

std::optional<uint64_t> count_in(const std::string& file) {
  const auto text = read(file);
  return text ? parse_memory_kills(*text) : std::nullopt;
}

/// Returns the first file that contains a count; empty if none does.
std::string first_counting(const std::vector<std::string>& files) {
  for (const auto& x : files)
    if (count_in(x))
      return x;
  return {};
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

memory_kills::memory_kills(std::string root) : root_(std::move(root)) {
  auto files = candidates(root_, "self");
  files.push_back(root_ + "/proc/vmstat");
  file_ = first_counting(files);
  has_risen(file_);
}

std::string memory_kills::other_group(int of) const {
  auto file = first_counting(candidates(root_, std::to_string(of)));
  return file == file_ ? std::string{} : file;
}

bool memory_kills::has_risen(const std::string& file) {
  const auto now = count_in(file);
  if (!now)
    return false;
  return *now > std::exchange(seen_[file], *now);
}

bool memory_kills::more(const std::string& group) {
  std::erase_if(seen_, [this](const auto& x) {
    return x.first != file_ && !count_in(x.first);
  });
  const bool own = has_risen(file_);
  return has_risen(group) || own;
}

} // namespace atelier::runtime
