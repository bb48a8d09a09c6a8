// SPDX-License-Identifier: Apache-2.0
#include "process/engine_fixture.hpp"
#include "support/each_instruction_set.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using test::mode;

/// Receives the lines of an engine's log.
struct heard_log {
  std::mutex mutex;
  std::vector<std::string> lines;

  bool has(std::string_view part) {
    const std::lock_guard guard{mutex};
    return std::ranges::any_of(lines, [&](const std::string& x) {
      return x.find(part) != std::string::npos;
    });
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(engine_instruction_set_test)

BOOST_AUTO_TEST_CASE(the_log_of_a_limited_engine_names_the_set_in_use) {
  const auto fastest = core::instruction_set_in_use();
  // Its end removes the limit.
  const test::limited_instructions before{fastest};
  heard_log heard;
  auto options =
    test::options_of(mode::single, {"processes.instruction_set=\"portable\"",
                                    "log.level=\"info\""});
  options.log = [&](std::string_view, std::string_view text) {
    const std::lock_guard guard{heard.mutex};
    heard.lines.emplace_back(text);
  };
  auto sut = test::start(options);
  BOOST_TEST(
    (core::instruction_set_in_use() == core::instruction_set::portable));
  sut.reset();
  BOOST_TEST(heard.has("instruction set portable (available: portable"));
  // The next engine decides anew.
  const auto next = test::start(mode::single);
  BOOST_TEST((core::instruction_set_in_use() == fastest));
}

BOOST_AUTO_TEST_CASE(an_unknown_set_is_refused_with_the_known_ones) {
  const auto started = engine::start(
    test::options_of(mode::single, {"processes.instruction_set=\"avx3\""}));
  BOOST_REQUIRE(std::holds_alternative<failure>(started));
  const auto& why = std::get<failure>(started);
  BOOST_TEST(why.code == "bad_config");
  for (const auto* part : {"processes.instruction_set", "avx3", "portable",
                           "avx2", "avx512", "avx512_bf16"})
    BOOST_TEST(why.text.find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
