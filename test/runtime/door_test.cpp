// SPDX-License-Identifier: Apache-2.0
#include "door_rig.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <memory>
#include <vector>

using namespace atelier;
using test::claim_of;
using test::enter;
using test::entered;
using test::file_of;
using test::fresh_seed;
using test::two_variants;

BOOST_AUTO_TEST_SUITE(door_test)

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
  BOOST_TEST((got->arrived == entered));
  BOOST_TEST(!got->wants_progress);
  BOOST_TEST((got->tenant == core::tenant_id{}));
}

BOOST_AUTO_TEST_CASE(who_asks_is_a_tenant_by_its_name) {
  const auto tenant = [](const std::string& name) {
    generation wanted;
    wanted.tenant = name;
    return enter(wanted)->tenant;
  };
  BOOST_TEST((tenant("ann") != core::tenant_id{}));
  BOOST_TEST((tenant("ann") == tenant("ann")));
  BOOST_TEST((tenant("ann") != tenant("bob")));
}

BOOST_AUTO_TEST_CASE(syntax_that_has_no_effect_is_noted) {
  generation wanted;
  wanted.prompt = "a (red:1.3) circle (round) <lora:x:1>";
  wanted.negative = "[blue]";
  wanted.notes = {{"field_ignored", "style has no effect"}};
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  // The prompt is drawn as it is written.
  BOOST_TEST(got->text.positive == wanted.prompt);
  BOOST_TEST_REQUIRE(got->notes.size() == 4u);
  BOOST_TEST(
    (got->notes[0]
     == core::note{core::note_code::field_ignored, "style has no effect"}));
  BOOST_TEST((got->notes[1].code == core::note_code::prompt_syntax));
  BOOST_TEST(got->notes[1].text
             == "prompt: '(red:1.3)' is read as plain text; prompt_syntax "
                "'webui' reads it as a weight of words");
  BOOST_TEST(got->notes[2].text
             == "prompt: '<lora:x:1>' is read as plain text, because a network "
                "named in the prompt is not supported; write nothing instead");
  BOOST_TEST(got->notes[3].text.starts_with("negative prompt: '[blue]'"));
}

BOOST_AUTO_TEST_CASE(weights_are_read_where_they_are_asked_for) {
  generation wanted;
  wanted.prompt = "a (red:1.3) [circle] BREAK [star|ring]";
  wanted.prompt_syntax = "webui";
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(bool{got});
  BOOST_TEST((got->syntax == core::prompt_grammar::webui));
  BOOST_TEST(got->text.positive == wanted.prompt);
  BOOST_TEST_REQUIRE(got->notes.size() == 1u);
  BOOST_TEST(got->notes[0].text
             == "prompt: '[star|ring]' is read as 'star', because alternation "
                "of words is not supported");
  // The rule alone says that there are weights.
  wanted.prompt_syntax.reset();
  wanted.emphasis = "off";
  const auto literal = enter(wanted);
  BOOST_TEST_REQUIRE(bool{literal});
  BOOST_TEST((literal->syntax == core::prompt_grammar::webui));
  BOOST_TEST(literal->notes.empty());
}

BOOST_AUTO_TEST_CASE(prompts_that_cannot_be_weighed_are_refused) {
  const auto refused = [](const generation& wanted) {
    const auto got = enter(wanted);
    return got ? std::string{} : got.why().text;
  };
  generation wanted;
  wanted.prompt_syntax = "webui";
  wanted.prompt = "a (red:1000) circle";
  BOOST_TEST(refused(wanted)
             == "prompt: the weight 1000 of 'red' is outside -100..100");
  wanted.prompt = "<lora:x:1>";
  BOOST_TEST(refused(wanted)
             == "prompt: '<lora:x:1>' names a network, which is not supported");
  wanted.prompt = "";
  wanted.negative = "(x:1.2.3)";
  BOOST_TEST(refused(wanted)
             == "negative: the weight '1.2.3' is not a number from -100 to "
                "100");
  wanted.prompt_syntax = "plain";
  BOOST_TEST(refused(wanted).empty());
  wanted.emphasis = "no_norm";
  BOOST_TEST(refused(wanted)
             == "emphasis 'no_norm' has no effect with prompt_syntax 'plain'");
}

BOOST_AUTO_TEST_CASE(notes_of_a_host_are_checked) {
  const auto refused = [](std::vector<note> notes) {
    generation wanted;
    wanted.notes = std::move(notes);
    const auto got = enter(wanted);
    return got ? std::string{} : got.why().text;
  };
  BOOST_TEST(refused({{"nonsense", ""}})
             == "notes: 'nonsense' is not a note code");
  BOOST_TEST(refused({{"guidance", std::string(513, 'x')}})
             == "notes: a text of 513 bytes outside 0..512");
  BOOST_TEST(refused(std::vector<note>(17, {"guidance", ""}))
             == "notes: 17 outside 0..16");
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
  BOOST_TEST((got->fixed.sampler == core::sampler::lcm));
  BOOST_TEST((got->fixed.variant == "card@4"));
  BOOST_TEST((got->output == core::encoding{core::image_format::webp, 7}));
  BOOST_TEST((got->prio == core::priority::high));
  BOOST_TEST((got->noise == core::noise_source::philox));
  BOOST_TEST((got->deadline == entered + std::chrono::milliseconds{250}));
  BOOST_TEST(got->deterministic);
}

BOOST_AUTO_TEST_CASE(a_chosen_seed_is_not_read_from_the_cache) {
  using core::cache_use;
  const auto use = [](const generation& wanted) {
    const auto got = enter(wanted);
    BOOST_TEST_REQUIRE(got.operator bool());
    return got->cache;
  };
  generation wanted;
  BOOST_TEST((use(wanted) == cache_use::on));
  wanted.deterministic = true;
  BOOST_TEST((use(wanted) == cache_use::write));
  wanted.deterministic = false;
  wanted.seed = 4;
  BOOST_TEST((use(wanted) == cache_use::write));
  wanted.seed_drawn = true;
  BOOST_TEST((use(wanted) == cache_use::on));
  wanted.seed_drawn = false;
  for (const auto name : core::cache_use_names) {
    wanted.cache = name;
    BOOST_TEST((use(wanted) == core::parse_name<cache_use>(name)));
  }
}

BOOST_AUTO_TEST_CASE(a_client_may_only_raise_the_threshold_of_similarity) {
  const auto within = two_variants();
  auto known = *runtime::know_variants(within);
  generation wanted;
  const auto got = [&](float similarity) {
    wanted.cache_similarity = similarity;
    return runtime::to_request(wanted, within, known, core::request_id{9},
                               fresh_seed, entered);
  };
  // A profile without thresholds lets nothing be reused anyway.
  BOOST_TEST(got(0.1f)->cache_similarity == 0.1f);
  known.costs.reuse.emplace();
  known.costs.reuse->latents = {{10, 0.7}, {20, 0.9}};
  BOOST_TEST(got(0.7f)->cache_similarity == 0.7f);
  BOOST_TEST(got(1)->cache_similarity == 1);
  for (const float outside : {0.0f, 0.69f}) {
    const auto no = got(outside);
    BOOST_TEST_REQUIRE(!no);
    BOOST_TEST((no.why().code == core::ec::invalid_argument));
    BOOST_TEST(no.why().text.find("outside 0.7..1") != std::string::npos,
               no.why().text);
  }
  BOOST_TEST(got(1.5f).why().text.starts_with("cache_similarity 1.5 "));
  wanted.cache = "write";
  BOOST_TEST(got(0.8f).why().text.find("has no effect with cache 'write'")
             != std::string::npos);
  wanted.cache = "read";
  BOOST_TEST(bool{got(0.8f)});
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

BOOST_AUTO_TEST_CASE(variants_that_cannot_run_a_value_are_listed) {
  const auto within = two_variants();
  auto known = *runtime::know_variants(within);
  // The encoder of the second model is shallow, and its sampler has neither a
  // spacing to change nor noise to add.
  known.text_layers = {12, 12, 4};
  const auto config = [](core::sampler with) {
    auto out = std::make_shared<gpu::scheduler_config>();
    out->sampler = with;
    return out;
  };
  known.schedules = {config(core::sampler::ddim), config(core::sampler::ddim),
                     config(core::sampler::lcm)};
  known.costs.variants[2].sampler = core::sampler::lcm;
  const auto unable = [&](const generation& wanted) {
    const auto got = runtime::to_request(
      wanted, within, known, core::request_id{9}, fresh_seed, entered);
    BOOST_TEST_REQUIRE(got.operator bool());
    return got->unable;
  };
  const std::vector<core::variant_id> other{core::variant_id{2}};
  BOOST_TEST(unable({}).empty());
  generation wanted;
  wanted.spacing = "trailing";
  BOOST_TEST((unable(wanted) == other));
  wanted.sampler = "euler";
  BOOST_TEST(unable(wanted).empty());
  wanted = {};
  wanted.clip_skip = 4;
  BOOST_TEST(unable(wanted).empty());
  wanted.clip_skip = 5;
  BOOST_TEST((unable(wanted) == other));
  wanted = {};
  wanted.eta = 0.5f;
  BOOST_TEST((unable(wanted) == other));
  // A named variant is checked itself.
  wanted = {};
  wanted.clip_skip = 5;
  wanted.variant = "card@4";
  BOOST_TEST(unable(wanted).empty());
  wanted.variant = "other@8/bf16";
  const auto refused = runtime::to_request(
    wanted, within, known, core::request_id{9}, fresh_seed, entered);
  BOOST_TEST_REQUIRE(!refused.operator bool());
  BOOST_TEST(refused.why().text
             == "clip_skip 5 outside 1..4, the layers of the model's text "
                "encoder");
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
  // The sizes are within the limits, in the image's proportions.
  BOOST_TEST((size_of({4096, 4096}) == core::extent{512, 512}));
  BOOST_TEST((size_of({2048, 512}) == core::extent{1024, 256}));
  BOOST_TEST((size_of({10, 30'000}) == core::extent{8, 1024}));
  generation wanted;
  wanted.image = file_of({71, 55});
  wanted.width = 128;
  wanted.height = 32;
  BOOST_TEST((enter(wanted)->px == core::extent{128, 32}));
}

BOOST_AUTO_TEST_CASE(a_image_that_lies_on_its_side_is_stood_up_first) {
  generation wanted;
  // The chunk after the header is EXIF with orientation 6.
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

BOOST_AUTO_TEST_CASE(a_deadline_beyond_the_end_of_time_is_none) {
  generation wanted;
  wanted.deadline = std::chrono::nanoseconds::max();
  const auto got = enter(wanted);
  BOOST_TEST_REQUIRE(got.operator bool());
  BOOST_TEST((got->deadline == core::never));
}

BOOST_AUTO_TEST_SUITE_END()
