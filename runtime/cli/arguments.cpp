// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <cstdlib>
#include <system_error>

namespace atelier::runtime::cli {

namespace {

namespace fs = std::filesystem;
using core::ec;
using core::fail;

} // namespace

core::result<std::vector<std::string>> read_common(
  const common_arguments& arguments) {
  std::error_code error;
  if (arguments.config && !fs::exists(*arguments.config, error))
    return fail(ec::invalid_argument, "--config: {} was not found",
                show_value(*arguments.config));
  if (arguments.config && fs::is_directory(*arguments.config, error))
    return fail(ec::invalid_argument, "--config: {} is a folder, not a file",
                show_value(*arguments.config));
  if (arguments.data && fs::exists(*arguments.data, error)
      && !fs::is_directory(*arguments.data, error))
    return fail(ec::invalid_argument, "--data: {} is not a folder",
                show_value(*arguments.data));
  auto overrides = arguments.set;
  for (const auto& x : overrides)
    if (x.find('=') == std::string::npos || x.starts_with('='))
      return fail(ec::invalid_argument, "--set: {} is not key.path=value",
                  show_value(x));
  if (arguments.log) {
    if (auto ok = check_choice("--log", *arguments.log); !ok)
      return ok.why();
    overrides.push_back("log.level=\"" + *arguments.log + "\"");
  }
  return overrides;
}

std::optional<std::string> server_key(const std::optional<std::string>& given) {
  if (given)
    return given;
  const char* key = std::getenv("ATELIER_KEY");
  return key && *key ? std::optional<std::string>{key} : std::nullopt;
}

bool key_may_be_seen() {
  const char* said = std::getenv("ATELIER_INSECURE_KEY");
  return said != nullptr && std::string_view{said} == "1";
}

fs::path data_folder(const common_arguments& arguments) {
  if (arguments.data)
    return *arguments.data;
  // A relative value of the variable is to be ignored, says its specification.
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data == '/')
    return fs::path{data} / "atelier";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path{home} / ".local" / "share" / "atelier";
  return {};
}

} // namespace atelier::runtime::cli
