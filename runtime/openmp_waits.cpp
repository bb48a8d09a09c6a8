// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/openmp_waits.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

extern char** environ;

namespace atelier::runtime {

namespace {

std::vector<std::string> texts_of(const char* const* environment) {
  std::vector<std::string> out;
  for (; environment && *environment; ++environment)
    out.emplace_back(*environment);
  return out;
}

bool choose_waits(const std::vector<std::string>& environment) {
  return std::ranges::any_of(environment, [](std::string_view variable) {
    return variable.starts_with("GOMP_SPINCOUNT=")
        || variable.starts_with("OMP_WAIT_POLICY=");
  });
}

} // namespace

std::vector<std::string> with_short_waits(const char* const* environment) {
  auto out = texts_of(environment);
  if (!choose_waits(out))
    out.emplace_back("GOMP_SPINCOUNT=1000");
  return out;
}

std::vector<char*> addresses_of(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& x : texts)
    out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

void restart_with_short_waits(char** arguments) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed || choose_waits(texts_of(environ)))
    return;
  auto wanted = with_short_waits(environ);
  execve(self.c_str(), arguments, addresses_of(wanted).data());
}

} // namespace atelier::runtime
