// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/packaged_program.hpp>
#include <atelier/runtime/split/process_spawner.hpp>

#include <unistd.h>

#include <filesystem>
#include <vector>

namespace atelier::runtime {

namespace {

const char* told_program = "";

} // namespace

bool tell_packaged_program(const char* path) noexcept {
  told_program = path;
  return true;
}

const char* packaged_program() noexcept {
  return told_program;
}

core::result<std::string> find_process_program(const std::string& configured) {
  namespace fs = std::filesystem;
  const auto usable = [](const fs::path& x) {
    std::error_code ignored;
    return fs::is_regular_file(x, ignored) && access(x.c_str(), X_OK) == 0;
  };
  if (!configured.empty()) {
    if (!usable(configured))
      return core::fail(core::ec::not_found,
                        "processes.program '{}' is no program that can be run",
                        configured);
    return configured;
  }
  std::error_code ignored;
  const auto self = fs::read_symlink("/proc/self/exe", ignored);
  std::vector<fs::path> places{self.parent_path().parent_path()
                               / "libexec/atelier/atelier-process"};
  if (*told_program != '\0')
    places.emplace_back(told_program);
  places.push_back(fs::path{ATELIER_LIBEXEC_DIR} / "atelier-process");
  for (const auto& x : places)
    if (usable(x))
      return x.string();
  std::string tried;
  for (const auto& x : places)
    tried += (tried.empty() ? "" : ", ") + x.string();
  return core::fail(core::ec::not_found,
                    "the program of the other processes is at none of {}; "
                    "processes.program names it",
                    tried);
}

} // namespace atelier::runtime
