// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>
#include <atelier/image/codec.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <boost/test/unit_test.hpp>
#include <gpu/samplers/configs.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace atelier;
using core::ec;

namespace {

const core::time_point now{std::chrono::seconds{100}};
constexpr uint64_t fresh_seed = 77;

config::settings two_variants() {
  config::settings x;
  x.devices[0].variants = {"card@20", "card@4", "other@8/bf16"};
  return x;
}

core::result<core::request> enter(
  const generation& wanted, const config::settings& within = two_variants()) {
  return runtime::to_request(wanted, within, *runtime::know_variants(within),
                             core::request_id{9}, fresh_seed, now);
}

std::vector<uint8_t> file_of(core::extent px, uint32_t channels = 3) {
  const std::vector<uint8_t> pixels(image::bytes_of(px, channels), 90);
  return *image::encode({px, channels, pixels}, {});
}

// The head of a PNG that claims to be of that size.
std::vector<uint8_t> claim_of(core::extent px) {
  auto file = file_of({8, 8});
  for (size_t i = 0; i < 4; ++i) {
    file[16 + i] = static_cast<uint8_t>(px.width >> (24 - 8 * i));
    file[20 + i] = static_cast<uint8_t>(px.height >> (24 - 8 * i));
  }
  return file;
}

struct bad_row {
  const char* name;
  std::function<void(generation&)> set;
  ec code;
  std::string text;
};

const std::vector<bad_row> bad_rows = {
  {"format", [](auto& x) { x.format = "gif"; }, ec::invalid_argument,
   "format 'gif' is none of png, jpeg, webp"},
  {"empty format", [](auto& x) { x.format = ""; }, ec::invalid_argument,
   "format '' is none of png, jpeg, webp"},
  {"priority", [](auto& x) { x.priority = "urgent"; }, ec::invalid_argument,
   "priority 'urgent' is none of low, normal, high"},
  {"noise", [](auto& x) { x.noise = "dice"; }, ec::invalid_argument,
   "noise 'dice' is none of torch_cpu, philox"},
  {"sampler", [](auto& x) { x.sampler = "heun"; }, ec::invalid_argument,
   "sampler 'heun' is none of ddim, euler, euler_ancestral, dpmpp_2m, lcm, "
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
   "model 'sdxl' is not there; there are card, other"},
  {"empty model", [](auto& x) { x.model = ""; }, ec::not_found,
   "model '' is not there; there are card, other"},
  {"variant", [](auto& x) { x.variant = "card@5"; }, ec::not_found,
   "variant 'card@5' is not there; there are card@20, card@4, other@8/bf16"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(door_test)

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

BOOST_AUTO_TEST_CASE(limits_themselves_are_allowed) {
  generation wanted;
  wanted.prompt.assign(128 * 1024, 'a');
  wanted.negative.assign(128 * 1024, 'b');
  wanted.steps = 150;
  wanted.guidance = 50;
  wanted.quality = 1;
  wanted.width = wanted.height = 2048;
  BOOST_TEST(enter(wanted).operator bool());
  wanted.width = wanted.height = 8;
  wanted.steps = 1;
  wanted.guidance = 0;
  wanted.quality = 100;
  BOOST_TEST(enter(wanted).operator bool());
}

BOOST_AUTO_TEST_CASE(what_is_left_out_stays_open) {
  const auto got = enter({});
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST(got->id.value == 9u);
  BOOST_TEST(got->seed == fresh_seed);
  BOOST_TEST((got->px == core::extent{}));
  BOOST_TEST(!got->fixed.steps);
  BOOST_TEST(!got->fixed.variant);
  BOOST_TEST((got->deadline == core::never));
  BOOST_TEST((got->arrived == now));
  BOOST_TEST(!got->wants_progress);
}

BOOST_AUTO_TEST_CASE(what_is_said_is_taken_over) {
  generation wanted;
  wanted.prompt = "a";
  wanted.negative = "b";
  wanted.seed = std::numeric_limits<uint64_t>::max();
  wanted.width = 64;
  wanted.height = 128;
  wanted.steps = 3;
  wanted.guidance = 2.5f;
  wanted.sampler = "lcm";
  wanted.model = "card";
  wanted.variant = "card@4";
  wanted.format = "webp";
  wanted.quality = 7;
  wanted.priority = "high";
  wanted.noise = "philox";
  wanted.deadline = std::chrono::milliseconds{250};
  wanted.deterministic = true;
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->text == core::prompt_pair{"a", "b"}));
  BOOST_TEST(got->seed == std::numeric_limits<uint64_t>::max());
  BOOST_TEST((got->px == core::extent{64, 128}));
  BOOST_TEST((got->fixed.steps == 3u));
  BOOST_TEST((got->fixed.guidance == 2.5f));
  BOOST_TEST((got->fixed.with == core::sampler::lcm));
  BOOST_TEST((got->fixed.variant == "card@4"));
  BOOST_TEST((got->output == core::encoding{core::image_format::webp, 7}));
  BOOST_TEST((got->prio == core::priority::high));
  BOOST_TEST((got->noise == core::noise_source::philox));
  BOOST_TEST((got->deadline == now + std::chrono::milliseconds{250}));
  BOOST_TEST(got->deterministic);
}

BOOST_AUTO_TEST_CASE(options_of_sampling_are_taken_over) {
  generation wanted;
  wanted.guidance_rescale = 0.7f;
  wanted.eta = 1;
  wanted.karras = false;
  wanted.image = file_of({32, 16});
  wanted.strength = 0.25f;
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->fixed.guidance_rescale == 0.7f));
  BOOST_TEST((got->fixed.eta == 1.0f));
  BOOST_TEST((got->fixed.karras == false));
  BOOST_TEST((got->fixed.strength == 0.25f));
}

BOOST_AUTO_TEST_CASE(an_image_makes_it_start_there_and_a_mask_an_edit) {
  generation wanted;
  wanted.image = file_of({32, 16});
  auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->kind == core::request_kind::generate));
  BOOST_TEST_REQUIRE(got->source);
  BOOST_TEST(got->source->image == wanted.image);
  BOOST_TEST((got->source->image_px == core::extent{32, 16}));
  BOOST_TEST(got->source->mask.empty());
  wanted.mask = file_of({5, 6}, 4);
  got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->kind == core::request_kind::edit));
  BOOST_TEST((got->source->mask_px == core::extent{5, 6}));
  BOOST_TEST(!enter({})->source);
}

BOOST_AUTO_TEST_CASE(without_a_size_it_is_the_images_own_on_the_grid) {
  const auto size_of = [](core::extent px) {
    generation wanted;
    wanted.image = claim_of(px);
    auto within = two_variants();
    within.limits.picture_px = 512 * 512;
    within.limits.side_px = 1024;
    const auto got = enter(wanted, within);
    BOOST_TEST_REQUIRE(got.operator bool());
    return got->px;
  };
  BOOST_TEST((size_of({64, 48}) == core::extent{64, 48}));
  BOOST_TEST((size_of({71, 55}) == core::extent{64, 48}));
  BOOST_TEST((size_of({3, 7}) == core::extent{8, 8}));
  // Within the limits, in its proportions.
  BOOST_TEST((size_of({4096, 4096}) == core::extent{512, 512}));
  BOOST_TEST((size_of({2048, 512}) == core::extent{1024, 256}));
  BOOST_TEST((size_of({10, 30'000}) == core::extent{8, 1024}));
  generation wanted;
  wanted.image = file_of({71, 55});
  wanted.width = 128;
  wanted.height = 32;
  BOOST_TEST((enter(wanted)->px == core::extent{128, 32}));
}

BOOST_AUTO_TEST_CASE(a_picture_that_lies_on_its_side_is_stood_up_first) {
  generation wanted;
  // EXIF in a chunk behind the header: orientation 6.
  auto file = file_of({64, 16});
  const std::vector<uint8_t> chunk = {
    0,    0, 0, 26, 'e', 'X', 'I', 'f', 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, 1,
    0x12, 0, 3, 0,  0,   0,   1,   0,   6,   0,   0, 0,   0, 0, 0, 0, 0, 0, 0};
  file.insert(file.begin() + 33, chunk.begin(), chunk.end());
  wanted.image = file;
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->px == core::extent{16, 64}));
}

BOOST_AUTO_TEST_CASE(a_source_that_no_slot_can_hold_is_refused) {
  auto small = two_variants();
  small.arena.image_slots = 2;
  generation wanted;
  wanted.image = file_of({64, 64});
  auto got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST((got.why().code == ec::invalid_argument));
  BOOST_TEST(got.why().text
             == "image needs 3 image slots, there are 2 (arena.image_slots)");
  small.arena.image_slots = 3;
  BOOST_TEST(enter(wanted, small).operator bool());

  // The picture fits, the source with its mask does not.
  small.arena.image_slot_bytes = 1024 << 10;
  wanted.width = wanted.height = 520;
  BOOST_TEST(enter(wanted, small).operator bool());
  wanted.mask = file_of({64, 64});
  got = enter(wanted, small);
  BOOST_TEST_REQUIRE(!got);
  BOOST_TEST(got.why().text
             == "size 520x520 needs 1081616 bytes of image and mask, a slot "
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
  // "other" is a model, the cards run whatever is asked for.
  auto schedule = test::stable_diffusion();
  schedule.num_train_timesteps = 120;
  known.schedules[2] = std::make_shared<const gpu::scheduler_config>(schedule);
  const auto enter_at = [&](const generation& wanted) {
    return runtime::to_request(wanted, two_variants(), known,
                               core::request_id{9}, fresh_seed, now);
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
       x.sampler = "euler_ancestral";
       x.karras = true;
     },
     "karras true: sampler euler_ancestral has no sigmas; euler, dpmpp_2m and "
     "flow_match_euler have"},
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

BOOST_AUTO_TEST_CASE(a_deadline_beyond_the_end_of_time_is_none) {
  generation wanted;
  wanted.deadline = std::chrono::nanoseconds::max();
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->deadline == core::never));
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
             == "size 512x512 needs up to 901120 bytes of picture, a slot "
                "holds 65536 (arena.image_slot_kib)");
  // The model's own size is looked at where none is named.
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
