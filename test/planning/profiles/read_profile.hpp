// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile_file.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace atelier::test {

/// Returns a profile of the examples or, if no example has that name, one in
/// the folder of this file.
inline planning::profile read_profile(std::string_view name) {
  std::filesystem::path file;
  for (const std::filesystem::path folder :
       {ATELIER_EXAMPLE_PROFILES, ATELIER_TEST_PROFILES}) {
    file = folder / (std::string{name} + ".json");
    if (std::filesystem::exists(file))
      break;
  }
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  auto p = planning::parse_profile(text.str(), file.string());
  BOOST_REQUIRE_MESSAGE(static_cast<bool>(p),
                        file << ": " << (p ? "" : p.why().text));
  return std::move(*p);
}

} // namespace atelier::test
