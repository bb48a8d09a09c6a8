// SPDX-License-Identifier: Apache-2.0
#include <process/process_table.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace atelier::test {

namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  // Unlike the buffer's iterator, this never throws if the process has ended.
  const std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

size_t count_entries(const char* folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator{folder}, {}));
}

} // namespace

std::vector<pid_t> engine_processes_of(pid_t parent) {
  const auto mark = "--parent=" + std::to_string(parent) + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    // The file of an ended process reads as empty.
    if (read_all(entry.path() / "cmdline").find(mark) != std::string::npos)
      found.push_back(static_cast<pid_t>(std::stoi(name)));
  }
  return found;
}

bool is_alive(pid_t pid) {
  const auto text = read_all("/proc/" + std::to_string(pid) + "/stat");
  const auto end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size()
      && text[end + 2] != 'Z' && text[end + 2] != 'X';
}

size_t count_threads() {
  return count_entries("/proc/self/task");
}

size_t count_descriptors() {
  return count_entries("/proc/self/fd");
}

size_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace atelier::test
