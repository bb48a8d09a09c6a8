// SPDX-License-Identifier: Apache-2.0
// The requests that are rejected, field by field, with the sentence that gives
// the reason.
#include "door_rig.hpp"

#include <boost/test/unit_test.hpp>
#include <gpu/samplers/configs.hpp>

#include <functional>
#include <limits>

using namespace atelier;
using core::ec;
using test::claim_of;
using test::enter;
using test::entered;
using test::file_of;
using test::fresh_seed;
using test::two_variants;

namespace {

struct bad_row {
  const char* name;
  std::function<void(generation&)> set;
  ec code;
  std::string text;
};

const std::vector<bad_row> bad_rows = {
  {"format", [](auto& x) { x.format = "gif"; }, ec::invalid_argument,
   "format 'gif' is not one of png, jpeg, webp"},
  {"empty format", [](auto& x) { x.format = ""; }, ec::invalid_argument,
   "format '' is not one of png, jpeg, webp"},
  {"priority", [](auto& x) { x.priority = "urgent"; }, ec::invalid_argument,
   "priority 'urgent' is not one of low, normal, high"},
  {"noise", [](auto& x) { x.noise = "dice"; }, ec::invalid_argument,
   "noise 'dice' is not one of torch_cpu, philox"},
  {"sampler", [](auto& x) { x.sampler = "heun"; }, ec::invalid_argument,
   "sampler 'heun' is not one of ddim, euler, euler_ancestral, dpmpp_2m, lcm, "
   "flow_match_euler"},
  {"deadline of now", [](auto& x) { x.deadline = std::chrono::seconds{0}; },
   ec::invalid_argument, "deadline 0 ms from now is not after now"},
  {"deadline before now",
   [](auto& x) { x.deadline = std::chrono::milliseconds{-5}; },
   ec::invalid_argument, "deadline -5 ms from now is not after now"},
  {"no steps", [](auto& x) { x.steps = 0; }, ec::invalid_argument,
   "steps 0 outside 1..150"},
  {"too many steps", [](auto& x) { x.steps = 151; }, ec::invalid_argument,
   "steps 151 outside 1..150"},
  {"guidance below", [](auto& x) { x.guidance = -0.5f; }, ec::invalid_argument,
   "guidance -0.5 outside 0..50"},
  {"guidance above", [](auto& x) { x.guidance = 50.5f; }, ec::invalid_argument,
   "guidance 50.5 outside 0..50"},
  {"guidance nan",
   [](auto& x) { x.guidance = std::numeric_limits<float>::quiet_NaN(); },
   ec::invalid_argument, "guidance nan outside 0..50"},
  {"guidance inf",
   [](auto& x) { x.guidance = std::numeric_limits<float>::infinity(); },
   ec::invalid_argument, "guidance inf outside 0..50"},
  {"guidance_rescale below", [](auto& x) { x.guidance_rescale = -0.5f; },
   ec::invalid_argument, "guidance_rescale -0.5 outside 0..1"},
  {"guidance_rescale nan",
   [](auto& x) {
     x.guidance_rescale = std::numeric_limits<float>::quiet_NaN();
   },
   ec::invalid_argument, "guidance_rescale nan outside 0..1"},
  {"eta above", [](auto& x) { x.eta = 1.5f; }, ec::invalid_argument,
   "eta 1.5 outside 0..1"},
  {"strength of nothing", [](auto& x) { x.strength = 0.5f; },
   ec::invalid_argument, "strength 0.5 needs an image"},
  {"strength of nothing at all",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.strength = 0.0f;
   },
   ec::invalid_argument, "strength 0 is not above 0 and at most 1"},
  {"rule of a strength of nothing", [](auto& x) { x.strength_rule = "webui"; },
   ec::invalid_argument, "strength_rule webui needs an image"},
  {"rule of a strength", [](auto& x) { x.strength_rule = "half"; },
   ec::invalid_argument, "strength_rule 'half' is not one of diffusers, webui"},
  {"strength nan",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.strength = std::numeric_limits<float>::quiet_NaN();
   },
   ec::invalid_argument, "strength nan is not above 0 and at most 1"},
  {"strength of no step",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.steps = 25;
     x.strength = 0.03f;
   },
   ec::invalid_argument,
   "strength 0.03 of 25 steps leaves none to run; at least 0.04 does"},
  {"strength of no step of the variant",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.variant = "card@4";
     x.strength = 0.2f;
   },
   ec::invalid_argument,
   "strength 0.2 of 4 steps leaves none to run; at least 0.25 does"},
  {"mask alone",
   [](auto& x) {
     x.mask = file_of({8, 8});
   },
   ec::invalid_argument, "mask needs an image"},
  {"image that is none",
   [](auto& x) {
     x.image = {'n', 'o'};
   },
   ec::bad_payload, "image: image of 2 bytes is neither PNG nor JPEG nor WebP"},
  {"mask that is none",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.mask = {'n'};
   },
   ec::bad_payload, "mask: image of 1 bytes is neither PNG nor JPEG nor WebP"},
  {"image without a header",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.image.resize(20);
   },
   ec::bad_payload, "image: png image cannot be read: no valid header"},
  {"image that would be a bomb",
   [](auto& x) {
     x.image = claim_of({60'000, 60'000});
   },
   ec::invalid_argument,
   "image 60000x60000 has 3600000000 pixels, outside 1..33554432"},
  {"mask that would be a bomb",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.mask = claim_of({1u << 31, 1});
   },
   ec::invalid_argument,
   "mask 2147483648x1 has 2147483648 pixels, outside 1..33554432"},
  {"image too large a file",
   [](auto& x) {
     x.image = file_of({8, 8});
     x.image.resize((12 << 20) + 1);
   },
   ec::invalid_argument, "image has 12582913 bytes, outside 1..12582912"},
  {"quality 0", [](auto& x) { x.quality = 0; }, ec::invalid_argument,
   "quality 0 outside 1..100"},
  {"quality 101", [](auto& x) { x.quality = 101; }, ec::invalid_argument,
   "quality 101 outside 1..100"},
  {"side off the grid",
   [](auto& x) {
     x.width = 100;
     x.height = 64;
   },
   ec::invalid_argument,
   "size 100x64 has a side that is not a multiple of 8 pixels"},
  {"one side alone", [](auto& x) { x.width = 64; }, ec::invalid_argument,
   "size 64x0 has a side outside 8..2048 pixels"},
  {"side too long",
   [](auto& x) {
     x.width = 64;
     x.height = 2056;
   },
   ec::invalid_argument, "size 64x2056 has a side outside 8..2048 pixels"},
  {"prompt too long", [](auto& x) { x.prompt.assign(128 * 1024 + 1, 'a'); },
   ec::invalid_argument, "prompt has 131073 bytes, outside 0..131072"},
  {"negative too long", [](auto& x) { x.negative.assign(128 * 1024 + 1, 'a'); },
   ec::invalid_argument, "negative has 131073 bytes, outside 0..131072"},
  {"prompt not UTF-8", [](auto& x) { x.prompt = "a\xff"; },
   ec::invalid_argument, "prompt is not UTF-8 at byte 1 of 2"},
  {"negative not UTF-8", [](auto& x) { x.negative = "\xc0\x80"; },
   ec::invalid_argument, "negative is not UTF-8 at byte 0 of 2"},
  {"model", [](auto& x) { x.model = "sdxl"; }, ec::not_found,
   "model not found: 'sdxl' (available: card, other)"},
  {"empty model", [](auto& x) { x.model = ""; }, ec::not_found,
   "model not found: '' (available: card, other)"},
  {"variant", [](auto& x) { x.variant = "card@5"; }, ec::not_found,
   "variant not found: 'card@5' (available: card@20, card@4, other@8/bf16)"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(door_refusals_test)

BOOST_AUTO_TEST_CASE(every_bad_field_is_named_with_value_and_range) {
  for (const auto& row : bad_rows) {
    BOOST_TEST_CONTEXT(row.name) {
      generation wanted;
      row.set(wanted);
      const auto got = enter(wanted);
      BOOST_TEST_REQUIRE(!got);
      BOOST_TEST((got.why().code == row.code));
      BOOST_TEST(got.why().text == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_no_slot_can_hold_is_refused) {
  auto small = two_variants();
  small.arena.image_slots = 2;
  generation wanted;
  wanted.image = file_of({64, 64});
  auto got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::invalid_argument));
  BOOST_TEST(
    got.why().text
    == "image needs 3 image slots, but only 2 exist (arena.image_slots)");
  small.arena.image_slots = 3;
  BOOST_TEST(enter(wanted, small).operator bool());

  // The image fits, but the source with its mask does not.
  small.arena.image_slot_bytes = 1024 << 10;
  wanted.width = wanted.height = 520;
  BOOST_TEST(enter(wanted, small).operator bool());
  wanted.mask = file_of({64, 64});
  got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST(got.why().text
             == "size 520x520 needs 1081624 bytes of image and mask, a slot "
                "holds 1048576 (arena.image_slot_kib)");
  wanted.width = wanted.height = 64;
  BOOST_TEST(enter(wanted, small).operator bool());
  wanted.mask.resize(1 << 20);
  got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST(got.why().text.starts_with("image and mask need 10"));
}

BOOST_AUTO_TEST_CASE(what_the_models_schedule_cannot_run_is_refused) {
  auto known = *runtime::know_variants(two_variants());
  // "other" is a model. The cards run every request.
  auto schedule = test::stable_diffusion();
  schedule.num_train_timesteps = 120;
  known.schedules[2] = std::make_shared<const gpu::scheduler_config>(schedule);
  const auto enter_at = [&](const generation& wanted) {
    return runtime::to_request(wanted, two_variants(), known,
                               core::request_id{9}, fresh_seed, entered);
  };
  const std::pair<std::function<void(generation&)>, std::string> rows[] = {
    {[](auto& x) { x.steps = 121; },
     "steps 121 outside 1..120 (num_train_timesteps)"},
    {[](auto& x) {
       x.sampler = "lcm";
       x.eta = 1;
     },
     "eta 1 outside 0..0 for sampler lcm"},
    {[](auto& x) {
       x.sampler = "lcm";
       x.karras = true;
     },
     "karras true: sampler lcm has no sigmas; euler, euler_ancestral, dpmpp_2m "
     "and flow_match_euler have"},
    {[](auto& x) { x.sampler = "flow_match_euler"; },
     "sampler flow_match_euler cannot run a model that does not predict flow"},
    {[](auto& x) {
       x.sampler = "lcm";
       x.steps = 51;
     },
     "steps 51 outside 1..50 (original_inference_steps 50 x strength 1)"},
    {[](auto& x) {
       x.sampler = "lcm";
       x.steps = 50;
       x.image = file_of({8, 8});
       x.strength = 0.5f;
     },
     "steps 50 outside 1..25 (original_inference_steps 50 x strength 0.5)"},
  };
  for (const auto& [set, text] : rows) {
    generation wanted;
    wanted.variant = "other@8/bf16";
    set(wanted);
    const auto got = enter_at(wanted);
    BOOST_TEST_REQUIRE(!got, text);
    BOOST_TEST((got.why().code == ec::invalid_argument));
    BOOST_TEST(got.why().text == text);
    wanted.variant = "card@20";
    BOOST_TEST(enter_at(wanted).operator bool(), text);
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_a_slot_is_refused_with_its_option) {
  auto small = two_variants();
  small.arena.state_slot_bytes = 4 << 10;
  generation wanted;
  wanted.width = wanted.height = 512;
  auto got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::invalid_argument));
  BOOST_TEST(got.why().text
             == "size 512x512 needs 65576 bytes of state, a slot holds 4096 "
                "(arena.state_slot_kib)");

  small = two_variants();
  small.arena.image_slot_bytes = 64 << 10;
  got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST(got.why().text
             == "size 512x512 needs up to 901120 bytes of image, a slot "
                "holds 65536 (arena.image_slot_kib)");
  // The model's own size is checked if the request names none.
  BOOST_TEST(!enter({}, small));
}

BOOST_AUTO_TEST_CASE(a_failure_keeps_the_name_of_its_code) {
  const auto x = runtime::to_failure(core::fail(ec::overloaded, "full"),
                                     std::chrono::seconds{2});
  BOOST_TEST(x.code == "overloaded");
  BOOST_TEST(x.text == "full");
  BOOST_TEST((x.retry_after == std::chrono::seconds{2}));
}

BOOST_AUTO_TEST_SUITE_END()
