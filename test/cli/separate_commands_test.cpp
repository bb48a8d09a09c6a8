// SPDX-License-Identifier: Apache-2.0
#include "fake_service.hpp"
#include <atelier/runtime/cli/arguments.hpp>
#include <atelier/runtime/cli/environment.hpp>
#include <atelier/runtime/cli/separate_commands.hpp>
#include <atelier/runtime/cli/simulate.hpp>
#include <atelier/runtime/cli/train.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;

BOOST_AUTO_TEST_SUITE(separate_commands_test)

// The program of this test has no separate programs beside it.
BOOST_AUTO_TEST_CASE(a_missing_program_is_told_with_the_places_looked_at) {
  test::fake_interruption interrupted;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  environment world{{in, out, err, 0}, interrupted, {}, "1.2.3", {}};
  const auto separate = handed_over({"train", "tiny"});
  BOOST_TEST((separate.train({}, {}, world) == exit_status::not_there));
  BOOST_TEST(err.str().starts_with("atelier: the program of this command, "
                                   "atelier-training, is not at any of /"),
             err.str());
  BOOST_TEST(err.str().find("/libexec/atelier/atelier-training")
             != std::string::npos);
  err.str("");
  BOOST_TEST((separate.reproduce({}, {}, world) == exit_status::not_there));
  BOOST_TEST(err.str().find("/libexec/atelier/atelier-papers")
             != std::string::npos);
  err.str("");
  BOOST_TEST((separate.compare(world) == exit_status::not_there));
  BOOST_TEST(err.str().find("/libexec/atelier/atelier-papers")
             != std::string::npos);
  BOOST_TEST(out.str() == "");
}

BOOST_AUTO_TEST_SUITE_END()
