// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/progress_line.hpp>
#include <atelier/runtime/cli/refusal.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace atelier;
using namespace atelier::runtime::cli;
using namespace std::chrono_literals;

namespace {

struct fixture {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const progress_line::time_point start{};

  console of(uint32_t columns) {
    return {in, out, err, columns};
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(progress_line_test, fixture)

BOOST_AUTO_TEST_CASE(a_log_gets_a_line_now_and_then) {
  const auto log = of(0);
  {
    progress_line sut{log, start};
    sut.show("1 of 9", start);
    sut.show("2 of 9", start + 29s);
    sut.show("3 of 9", start + 30s);
    sut.keep("a figure");
    sut.show("4 of 9", start + 59s);
    sut.show("5 of 9", start + 60s);
  }
  BOOST_TEST(err.str() == "3 of 9\na figure\n5 of 9\n");
  BOOST_TEST(out.str() == "");
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_one_line_that_is_cleared_at_the_end) {
  const auto terminal = of(6);
  {
    progress_line sut{terminal};
    sut.show("1 of 9", start);
    sut.show("2", start);
    sut.keep("a longer figure");
    sut.show("3", start);
  }
  BOOST_TEST(err.str() == "1 of \r\033[K2\r\033[Ka longer figure\n3\r\033[K");
}

BOOST_AUTO_TEST_CASE(work_that_tells_nothing_leaves_nothing) {
  const auto terminal = of(80);
  { const progress_line sut{terminal}; }
  BOOST_TEST(err.str() == "");
}

BOOST_AUTO_TEST_CASE(a_refusal_tells_people_and_the_shell) {
  const auto log = of(0);
  BOOST_TEST((refuse(log, core::fail(core::ec::invalid_argument, "no {}", 1))
              == exit_status::bad_input));
  BOOST_TEST((refuse(log, core::fail(core::ec::not_found, "none"))
              == exit_status::not_there));
  BOOST_TEST((refuse(log, core::fail(core::ec::cancelled, "ended"))
              == exit_status::interrupted));
  BOOST_TEST((refuse(log, core::fail(core::ec::io_failed, "disk"))
              == exit_status::failed));
  BOOST_TEST(
    err.str()
    == "atelier: no 1\natelier: none\natelier: ended\natelier: disk\n");
}

BOOST_AUTO_TEST_SUITE_END()
