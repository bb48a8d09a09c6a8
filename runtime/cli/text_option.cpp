// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/text_option.hpp>

namespace atelier::runtime::cli {

CLI::Option* add_text_option(CLI::App& app, const std::string& names,
                             std::optional<std::string>& value,
                             const std::string& text) {
  const auto take = [&value](const CLI::results_t& given) {
    value = given.front();
    return true;
  };
  return app.add_option(names, take, text)->expected(1);
}

CLI::Option* add_repeated_option(CLI::App& app, const std::string& names,
                                 std::vector<std::string>& values,
                                 const std::string& text) {
  const auto take = [&values](const CLI::results_t& given) {
    values = given;
    return true;
  };
  return app.add_option(names, take, text)
    ->expected(1)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

} // namespace atelier::runtime::cli
