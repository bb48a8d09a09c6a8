// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/process_spawner.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using runtime::find_process_program;

BOOST_AUTO_TEST_SUITE(process_program_test)

BOOST_AUTO_TEST_CASE(a_named_program_is_taken) {
  const auto x = find_process_program("/bin/sh");
  BOOST_TEST_REQUIRE(x.operator bool());
  BOOST_TEST(*x == "/bin/sh");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_told_with_its_option) {
  for (const auto* bad : {"/no/such/program", "/etc/passwd", "/tmp"}) {
    const auto x = find_process_program(bad);
    BOOST_TEST(!x, bad);
    if (!x) {
      BOOST_TEST((x.why().code == core::ec::not_found));
      BOOST_TEST(x.why().text
                 == "processes.program '" + std::string{bad}
                      + "' is not a program that can be run");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
