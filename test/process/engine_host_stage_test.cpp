// SPDX-License-Identifier: Apache-2.0

// A host's own stages on the path of a running engine's requests, in the host's
// process and in its worker program.

#include <atelier/core/image/codec.hpp>
#include <atelier/planning/stage.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/host_code.hpp>
#include <process/process_table.hpp>
#include <support/eventually.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace atelier;
using namespace std::chrono_literals;
using planning::place;
using test::mode;

namespace {

const auto stage_modes =
  boost::unit_test::data::make({mode::single, mode::split});

generation card_of(uint64_t seed) {
  generation x;
  x.prompt = "card";
  x.width = x.height = 64;
  x.seed = seed;
  return x;
}

/// Returns options for an engine that draws the test card, with this program
/// for its processes.
engine_options card_engine(mode how, const std::string& program) {
  return test::options_of(how,
                          {"processes.program='" + program + "'",
                           "devices=[{name='cpu:0',executor='test_card'}]"});
}

/// Returns options for an engine whose processes run the host's program.
engine_options with_safety(mode how) {
  auto options = card_engine(how, test::host_worker());
  options.extend.stages = {test::safety_check()};
  return options;
}

failure stage_refusal(const engine_options& options) {
  auto made = engine::start(options);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  BOOST_TEST(test::engine_processes_of(getpid()).empty());
  return std::get<failure>(made);
}

bool tells(const failure& why, const std::string& part) {
  return why.text.find(part) != std::string::npos;
}

/// A class of the host's that does not come from make_stage.
struct rough_stage : planning::any_stage {
  const planning::stage_row& row() const override {
    if (!has_row)
      throw std::runtime_error{"no row"};
    return data;
  }

  core::result<std::optional<core::typed_body>> begin(
    const planning::row_view& x) const override {
    if (x.wanted.seed == 1)
      throw 7;
    return std::optional<core::typed_body>{};
  }

  core::timespan takes(const core::typed_body&,
                       const planning::profile&) const override {
    return {};
  }

  bool is_short(const core::typed_body&) const override {
    return false;
  }

  core::result<core::typed_body> run(const core::typed_body& x,
                                     planning::worker_context&) const override {
    return x;
  }

  core::result<void> end(const core::typed_body&,
                         planning::facts&) const override {
    return {};
  }

  planning::stage_row data;
  bool has_row = true;
};

} // namespace

BOOST_AUTO_TEST_SUITE(engine_host_stage_test)

BOOST_AUTO_TEST_CASE(a_stage_reads_the_image_that_it_replaces) {
  const auto drawn = [](const engine_options& options) {
    auto sut = test::start(options);
    const auto answers = test::answers_to(*sut, {card_of(3)});
    return *image::decode(test::image_in(answers[0]).bytes);
  };
  auto options = test::options_of(
    mode::single, {"devices=[{name='cpu:0',executor='test_card'}]"});
  const auto before = drawn(options);
  options.extend.stages = {test::negative()};
  const auto after = drawn(options);
  BOOST_TEST_REQUIRE(before.bytes.size() == after.bytes.size());
  for (size_t i = 0; i < before.bytes.size(); ++i)
    BOOST_TEST_REQUIRE(before.bytes[i] + after.bytes[i] == 255);
}

namespace {

/// Returns the image of a seed, as the test card draws it.
image::bitmap drawn_card(uint64_t seed) {
  auto sut = test::start(test::options_of(
    mode::single, {"devices=[{name='cpu:0',executor='test_card'}]"}));
  return *image::decode(
    test::image_in(test::answers_to(*sut, {card_of(seed)})[0]).bytes);
}

void check_doubled(const generated_image& got) {
  const auto before = drawn_card(got.seed);
  const auto after = image::decode(got.bytes);
  BOOST_TEST_REQUIRE(static_cast<bool>(after));
  BOOST_TEST(got.width == 128u);
  BOOST_TEST(got.drawn_width == 64u);
  BOOST_TEST_REQUIRE(after->px.width == 128u);
  BOOST_TEST_REQUIRE(after->px.height == 128u);
  for (size_t y = 0; y < 128; ++y)
    for (size_t x = 0; x < 3 * 128; ++x)
      BOOST_TEST_REQUIRE(after->bytes[y * 3 * 128 + x]
                         == before.bytes[y / 2 * 3 * 64 + x / 6 * 3 + x % 3]);
}

engine_options with_doubling(mode how, place where = place::cpu_pool) {
  auto options = card_engine(how, test::host_worker());
  options.extend.stages = {test::doubling(where)};
  return options;
}

/// Kills the two processes of an engine in turn while it draws.
void check_doubled_despite_deaths(place where) {
  const test::doubling_workers doubled{where};
  auto sut = test::start(with_doubling(mode::split, where));
  std::vector<test::in_flight> all;
  for (uint64_t seed = 1; seed < 9; ++seed) {
    all.push_back(test::hand_in(*sut, card_of(seed)));
    if (seed != 4 && seed != 6)
      continue;
    pid_t victim = 0;
    BOOST_TEST_REQUIRE(test::eventually([&] {
      victim = test::pid_of(*sut, seed == 4 ? "cpu" : "cpu:0");
      return victim > 0;
    }));
    kill(victim, SIGKILL);
  }
  for (auto& x : all)
    check_doubled(test::image_in(test::await(x)));
}

} // namespace

BOOST_DATA_TEST_CASE(a_stage_changes_the_size_of_the_image, stage_modes, how) {
  const test::doubling_workers doubled;
  auto sut = test::start(with_doubling(how));
  for (const auto& made :
       test::answers_to(*sut, {card_of(3), card_of(4), card_of(5)}))
    check_doubled(test::image_in(made));
}

BOOST_AUTO_TEST_CASE(images_have_their_new_size_although_processes_die) {
  check_doubled_despite_deaths(place::cpu_pool);
}

BOOST_DATA_TEST_CASE(a_stage_runs_on_the_device_of_a_worker, stage_modes, how) {
  const test::doubling_workers doubled{place::device};
  auto sut = test::start(with_doubling(how, place::device));
  for (const auto& answer :
       test::answers_to(*sut, {card_of(3), card_of(4), card_of(5)})) {
    const auto& made = test::image_in(answer);
    check_doubled(made);
    BOOST_TEST(std::ranges::any_of(
      made.notes, [](const auto& x) { return x.text == "doubled on cpu:0"; }));
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(images_are_drawn_whole_although_a_stage_loses_its_device) {
  check_doubled_despite_deaths(place::device);
}

BOOST_AUTO_TEST_CASE(a_size_that_exceeds_a_slot_is_refused_by_name) {
  auto options = test::options_of(
    mode::single, {"devices=[{name='cpu:0',executor='test_card'}]",
                   "arena.image_slot_kib=320"});
  options.extend.stages = {test::doubling()};
  auto sut = test::start(options);
  auto large = card_of(3);
  large.width = large.height = 256;
  const auto got = test::answers_to(*sut, {large})[0];
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got));
  const auto& why = std::get<failure>(got);
  BOOST_TEST(why.code == "invalid_argument");
  BOOST_TEST(tells(why, "stage 'doubling' makes an image of 512x512 pixels"),
             why.text);
  BOOST_TEST(tells(why, "arena.image_slot_kib"), why.text);
}

BOOST_DATA_TEST_CASE(what_it_refuses_or_throws_fails_its_request_alone,
                     stage_modes, how) {
  namespace safety = test::safety;
  auto sut = test::start(with_safety(how));
  std::vector<generation> all;
  for (uint64_t seed = 3; seed < 12; ++seed)
    all.push_back(card_of(seed));
  const auto answers = test::answers_to(*sut, all);
  const auto check = [&](uint64_t seed, const std::string& code,
                         const std::string& part) {
    const auto& got = answers[seed - 3];
    BOOST_TEST_REQUIRE(std::holds_alternative<failure>(got));
    const auto& why = std::get<failure>(got);
    BOOST_TEST(why.code == code);
    BOOST_TEST(tells(why, part), why.text);
  };
  check(safety::refuses, "bad_payload", "the image is not safe");
  check(safety::throws_in_run, "internal",
        "stage 'safety' threw in run: no model");
  check(safety::throws_in_begin, "internal",
        "stage 'safety' threw in begin: no begin");
  check(safety::throws_in_end, "internal",
        "stage 'safety' threw in end: something that is not an exception");
  for (const uint64_t seed :
       {uint64_t{3}, uint64_t{4}, safety::throws_in_takes, uint64_t{10}}) {
    const auto& notes = test::image_in(answers[seed - 3]).notes;
    BOOST_TEST(std::ranges::any_of(
      notes, [](const auto& x) { return x.text == "looked at"; }));
  }
  BOOST_TEST(test::comes_to_rest(*sut));
  for (const auto& x : sut->status().processes)
    BOOST_TEST(x.restarts == 0u, x.role);
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_program_with_other_stages_ends_the_start_by_name) {
  auto options = with_safety(mode::split);
  options.set.push_back("processes.program='" + test::process_program() + "'");
  const auto without = stage_refusal(options);
  BOOST_TEST(without.code == "incompatible");
  BOOST_TEST(tells(without, "the process of c"), without.text);
  for (const auto* part : {"this process runs the stages 'mask/1 prepare/1 "
                           "denoise/1 finish/1'",
                           "the engine 'mask/1 prepare/1 denoise/1 safety/1 "
                           "finish/1'"})
    BOOST_TEST(tells(without, part), without.text);
  // In the opposite case the program has a stage that the engine lacks.
  const auto beside =
    stage_refusal(card_engine(mode::split, test::host_worker()));
  BOOST_TEST(beside.code == "incompatible");
  BOOST_TEST(tells(beside, "the engine 'mask/1 prepare/1 denoise/1 finish/1'"),
             beside.text);
}

BOOST_AUTO_TEST_CASE(without_a_program_of_the_hosts_the_start_says_how) {
  auto options = with_safety(mode::split);
  options.set.emplace_back("processes.program=''");
  const auto why = stage_refusal(options);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(why.text.starts_with("processes.program: the stage 'safety'"),
             why.text);
  BOOST_TEST(tells(why, "process_main"), why.text);
}

BOOST_DATA_TEST_CASE(one_in_the_background_needs_no_program, stage_modes, how) {
  std::atomic<uint32_t> counted{0};
  auto options = card_engine(how, test::process_program());
  options.extend.stages = {test::ledger(counted)};
  auto sut = test::start(options);
  for (const auto& made :
       test::answers_to(*sut, {card_of(1), card_of(2), card_of(3)}))
    BOOST_TEST(test::code_of(made) == "");
  BOOST_TEST(test::eventually([&] { return counted == 3; }));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(one_that_stands_nowhere_is_refused_by_name) {
  auto options = with_safety(mode::single);
  options.extend.stages[0].after = "polish";
  BOOST_TEST(tells(stage_refusal(options), "'polish'"));
}

BOOST_AUTO_TEST_CASE(any_class_of_the_hosts_has_a_border) {
  const auto own = std::make_shared<rough_stage>();
  own->data.name = "rough";
  auto options = test::options_of(mode::single);
  options.extend.stages = {{own, "denoise"}};
  auto sut = test::start(options);
  const auto answers = test::answers_to(*sut, {card_of(1), card_of(2)});
  BOOST_TEST(test::code_of(answers[0]) == "internal");
  BOOST_TEST(test::code_of(answers[1]) == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_a_stage_is_refused) {
  const auto thrown = std::make_shared<rough_stage>();
  thrown->has_row = false;
  const auto named = std::make_shared<rough_stage>();
  named->data.name = "two words";
  auto options = test::options_of(mode::single);
  options.extend.stages = {{nullptr, ""}, {thrown, ""}, {named, ""}};
  const auto why = stage_refusal(options);
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(why.text
             == "extensions::stages[0]: is null\n"
                "extensions::stages[1]: its function 'row' threw: no row\n"
                "extensions::stages[2]: its name 'two words' is not 1..64 of "
                "the characters a-z, A-Z, 0-9, ., _ and -");
}

BOOST_DATA_TEST_CASE(what_does_not_fit_a_ring_fails_its_request_at_once,
                     stage_modes, how) {
  namespace safety = test::safety;
  auto sut = test::start(with_safety(how));
  const auto answers =
    test::answers_to(*sut, {card_of(safety::orders_too_much),
                            card_of(safety::tells_too_much), card_of(1)});
  for (size_t i = 0; i < 2; ++i) {
    // Within one process nothing must fit.
    if (how == mode::single) {
      test::image_in(answers[i]);
      continue;
    }
    BOOST_TEST_REQUIRE(test::code_of(answers[i]) == "invalid_argument");
    const auto& why = std::get<failure>(answers[i]);
    BOOST_TEST(tells(why, "'safety'"), why.text);
    BOOST_TEST(tells(why, "a record of 2097"), why.text);
    BOOST_TEST(tells(why, "arena.ring_kib"), why.text);
  }
  test::image_in(answers[2]);
  for (const auto& p : sut->status().processes)
    BOOST_TEST(p.restarts == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
