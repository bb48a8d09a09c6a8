// SPDX-License-Identifier: Apache-2.0
// A host's own executors under a running engine, in both modes.
#include <atelier/core/image/codec.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/host_code.hpp>
#include <process/process_table.hpp>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const auto executor_modes =
  boost::unit_test::data::make({mode::single, mode::split});

engine_options with_executor(mode how, const std::string& name) {
  auto options =
    test::options_of(how, {"processes.program='" + test::host_worker() + "'",
                           "devices=[{name='cpu:0',executor='" + name
                             + "',variants=['studio@4'],max_batch=1}]"});
  options.extend = test::worker_code();
  return options;
}

generation row_of(uint64_t seed) {
  generation x;
  x.prompt = "anything";
  x.width = x.height = 64;
  x.seed = seed;
  return x;
}

failure executor_refusal(const engine_options& options) {
  auto made = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(test::engine_processes_of(getpid()).empty());
  return std::get<failure>(made);
}

bool mentions(const failure& why, const std::string& part) {
  return why.text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_host_executor_test)

BOOST_DATA_TEST_CASE(it_draws, executor_modes, how) {
  auto sut = test::start(with_executor(how, "painter"));
  for (const auto& made :
       test::answers_to(*sut, {row_of(1), row_of(2), row_of(3)})) {
    const auto& got = test::image_in(made);
    BOOST_TEST(got.variant == "studio@4");
    BOOST_TEST(got.steps_run == 4u);
    const auto drawn = image::decode(got.bytes);
    BOOST_TEST_REQUIRE(drawn.operator bool());
    BOOST_TEST(std::ranges::all_of(
      drawn->bytes, [](uint8_t x) { return x == test::painter::colour; }));
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(what_it_throws_fails_one_row, executor_modes, how) {
  namespace painter = test::painter;
  auto sut = test::start(with_executor(how, "painter"));
  const std::pair<uint64_t, std::string> rows[] = {
    {painter::throws_in_open, "executor 'painter' threw in open: no paint"},
    {painter::throws_in_run, "executor 'painter' threw in run: no brush"},
    {painter::throws_in_decode,
     "executor 'painter' threw in decode: something that is not an exception"},
    {painter::forgets, "executor 'painter' said nothing of the row"},
  };
  std::vector<generation> all;
  for (const auto& [seed, told] : rows) {
    all.push_back(row_of(seed));
    all.push_back(row_of(seed + 100));
  }
  const auto answers = test::answers_to(*sut, all);
  for (size_t i = 0; i < std::size(rows); ++i) {
    const auto& got = answers[2 * i];
    BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got), rows[i].second);
    BOOST_TEST(std::get<failure>(got).code == "internal");
    BOOST_TEST(mentions(std::get<failure>(got), rows[i].second),
               std::get<failure>(got).text);
    BOOST_TEST(test::code_of(answers[2 * i + 1]) == "");
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  const auto s = sut->status();
  BOOST_TEST(s.figure("workers_lost") == 0u);
  for (const auto& x : s.processes)
    BOOST_TEST(x.restarts == 0u, x.role);
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(a_factory_that_throws_ends_the_start, executor_modes,
                     how) {
  const auto why = executor_refusal(with_executor(how, "broken"));
  BOOST_TEST(why.code == "internal");
  BOOST_TEST(mentions(why, "devices: cpu:0: executor 'broken' threw in its "
                           "factory: no studio"),
             why.text);
}

BOOST_AUTO_TEST_CASE(an_unknown_one_is_refused_with_the_known_ones) {
  const auto why = executor_refusal(with_executor(mode::single, "sculptor"));
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(
    mentions(why, "devices[0].executor: the text \"sculptor\" is not one of "
                  "\"auto\", \"test_card\", \"torch\", \"painter\", "
                  "\"broken\""),
    why.text);
}

BOOST_AUTO_TEST_CASE(a_program_without_it_ends_the_start) {
  auto options = with_executor(mode::split, "painter");
  options.extend.stages.clear();
  options.set.push_back("processes.program='" + test::process_program() + "'");
  const auto why = executor_refusal(options);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(mentions(why, "\"painter\" is not one of"), why.text);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_named_is_refused) {
  auto options = with_executor(mode::single, "painter");
  auto& own = options.extend.executors;
  own = {test::painting(),
         test::painting(),
         test::broken(),
         test::broken(),
         {"none", {}}};
  own[2].name = "torch";
  own[3].name = "with space";
  const auto why = executor_refusal(options);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(why.text
             == "extensions::executors[1]: executor 'painter' "
                "already exists\n"
                "extensions::executors[2]: executor 'torch' "
                "already exists\n"
                "extensions::executors[3]: its name 'with space' is not 1..64 "
                "of the characters a-z, A-Z, 0-9, ., _ and -\n"
                "extensions::executors[4]: executor 'none' has no factory");
  auto empty = with_executor(mode::single, "none");
  empty.extend.executors = {{"none", [](const executor_setup&) {
                               return std::shared_ptr<gpu::executor>{};
                             }}};
  const auto null = executor_refusal(empty);
  BOOST_TEST(mentions(null, "executor 'none': its factory made none"),
             null.text);
}

BOOST_AUTO_TEST_CASE(it_needs_variants_by_name) {
  auto options = with_executor(mode::single, "painter");
  options.set.emplace_back("devices[0].variants=[]");
  BOOST_TEST(mentions(executor_refusal(options), "names no variants"));
}

BOOST_AUTO_TEST_SUITE_END()
