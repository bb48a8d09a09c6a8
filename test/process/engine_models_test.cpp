// SPDX-License-Identifier: Apache-2.0
// Engines that run a small model with random weights.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>

#include <functional>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const auto modes = boost::unit_test::data::make({mode::single, mode::split});

/// A tiny model, and engines that host it.
struct fixture : test::tiny_folder {
  fixture() {
    write_at("scheduler/scheduler_config.json",
             R"({"_class_name": "DDIMScheduler", "num_train_timesteps": 100,
             "beta_start": 0.00085, "beta_end": 0.012, "clip_sample": false,
             "beta_schedule": "scaled_linear", "steps_offset": 1})");
  }

  std::unique_ptr<engine> start(mode how, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"models=[{name='tiny',path='" + path.string() + "'}]",
                 "devices=[{name='cpu:0',executor='torch',threads=1,"
                 "variants=['tiny@3']}]"});
    return test::start(how, std::move(more));
  }
};

generation small() {
  generation x;
  x.prompt = "a";
  x.width = x.height = 32;
  x.seed = 1;
  return x;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_models_test, fixture)

BOOST_DATA_TEST_CASE(what_the_schedule_cannot_run_is_refused_at_once, modes,
                     how) {
  auto sut = start(how);
  const std::pair<std::function<void(generation&)>, std::string> rows[] = {
    {[](auto& x) { x.steps = 101; },
     "steps 101 outside 1..100 (num_train_timesteps)"},
    {[](auto& x) {
       x.sampler = "euler";
       x.eta = 0.5f;
     },
     "eta 0.5 outside 0..0 for sampler euler"},
    {[](auto& x) { x.karras = true; },
     "karras true: sampler ddim has no sigmas; euler, dpmpp_2m and "
     "flow_match_euler have"},
    {[](auto& x) { x.sampler = "flow_match_euler"; },
     "sampler flow_match_euler cannot run a model that does not predict flow"},
    {[](auto& x) { x.steps = 100; },
     "steps 100 with steps_offset 1 begin at timestep 100, outside 0..99"},
  };
  for (const auto& [set, told] : rows) {
    auto wanted = small();
    set(wanted);
    const auto got = sut->submit(wanted);
    const auto* const why = std::get_if<failure>(&got);
    BOOST_TEST_REQUIRE(why != nullptr, told);
    BOOST_TEST(why->code == "invalid_argument");
    BOOST_TEST(why->text == told);
  }
  const auto s = sut->status();
  BOOST_TEST(s.accepted + s.refused + s.failed == 0u);
  auto good = test::hand_in(*sut, small());
  BOOST_TEST(test::picture_in(test::await(good)).steps_run == 3u);
}

BOOST_AUTO_TEST_CASE(a_state_with_history_must_fit_its_slot_too) {
  // 96x96 pixels: 48x48 places of 4 channels are 36 KiB, twice that with the
  // prediction before.
  auto sut = start(mode::single);
  auto wanted = small();
  wanted.width = wanted.height = 96;
  wanted.sampler = "dpmpp_2m";
  const auto got = sut->submit(wanted);
  const auto* const why = std::get_if<failure>(&got);
  BOOST_TEST_REQUIRE(why != nullptr);
  BOOST_TEST(why->text
             == "size 96x96 needs 73760 bytes of state, a slot holds 65536 "
                "(arena.state_slot_kib)");
  wanted.sampler = "euler";
  auto good = test::hand_in(*sut, wanted);
  test::picture_in(test::await(good));
}

BOOST_AUTO_TEST_CASE(a_files_wish_for_karras_is_for_samplers_with_sigmas) {
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "EulerDiscreteScheduler",
           "use_karras_sigmas": true})");
  auto sut = start(mode::single);
  for (const auto& [with, karras] :
       {std::pair{"euler", true}, std::pair{"dpmpp_2m", true},
        std::pair{"ddim", false}, std::pair{"euler_ancestral", false},
        std::pair{"lcm", false}}) {
    auto wanted = small();
    wanted.sampler = with;
    auto made = test::hand_in(*sut, wanted);
    BOOST_TEST(test::picture_in(test::await(made)).karras == karras, with);
  }
}

BOOST_AUTO_TEST_SUITE_END()
