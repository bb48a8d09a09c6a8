// SPDX-License-Identifier: Apache-2.0
#include "printing.hpp"
#include <atelier/config/schema.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace atelier::config {

BOOST_AUTO_TEST_SUITE(example_file)

BOOST_AUTO_TEST_CASE(committed_example_shows_the_schema) {
  const std::string path = ATELIER_EXAMPLE_TOML;
  // To rewrite the file: ATELIER_WRITE_EXAMPLE=1 ctest -R '^config$'
  if (std::getenv("ATELIER_WRITE_EXAMPLE"))
    std::ofstream{path} << example_toml();
  std::ostringstream committed;
  committed << std::ifstream{path}.rdbuf();
  BOOST_CHECK_MESSAGE(committed.str() == example_toml(),
                      path << " is not what the schema says; write it anew "
                              "with ATELIER_WRITE_EXAMPLE=1 ctest -R "
                              "'^config$' in the build folder");
}

BOOST_AUTO_TEST_CASE(example_is_the_defaults) {
  const auto read = parse(example_toml(), "example");
  BOOST_REQUIRE(is_valid(read));
  BOOST_CHECK_EQUAL(to_toml(read.values), to_toml(settings{}));
}

BOOST_AUTO_TEST_CASE(example_shows_every_option_with_its_meaning) {
  const auto text = example_toml();
  for (const auto& x : options()) {
    BOOST_TEST_CONTEXT(key_of(x)) {
      // A list that is empty by default has its table in comments.
      const auto name = std::string{x.name} + " = ";
      BOOST_CHECK(text.find("\n" + name) != std::string::npos
                  || text.find("\n# " + name) != std::string::npos);
      BOOST_CHECK(x.doc.ends_with('.'));
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_stay_within_80_columns) {
  std::istringstream lines{example_toml()};
  for (std::string line; std::getline(lines, line);)
    BOOST_CHECK_LE(line.size(), 80);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
