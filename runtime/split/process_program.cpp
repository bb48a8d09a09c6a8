// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include <unistd.h>

#include <atelier/runtime/split/process_spawner.hpp>

namespace atelier::runtime {

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
  const std::vector<fs::path> places{
    self.parent_path().parent_path() / "libexec/atelier/atelier-process",
    fs::path{ATELIER_LIBEXEC_DIR} / "atelier-process"};
  for (const auto& x : places)
    if (usable(x))
      return x.string();
  return core::fail(core::ec::not_found,
                    "the program of the other processes is neither {} nor {}; "
                    "processes.program names it",
                    places[0].string(), places[1].string());
}

} // namespace atelier::runtime
