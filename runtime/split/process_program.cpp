// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/program_folder.hpp>
#include <atelier/runtime/split/packaged_program.hpp>
#include <atelier/runtime/split/process_spawner.hpp>

#include <unistd.h>

#include <filesystem>

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
  if (configured.empty()) {
    auto found = find_program("atelier-process");
    if (!found)
      return core::fail(found.why().code,
                        "the program of the other processes is {}; "
                        "processes.program names it",
                        found.why().text);
    return found;
  }
  std::error_code ignored;
  if (!fs::is_regular_file(configured, ignored)
      || access(configured.c_str(), X_OK) != 0)
    return core::fail(core::ec::not_found,
                      "processes.program '{}' is not a program that can be run",
                      configured);
  // The host may change its folder before the next start.
  return fs::absolute(configured, ignored).string();
}

} // namespace atelier::runtime
