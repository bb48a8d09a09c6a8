// SPDX-License-Identifier: Apache-2.0
// Engines that run a small model with random weights.
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/instruction_set.hpp>
#include <atelier/gpu/kernels/host_features.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/measure.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <gpu/models/tiny_model.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

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

struct kind_of_run {
  const char* sampler;
  float eta = 0;
  bool karras = false;
};

/// Draws each kind of run, and again while the device's process is killed after
/// a random step. Both must give the same file.
void check_kills(engine& sut, const std::vector<kind_of_run>& kinds,
                 std::mt19937_64& random) {
  constexpr uint32_t steps = 30;
  for (const auto& kind : kinds) {
    auto wanted = small();
    wanted.prompt = "b";
    wanted.steps = steps;
    wanted.seed = random() >> 1;
    wanted.sampler = kind.sampler;
    wanted.eta = kind.eta;
    wanted.karras = kind.karras;
    wanted.deterministic = true;
    auto whole = test::hand_in(sut, wanted);
    const auto expected = test::image_in(test::await(whole));
    const auto at = 1 + static_cast<uint32_t>(random() % (steps - 1));
    const auto victim = test::pid_of(sut, "cpu:0");
    std::atomic<bool> killed = false;
    callbacks calls;
    calls.progressed = [&](const progress& p) {
      if (p.steps_done >= at && !killed.exchange(true))
        kill(victim, SIGKILL);
    };
    auto got = sut.submit(wanted, calls);
    BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
    const auto made = std::get<submission>(got).result.get();
    BOOST_TEST_CONTEXT(kind.sampler << " killed after step " << at) {
      BOOST_TEST(killed);
      const auto& resumed = test::image_in(made);
      BOOST_TEST(resumed.sha256 == expected.sha256);
      // It resumed from the published state, not from the start.
      BOOST_TEST(resumed.steps_run < steps + std::max(at, 2u));
    }
  }
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
     "karras true: sampler ddim has no sigmas; euler, euler_ancestral, "
     "dpmpp_2m and flow_match_euler have"},
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
  BOOST_TEST(test::image_in(test::await(good)).steps_run == 3u);
}

BOOST_DATA_TEST_CASE(what_a_model_does_not_do_is_told_with_the_image, modes,
                     how) {
  write_at("known_words.txt", "a red circle");
  write_at("atelier.json", R"({"most_guidance": 3})");
  auto sut = start(how);
  auto wanted = small();
  wanted.width = wanted.height = 128;
  wanted.prompt = "a (red:1.2) cirle";
  wanted.guidance = 8;
  auto asked = test::hand_in(*sut, wanted);
  const auto made = test::image_in(test::await(asked));
  std::vector<std::string> codes;
  for (const auto& x : made.notes)
    codes.push_back(x.code);
  const std::vector<std::string> expected{"prompt_syntax", "guidance",
                                          "unknown_word"};
  BOOST_TEST(codes == expected, boost::test_tools::per_element());
  const auto written = image::read_text(made.bytes);
  BOOST_TEST_REQUIRE(written.operator bool());
  for (const auto& x : made.notes)
    BOOST_TEST(written->find(x.text) != std::string::npos, x.text);
  wanted.prompt = "a red circle";
  wanted.guidance = 2;
  auto plain = test::hand_in(*sut, wanted);
  BOOST_TEST(test::image_in(test::await(plain)).notes.empty());
}

BOOST_DATA_TEST_CASE(weights_change_an_image_unless_the_model_lists_its_words,
                     modes, how) {
  const auto draw = [&](engine& sut, std::string prompt) {
    auto wanted = small();
    wanted.width = wanted.height = 128;
    wanted.prompt = std::move(prompt);
    wanted.prompt_syntax = "webui";
    auto asked = test::hand_in(sut, wanted);
    return test::await(asked);
  };
  {
    auto sut = start(how);
    const auto plain = test::image_in(draw(*sut, "a a"));
    const auto strong = test::image_in(draw(*sut, "a (a:1.5)"));
    BOOST_TEST(!(*image::decode(plain.bytes) == *image::decode(strong.bytes)));
    BOOST_TEST(strong.prompt == "a (a:1.5)");
    BOOST_TEST(strong.notes.empty());
    std::string many;
    for (int i = 0; i < 601; ++i)
      many += "a ";
    const auto refused = draw(*sut, many);
    BOOST_TEST_REQUIRE(!refused);
    BOOST_TEST(refused.why().code == "invalid_argument");
    BOOST_TEST(refused.why().text.find("prompt: it needs more than 8 chunks")
               != std::string::npos);
  }
  write_at("known_words.txt", "a");
  auto sut = start(how);
  const auto told = test::image_in(draw(*sut, "a (a:1.5)"));
  BOOST_TEST_REQUIRE(told.notes.size() == 1u);
  BOOST_TEST(
    told.notes[0].text
    == "prompt: '(a:1.5)' is read as 'a', because a weight of words is "
       "not supported");
}

BOOST_DATA_TEST_CASE(a_model_of_one_size_has_its_image_scaled, modes, how) {
  const core::extent asked{192, 64};
  auto wanted = small();
  wanted.width = wanted.height = 128;
  auto plain = start(how);
  auto before = test::hand_in(*plain, wanted);
  const auto drawn = image::decode(test::image_in(test::await(before)).bytes);
  BOOST_TEST_REQUIRE(drawn.operator bool());
  wanted.width = asked.width;
  wanted.height = asked.height;
  auto as_asked = test::hand_in(*plain, wanted);
  const auto wide = test::image_in(test::await(as_asked));
  BOOST_TEST(wide.drawn_width == asked.width);
  plain.reset();

  write_at("atelier.json", R"({"native_only": true})");
  auto sut = start(how);
  BOOST_TEST(sut->variants().front().native_only);
  auto scaled = test::hand_in(*sut, wanted);
  const auto made = test::image_in(test::await(scaled));
  BOOST_TEST(made.width == asked.width);
  BOOST_TEST(made.height == asked.height);
  BOOST_TEST(made.drawn_width == 128u);
  BOOST_TEST(made.drawn_height == 128u);
  BOOST_TEST(
    (*image::decode(made.bytes) == *image::cover(drawn->view(), asked)));
  BOOST_TEST_REQUIRE(made.notes.size() == 1u);
  BOOST_TEST(made.notes[0].code == "image_scaled");
  const auto told = image::parse_parameters(*image::read_text(made.bytes));
  BOOST_TEST(told.find("Size").value_or("") == "192x64");
  BOOST_TEST(told.find("Drawn size").value_or("") == "128x128");
  wanted.native_only = false;
  auto exact = test::hand_in(*sut, wanted);
  const auto again = test::image_in(test::await(exact));
  BOOST_TEST((*image::decode(again.bytes) == *image::decode(wide.bytes)));
  BOOST_TEST_REQUIRE(again.notes.size() == 1u);
  BOOST_TEST(again.notes[0].code == "size_not_native");
}

BOOST_DATA_TEST_CASE(an_edit_of_another_size_keeps_its_pixels, modes, how) {
  write_at("atelier.json", R"({"native_only": true})");
  auto sut = start(how);
  const core::extent px{200, 72};
  std::mt19937_64 random{test::seed()};
  image::bitmap source{px, 3, std::vector<uint8_t>(px.pixels() * 3)};
  for (auto& b : source.bytes)
    b = static_cast<uint8_t>(random());
  image::bitmap mask{px, 3, std::vector<uint8_t>(px.pixels() * 3, 0)};
  for (size_t y = 10; y < 50; ++y)
    std::fill_n(mask.bytes.begin()
                  + static_cast<ptrdiff_t>(3 * (y * px.width + 60)),
                3 * 70, uint8_t{255});
  auto wanted = small();
  wanted.width = wanted.height = 0;
  wanted.image = *image::encode(source.view(), {});
  wanted.mask = *image::encode(mask.view(), {});
  auto asked = test::hand_in(*sut, wanted);
  const auto made = test::image_in(test::await(asked));
  BOOST_TEST(made.drawn_width == 128u);
  const auto pixels = image::decode(made.bytes);
  BOOST_TEST_REQUIRE(pixels.operator bool());
  BOOST_TEST((pixels->px == px));
  size_t changed = 0;
  for (size_t i = 0; i < pixels->bytes.size(); ++i) {
    const bool differs = pixels->bytes[i] != source.bytes[i];
    if (mask.bytes[i] == 0)
      BOOST_REQUIRE(!differs);
    changed += differs ? 1 : 0;
  }
  BOOST_TEST(changed > 3u * 70 * 40 / 2);
}

// A cell of the latent is two pixels wide here, and diffusers reads its first
// pixel. A line between those pixels is repainted all the same: if nothing
// were, any run would return what the autoencoder makes of the source.
BOOST_DATA_TEST_CASE(a_line_thinner_than_a_cell_is_repainted, modes, how) {
  auto sut = start(how);
  const core::extent px{32, 32};
  std::mt19937_64 random{test::seed()};
  image::bitmap source{px, 3, std::vector<uint8_t>(px.pixels() * 3)};
  for (auto& b : source.bytes)
    b = static_cast<uint8_t>(random());
  image::bitmap mask{px, 3, std::vector<uint8_t>(px.pixels() * 3, 0)};
  constexpr size_t row = 17;
  std::fill_n(mask.bytes.begin()
                + static_cast<ptrdiff_t>(3 * (row * px.width + 4)),
              3 * 24, uint8_t{255});
  auto wanted = small();
  wanted.image = *image::encode(source.view(), {});
  wanted.mask = *image::encode(mask.view(), {});
  const auto edited = [&](const std::string& prompt, uint32_t steps,
                          uint64_t seed) {
    wanted.prompt = prompt;
    wanted.steps = steps;
    wanted.seed = seed;
    auto asked = test::hand_in(*sut, wanted);
    const auto made = test::image_in(test::await(asked));
    auto pixels = image::decode(made.bytes);
    BOOST_TEST_REQUIRE(pixels.operator bool());
    return std::move(pixels->bytes);
  };
  // Random weights may take two runs to the ends of the same colours.
  const auto one = edited("a", 3, 1);
  bool others = false;
  for (uint64_t seed = 2; seed <= 9 && !others; ++seed)
    others = edited("a a", 9, seed) != one;
  BOOST_TEST(
    others,
    "all have " << fmt::format(
      "{}", fmt::join(std::span{one}.subspan(3 * (row * px.width + 4), 3 * 24),
                      " ")));
  for (size_t i = 0; i < one.size(); ++i)
    if (mask.bytes[i] == 0)
      BOOST_REQUIRE(one[i] == source.bytes[i]);
}

BOOST_DATA_TEST_CASE(previews_show_what_the_image_becomes, modes, how) {
  auto sut = start(how);
  auto wanted = small();
  wanted.steps = 8;
  wanted.sampler = "dpmpp_2m";
  auto plain = test::hand_in(*sut, wanted);
  const auto expected = test::image_in(test::await(plain));
  std::vector<preview> seen;
  callbacks calls;
  calls.progressed = [&](const progress& p) {
    if (!p.preview.rgb.empty())
      seen.push_back(p.preview);
  };
  wanted.preview_every = 1;
  auto got = sut->submit(wanted, calls);
  BOOST_TEST_REQUIRE(std::holds_alternative<submission>(got));
  const auto made = std::get<submission>(got).result.get();
  test::check_same_image(test::image_in(made), expected);
  BOOST_TEST(sut->stop(5s));
  BOOST_TEST(!seen.empty());
  for (const auto& x : seen) {
    BOOST_TEST(x.step < 8u);
    // There is a pixel for each place of the latent.
    BOOST_TEST(x.width == 16u);
    BOOST_TEST(x.height == 16u);
    BOOST_TEST(x.rgb.size() == 3u * 16 * 16);
  }
}

BOOST_AUTO_TEST_CASE(every_sampler_survives_a_kill_at_any_step_bit_for_bit) {
  std::mt19937_64 random{test::seed()};
  const std::vector<std::string> more = {"processes.restart_first_ms=1",
                                         "processes.restart_most_ms=10",
                                         "scheduler.attempts=1000"};
  const auto rounds = test::scaled(20);
  {
    auto sut = start(mode::split, more);
    for (size_t i = 0; i < rounds; ++i)
      check_kills(*sut,
                  {{"ddim"},
                   {"ddim", 0.5f},
                   {"euler"},
                   {"euler", 0, true},
                   {"euler_ancestral"},
                   {"dpmpp_2m"},
                   {"dpmpp_2m", 0, true},
                   {"lcm"}},
                  random);
  }
  write_at("scheduler/scheduler_config.json",
           R"({"_class_name": "FlowMatchEulerDiscreteScheduler",
           "num_train_timesteps": 100, "shift": 3.0})");
  auto sut = start(mode::split, more);
  for (size_t i = 0; i < rounds; ++i)
    check_kills(*sut, {{"flow_match_euler"}, {"flow_match_euler", 0, true}},
                random);
}

BOOST_AUTO_TEST_CASE(a_measured_profile_is_taken_by_the_planner) {
  runtime::measurement wanted;
  wanted.batches = {1, 2};
  wanted.sizes = {{32, 32}, {64, 32}};
  wanted.steps = 1;
  auto& x = wanted.settings;
  x.models.resize(1);
  x.models[0].name = "tiny";
  x.models[0].path = path.string();
  x.devices[0].executor = "torch";
  x.devices[0].variants = {"tiny@3", "tiny@5", "tiny@3/bf16"};
  size_t points = 0;
  const auto measured =
    runtime::measure(wanted, [&](const auto&, size_t done, size_t of) {
      BOOST_TEST(of == 8u);
      points = done;
      return true;
    });
  BOOST_REQUIRE_MESSAGE(measured, (measured ? "" : measured.why().text));
  BOOST_TEST(points == 7u);
  BOOST_TEST_REQUIRE(measured->variants.size() == 3u);
  for (const auto& v : measured->variants) {
    BOOST_TEST(v.step.size() == 4u);
    for (const auto& point : v.step)
      BOOST_TEST(point.samples == 1u);
    BOOST_TEST((v.native_px == core::extent{128, 128}));
    BOOST_TEST((v.load.count() > 0 && v.decode.count() > 0));
    BOOST_TEST(v.text.count() > 0);
    BOOST_TEST(v.memory_bytes > 0u);
  }
  BOOST_TEST((measured->variants[0].step == measured->variants[1].step));
  const auto file = (path / "profile.json").string();
  std::ofstream{file} << planning::to_json(*measured);
  auto sut = start(mode::single, {"planner.profile='" + file + "'"});
  auto good = test::hand_in(*sut, small());
  test::image_in(test::await(good));
  const auto ended = runtime::measure(
    wanted, [](const auto&, size_t done, size_t) { return done < 2; });
  BOOST_TEST_REQUIRE(!ended);
  BOOST_TEST((ended.why().code == core::ec::cancelled));
}

BOOST_AUTO_TEST_CASE(a_model_whose_image_encoder_fails_is_measured_without_it) {
  const std::string broken = "encoder.conv_in.bias";
  const auto shape = vae[broken].shape;
  const auto count = static_cast<size_t>(shape.at(0));
  vae.remove(broken);
  vae.add(broken, shape,
          std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()));
  vae.write(path / "vae" / "diffusion_pytorch_model.safetensors");
  runtime::measurement wanted;
  wanted.batches = {1};
  wanted.sizes = {{32, 32}};
  wanted.steps = 1;
  auto& x = wanted.settings;
  x.models.resize(1);
  x.models[0].name = "tiny";
  x.models[0].path = path.string();
  x.devices[0].executor = "torch";
  x.devices[0].variants = {"tiny@3"};
  std::vector<std::string> notes;
  const auto measured = runtime::measure(
    wanted, [](const auto&, size_t, size_t) { return true; },
    [&](const std::string& told) { notes.push_back(told); });
  BOOST_REQUIRE_MESSAGE(measured, (measured ? "" : measured.why().text));
  const auto& v = measured->variants.at(0);
  BOOST_TEST(v.step.size() == 1u);
  BOOST_TEST((v.decode.count() > 0 && v.encode.count() == 0));
  BOOST_TEST_REQUIRE(notes.size() == 1u);
  BOOST_TEST(notes[0].starts_with("tiny@3, 32x32, a source: "), notes[0]);
  BOOST_TEST(notes[0].find("not numbers") != std::string::npos, notes[0]);
}

BOOST_DATA_TEST_CASE(a_stage_refines_an_image_as_an_edit_of_its_file, modes,
                     how) {
  const std::string devices =
    "devices=[{name='cpu:0',executor='torch',threads=1,"
    "variants=['tiny@2','tiny@8']}]";
  const auto plan_of = [&](uint32_t skip) {
    const auto file = path / ("plan" + std::to_string(skip) + ".json");
    std::ofstream{file} << R"({"format": "atelier.plan", "version": 1,
      "policy": "diffserve", "memory": {"of": "diffserve"},
      "workers": [{"count": 1, "batch": 1, "hosting": ["tiny@2", "tiny@8"]}],
      "routes": [{"route": 0, "name": "tiny@2",
                  "stages": [{"any_of": ["tiny@2"]}]},
                 {"route": 1, "name": "tiny@8",
                  "stages": [{"any_of": ["tiny@8"]}]},
                 {"route": 2, "name": "refine",
                  "stages": [{"any_of": ["tiny@2"]},
                    {"any_of": ["tiny@8"], "from": "stage_image", "skip": )"
                        << skip << R"(}]}],
      "share": [{"2": 1}]})";
    return file.string();
  };
  auto light = small();
  light.variant = "tiny@2";
  for (const uint32_t skip : {1u, 4u, 7u})
    BOOST_TEST_CONTEXT("skips " << skip) {
      auto sut = start(how, {devices, "policy.name=fixed",
                             "planner.plan='" + plan_of(skip) + "'"});
      auto first = test::hand_in(*sut, light);
      auto edit = small();
      edit.variant = "tiny@8";
      edit.image = test::image_in(test::await(first)).bytes;
      edit.strength = static_cast<float>(8 - skip) / 8;
      auto edited = test::hand_in(*sut, edit);
      const auto expected = test::image_in(test::await(edited));
      BOOST_TEST(expected.steps_run == 8 - skip);
      auto refined = test::hand_in(*sut, small());
      const auto made = test::image_in(test::await(refined));
      BOOST_TEST(made.route == "refine");
      BOOST_TEST(made.variant == "tiny@8");
      BOOST_TEST(made.strength == expected.strength);
      BOOST_TEST(made.steps_run == 2 + expected.steps_run);
      BOOST_TEST(
        (*image::decode(made.bytes) == *image::decode(expected.bytes)));
      BOOST_TEST(test::comes_to_rest(*sut));
    }
}

BOOST_AUTO_TEST_CASE(an_image_is_the_same_alone_in_any_batch_and_after_a_loss) {
  static constexpr std::array samplers{"ddim", "euler", "euler_ancestral",
                                       "dpmpp_2m"};
  std::mt19937_64 random{test::seed() + 7};
  const auto draw = [&] {
    auto x = small();
    x.prompt = random() % 2 == 0 ? "a" : "b a";
    x.steps = static_cast<uint32_t>(4 + random() % 12);
    x.guidance =
      random() % 4 == 0 ? 1.0F : static_cast<float>(2 + random() % 8);
    x.sampler = samplers[random() % samplers.size()];
    x.seed = random() >> 1;
    return x;
  };
  BOOST_TEST(true);
  // LibTorch computes with the first one, and its sums depend on the batch:
  // with each of the others, the host's own kernels must compute.
  for (const auto set : core::available_instruction_sets()) {
    if (set == core::instruction_set::portable)
      continue;
    const auto limit =
      fmt::format("processes.instruction_set='{}'", core::to_string(set));
    auto alone = start(mode::single, {limit});
    auto sut = start(mode::split, {limit});
    for (size_t left = test::scaled(1'000); left > 0;) {
      std::vector<generation> wanted(std::min<size_t>(left, 2 + random() % 10));
      left -= wanted.size();
      std::ranges::generate(wanted, draw);
      std::vector<test::in_flight> pending;
      for (const auto& x : wanted)
        pending.push_back(test::hand_in(*sut, x));
      if (random() % 4 == 0)
        kill(test::pid_of(*sut, "cpu:0"), SIGKILL);
      for (size_t i = 0; i < wanted.size(); ++i) {
        const auto made = test::await(pending[i]);
        const auto expected = test::answers_to(*alone, {wanted[i]}).front();
        BOOST_TEST(test::image_in(made).sha256
                     == test::image_in(expected).sha256,
                   limit);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(models_come_and_go_where_memory_is_short) {
  const std::vector<std::string> variants{"tiny@3", "second@3", "third@3"};
  uint64_t bytes = 0;
  for (const auto* part : {&unet, &vae, &text})
    for (const auto& x : part->list())
      bytes += x.tensor.bytes.size();
  const auto wanted = [&](size_t i) {
    auto x = small();
    x.variant = variants[i % 3];
    x.seed = i;
    // Where the host's kernels do not run, batches change bits.
    x.deterministic = !gpu::host::runs_kernels();
    return x;
  };
  const auto device = [&](const std::string& more) {
    const auto at = "',path='" + path.string() + "'}";
    return std::vector<std::string>{
      "models=[{name='tiny" + at + ",{name='second" + at + ",{name='third" + at
        + "]",
      "devices=[{name='cpu:0',executor='torch',threads=1,variants=['"
        + variants[0] + "','" + variants[1] + "','" + variants[2] + "']" + more
        + "}]"};
  };
  std::vector<generation> all;
  for (size_t i = 0; i < 30; ++i)
    all.push_back(wanted(i));
  auto roomy = start(mode::single, device(""));
  const auto expected = test::answers_to(*roomy, all);
  BOOST_TEST(roomy->status().figure("loads") == 0u);

  struct row {
    mode how;
    uint64_t models;
    const char* policy;
  };

  // One model fits, or two fit together.
  const row rows[] = {{mode::single, 1, "vanilla"},
                      {mode::split, 2, "vanilla"},
                      {mode::single, 1, "atelier"},
                      {mode::split, 2, "atelier"},
                      {mode::single, 1, "auto"}};
  for (const auto& [how, models, policy] : rows) {
    const auto mib = (models * bytes >> 20) + 1;
    BOOST_TEST_REQUIRE((models + 1) * bytes > mib << 20);
    auto options = device(",memory_mib=" + std::to_string(mib));
    options.push_back(std::string{"policy.name='"} + policy + "'");
    auto sut = start(how, options);
    const auto answers = test::answers_to(*sut, all);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& p = test::image_in(answers[i]);
      BOOST_TEST(p.variant == variants[i % 3]);
      BOOST_TEST(p.bytes == test::image_in(expected[i]).bytes);
    }
    BOOST_TEST(sut->status().figure("loads") > 0u);
    // Several unrelated models are hosted by demand.
    BOOST_TEST(sut->status().policy
               == (std::string_view{policy} == "auto" ? "atelier" : policy));
    BOOST_TEST(sut->stop(10s));
  }
}

BOOST_AUTO_TEST_CASE(images_of_one_prompt_share_its_text) {
  // Rows run one at a time: the time in which rows open together is reported
  // for each.
  auto sut =
    start(mode::single, {"devices=[{name='cpu:0',executor='torch',threads=1,"
                         "max_batch=1,variants=['tiny@3']}]"});
  constexpr size_t images = 4;
  std::vector<generation> all;
  for (size_t i = 0; i < 8 * images; ++i) {
    auto x = small();
    x.prompt = "prompt " + std::to_string(i / images);
    x.seed = i;
    all.push_back(x);
  }
  const auto answers = test::answers_to(*sut, all);
  std::chrono::nanoseconds first{0};
  std::chrono::nanoseconds others{0};
  for (size_t i = 0; i < all.size(); i += images) {
    std::vector<std::chrono::nanoseconds> took;
    for (size_t k = 0; k < images; ++k)
      took.push_back(test::image_in(answers[i + k]).took.text);
    std::sort(took.begin(), took.end());
    first += took.back();
    for (size_t k = 0; k + 1 < images; ++k)
      others += took[k];
  }
  // Three of four find their text encoded, and the rest is the time to open the
  // rows.
  BOOST_TEST_MESSAGE(core::to_ms(first)
                     << " ms, the others " << core::to_ms(others));
  BOOST_TEST(core::to_ms(others) < 0.5 * (images - 1) * core::to_ms(first));
}

BOOST_AUTO_TEST_CASE(a_state_with_history_must_fit_its_slot_too) {
  // 128x128 pixels are 64x64 places of 4 channels, which are 64 KiB. The
  // previous prediction doubles that.
  auto sut = start(mode::single);
  auto wanted = small();
  wanted.width = wanted.height = 128;
  wanted.sampler = "dpmpp_2m";
  const auto got = sut->submit(wanted);
  const auto* const why = std::get_if<failure>(&got);
  BOOST_TEST_REQUIRE(why != nullptr);
  BOOST_TEST(why->text
             == "size 128x128 needs 131112 bytes of state, a slot holds 131072 "
                "(arena.state_slot_kib)");
  wanted.sampler = "euler";
  auto good = test::hand_in(*sut, wanted);
  test::image_in(test::await(good));
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
    BOOST_TEST(test::image_in(test::await(made)).karras == karras, with);
  }
}

BOOST_AUTO_TEST_CASE(models_are_loaded_and_unloaded_by_hand) {
  const auto at = "',path='" + path.string() + "'}";
  for (const auto how : {mode::single, mode::split}) {
    auto sut =
      start(how, {"models=[{name='tiny" + at + ",{name='second" + at + "]",
                  "devices=[{name='cpu:0',executor='torch',threads=1,"
                  "variants=['tiny@3','second@3']}]"});
    const auto hosted = [&] { return sut->status().workers.at(0).variants; };
    const auto becomes = [&](const std::vector<std::string>& wanted) {
      test::eventually([&] { return hosted() == wanted; }, 20s);
      BOOST_TEST(hosted() == wanted, boost::test_tools::per_element());
    };
    const std::vector<std::string> both{"tiny@3", "second@3"};
    becomes(both);
    auto x = small();
    x.variant = "second@3";
    x.seed = 5;
    auto before = test::hand_in(*sut, x);
    const auto expected = test::image_in(test::await(before)).bytes;
    BOOST_TEST(bool(sut->host_model("second", false)));
    becomes({"tiny@3"});
    BOOST_TEST(
      (sut->status().sent_away == std::vector<std::string>{"second@3"}));
    // A request for the model brings it back.
    auto again = test::hand_in(*sut, x);
    BOOST_TEST(test::image_in(test::await(again)).bytes == expected);
    BOOST_TEST(sut->status().sent_away.empty());
    // The model leaves all devices, and is then loaded without a request.
    BOOST_TEST(bool(sut->host_model("tiny", false)));
    BOOST_TEST(bool(sut->host_model("second", false)));
    becomes({});
    BOOST_TEST(bool(sut->host_model("second", true)));
    becomes({"second@3"});
    BOOST_TEST((sut->status().wanted == std::vector<std::string>{"second@3"}));
    const auto unknown = sut->host_model("third", true);
    BOOST_TEST_REQUIRE(!unknown);
    BOOST_TEST(unknown.why().code == "not_found");
    BOOST_TEST(sut->stop(10s));
  }
}

BOOST_AUTO_TEST_SUITE_END()
