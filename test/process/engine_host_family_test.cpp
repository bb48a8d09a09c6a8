// SPDX-License-Identifier: Apache-2.0
// A host's own family of models under a running engine, in both modes.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <process/host_family.hpp>
#include <support/eventually.hpp>

#include <signal.h>

#include <filesystem>
#include <string>
#include <variant>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

const auto family_modes =
  boost::unit_test::data::make({mode::single, mode::split});

/// A tiny model with the class name of the host's family.
struct family_fixture : test::tiny_folder {
  family_fixture() {
    write_at("scheduler/scheduler_config.json",
             R"({"_class_name": "DDIMScheduler", "num_train_timesteps": 100,
             "beta_start": 0.00085, "beta_end": 0.012, "clip_sample": false,
             "beta_schedule": "scaled_linear", "steps_offset": 1})");
    name_pipeline("StableDiffusionPipeline", test::host_pipeline_class);
  }

  void name_pipeline(std::string_view from, std::string_view to) const {
    auto index = read("model_index.json");
    index.replace(index.find(from), from.size(), to);
    write_at("model_index.json", index);
  }

  engine_options options(mode how) const {
    auto x = test::options_of(
      how, {std::string{"processes.program='"} + ATELIER_FAMILY_WORKER + "'",
            "models=[{name='tiny',path='" + path.string() + "'}]",
            "devices=[{name='cpu:0',executor='torch',threads=1,"
            "variants=['tiny@3']}]"});
    x.extend.families = {test::host_family()};
    return x;
  }
};

generation family_request() {
  generation x;
  x.prompt = "a";
  x.width = x.height = 32;
  x.seed = 1;
  x.deterministic = true;
  // The pipeline's own guidance differs.
  x.guidance = 4;
  return x;
}

generated_image drawn_by(engine& x) {
  auto asked = test::hand_in(x, family_request());
  return test::image_in(test::await(asked));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_host_family_test, family_fixture)

BOOST_DATA_TEST_CASE(its_models_draw_as_the_networks_do, family_modes, how) {
  auto sut = test::start(options(how));
  const auto made = drawn_by(*sut);
  BOOST_TEST(made.steps_run == 3u);
  BOOST_TEST(sut->stop(10s));
  // The same networks run under the pipeline that Atelier knows.
  name_pipeline(test::host_pipeline_class, "StableDiffusionPipeline");
  auto plain = test::start(options(how));
  BOOST_TEST(drawn_by(*plain).sha256 == made.sha256);
}

BOOST_DATA_TEST_CASE(what_its_loader_throws_ends_the_start, family_modes, how) {
  write_at("broken", "");
  const auto made = engine::start(options(how));
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  const auto& why = std::get<failure>(made);
  BOOST_TEST(why.text.find("family 'host' threw in load: no weights")
               != std::string::npos,
             why.text);
}

BOOST_AUTO_TEST_CASE(a_model_that_kills_its_process_leaves_the_others_served) {
  const test::tiny_folder sound;
  auto x = options(mode::split);
  for (const auto& more :
       {"models=[{name='deadly',path='" + path.string()
          + "'},{name='sound',path='" + sound.path.string() + "'}]",
        std::string{"devices=[{name='cpu:0',executor='torch',threads=1,"
                    "variants=['deadly@3','sound@3']}]"},
        std::string{"processes.restart_first_ms=1"},
        std::string{"processes.restart_most_ms=50"}})
    x.set.push_back(more);
  auto sut = test::start(x);
  const auto ask = [&](const std::string& model) {
    auto wanted = family_request();
    wanted.model = model;
    auto got = test::hand_in(*sut, wanted);
    return test::await(got);
  };
  BOOST_TEST(test::code_of(ask("deadly")) == "");
  write_at("deadly", "");
  kill(test::pid_of(*sut, "cpu:0"), SIGKILL);
  BOOST_TEST(test::code_of(ask("sound")) == "");
  const auto refused = ask("deadly");
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(refused));
  BOOST_TEST(
    std::get<failure>(refused).text
    == "deadly@3 cannot be loaded: the process crashed while it loaded "
       "models");
  BOOST_TEST(test::code_of(ask("sound")) == "");
  BOOST_TEST_REQUIRE(sut->status().unloadable.size() == 1u);
  BOOST_TEST(sut->status().unloadable[0].variant == "deadly@3");
  std::filesystem::remove(path / "deadly");
  BOOST_TEST(
    test::eventually([&] { return test::code_of(ask("deadly")).empty(); }));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_program_without_it_ends_the_start) {
  auto x = options(mode::split);
  x.set.push_back("processes.program='" + test::process_program() + "'");
  const auto made = engine::start(x);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
  const auto& why = std::get<failure>(made);
  BOOST_TEST(why.text.find("'HostPipeline' is not supported")
               != std::string::npos,
             why.text);
}

BOOST_AUTO_TEST_SUITE_END()
