// SPDX-License-Identifier: Apache-2.0
#include "process/engine_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <sched.h>

namespace {

using namespace atelier;
using test::mode;

/// Returns the number of cores that a process may run on.
int cores_of(pid_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  BOOST_REQUIRE(sched_getaffinity(pid, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

/// Returns a core of this machine.
size_t any_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  BOOST_REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  size_t core = 0;
  while (!CPU_ISSET(core, &set))
    ++core;
  return core;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_cores_test)

BOOST_AUTO_TEST_CASE(a_process_runs_on_its_cores) {
  const auto core = std::to_string(any_core());
  const auto sut =
    test::start(mode::split, {"processes.cpu_cores=\"" + core + "\"",
                              "devices[0].cores=\"" + core + "\""});
  BOOST_TEST(cores_of(test::pid_of(*sut, "cpu")) == 1);
  BOOST_TEST(cores_of(test::pid_of(*sut, "cpu:0")) == 1);
  generation wanted;
  wanted.prompt = "a red circle";
  auto running = test::hand_in(*sut, wanted);
  test::image_in(test::await(running));
}

BOOST_AUTO_TEST_CASE(cores_that_are_not_there_are_all_told_at_the_start) {
  const auto started = engine::start(
    test::options_of(mode::split, {"processes.cpu_cores=\"1022\"",
                                   "devices[0].cores=\"0,1023\""}));
  BOOST_REQUIRE(std::holds_alternative<failure>(started));
  const auto& why = std::get<failure>(started);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(why.text.find("processes.cpu_cores: core 1022")
             != std::string::npos);
  BOOST_TEST(why.text.find("devices[0].cores: core 1023") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
