// SPDX-License-Identifier: Apache-2.0

// The preprocess worker with requests that contain images.

#include "support/stage_orders.hpp"
#include <atelier/actors/source_files.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/image/native_fit.hpp>
#include <atelier/core/philox_noise.hpp>
#include <atelier/core/torch_noise.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>

namespace {

using namespace atelier;
using core::ec;
using core::extent;
using ipc::slot_kind;

constexpr ipc::slot_ref state_slot{1, 0, 1, slot_kind::state};
constexpr ipc::slot_ref files_slot{1, 0, 1, slot_kind::image};
constexpr ipc::slot_ref source_slot{1, 1, 1, slot_kind::image};

image::bitmap gradient(extent px, uint32_t channels = 3) {
  image::bitmap x{px, channels, {}};
  for (uint32_t row = 0; row < px.height; ++row)
    for (uint32_t column = 0; column < px.width; ++column)
      for (uint32_t c = 0; c < channels; ++c)
        x.bytes.push_back(static_cast<uint8_t>(5 * column + 7 * row + 60 * c));
  return x;
}

// Returns a mask that is white right of the middle.
image::bitmap half_white(extent px) {
  image::bitmap x{px, 3, {}};
  for (uint32_t row = 0; row < px.height; ++row)
    for (uint32_t column = 0; column < px.width; ++column)
      x.bytes.insert(x.bytes.end(), 3, column < px.width / 2 ? 0 : 255);
  return x;
}

std::vector<uint8_t> file_of(const image::bitmap& x) {
  const auto file = image::encode(x.view(), {});
  BOOST_REQUIRE(file);
  return *file;
}

struct fixture {
  fixture() {
    for (const auto& x : {state_slot, files_slot, source_slot})
      slots.open(x);
    work.who = {core::request_id{1}, 1};
    work.how.seed = 7;
    work.how.px = {32, 24};
    work.how.from_image = true;
    work.latent = {4, 4, 4};
    work.state = state_slot;
    work.files = files_slot;
    work.source = source_slot;
  }

  // Puts the files where the control process does, and prepares.
  actors::stage_done prepare(std::vector<uint8_t> image,
                             std::vector<uint8_t> mask = {}) {
    core::source_images x;
    x.image = std::move(image);
    x.mask = std::move(mask);
    BOOST_REQUIRE(actors::write_source_files(*slots.buffer(files_slot), x));
    BOOST_REQUIRE(slots.publish(files_slot, 1, actors::source_files_bytes(x)));
    return prepare_again(slots);
  }

  // This runs without a clock, because `most` may count how often it is polled.
  actors::stage_done prepare_again(ipc::slot_store& in) const {
    actors::standard_stages from;
    from.sources = most;
    return test::do_alone(work.order(), in, **actors::standard_pipeline(from));
  }

  gpu::source_parts source() {
    const auto bytes = slots.view(source_slot);
    BOOST_REQUIRE(bytes);
    const auto parts = gpu::parse_source(*bytes);
    BOOST_REQUIRE(parts);
    return *parts;
  }

  gpu::state_parts state() {
    BOOST_REQUIRE(slots.read(state_slot, state_bytes));
    const auto parts = gpu::parse_state(state_bytes);
    BOOST_REQUIRE(parts);
    return *parts;
  }

  ipc::heap_store slots{1, {1, 2, 0}, {1024, 8192, 0}};
  std::vector<std::byte> state_bytes;
  image::decode_limits most;
  test::prepare work;
};

bool equal(std::span<const uint8_t> a, const std::vector<uint8_t>& b) {
  return std::ranges::equal(a, b);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(preprocess_test, fixture)

BOOST_AUTO_TEST_CASE(an_image_of_the_size_asked_for_stays_as_it_is) {
  const auto image = gradient({32, 24});
  const auto reply = prepare(file_of(image));
  BOOST_TEST((reply.failure.code == ec::none));
  BOOST_TEST(reply.notes.empty());
  BOOST_TEST((source().px == extent{32, 24}));
  BOOST_TEST(equal(source().pixels, image.bytes));
  BOOST_TEST(source().mask.empty());
}

BOOST_AUTO_TEST_CASE(an_image_of_another_size_is_scaled) {
  const auto image = gradient({45, 50});
  BOOST_TEST((prepare(file_of(image)).failure.code == ec::none));
  BOOST_TEST(
    equal(source().pixels, image::resize(image.view(), {32, 24})->bytes));
}

BOOST_AUTO_TEST_CASE(transparent_parts_are_white) {
  const auto image = gradient({32, 24}, 4);
  BOOST_TEST((prepare(file_of(image)).failure.code == ec::none));
  BOOST_TEST(equal(source().pixels, image::opaque(image).bytes));
}

BOOST_AUTO_TEST_CASE(what_a_stage_drew_is_a_source_as_its_file_would_be) {
  // The source has the drawn size, another size, or is first scaled to the
  // requested size, as its file is.
  const std::pair<extent, extent> rows[] = {
    {{32, 24}, {}}, {{48, 24}, {}}, {{16, 16}, {32, 24}}, {{16, 8}, {20, 20}}};
  for (const auto& [px, scaled_to] : rows) {
    const auto anew = [&] {
      for (const auto& x : {state_slot, files_slot, source_slot})
        slots.open(x);
    };
    const auto drawn = gradient(px);
    const auto answered =
      scaled_to == extent{} ? drawn : *image::cover(drawn.view(), scaled_to);
    work.files = files_slot;
    work.drawn = {};
    anew();
    BOOST_TEST((prepare(file_of(answered)).failure.code == ec::none));
    const auto expected =
      std::vector(source().pixels.begin(), source().pixels.end());
    const auto noise =
      std::vector(state().latent.begin(), state().latent.end());
    anew();
    const auto into = *slots.buffer(files_slot);
    std::memcpy(into.data(), drawn.bytes.data(), drawn.bytes.size());
    BOOST_REQUIRE(slots.publish(files_slot, 1, drawn.bytes.size()));
    work.files = {};
    work.drawn = files_slot;
    work.drawn_px = px;
    work.drawn_scaled_to = scaled_to;
    BOOST_TEST((prepare_again(slots).failure.code == ec::none));
    BOOST_TEST(equal(source().pixels, expected));
    BOOST_TEST(source().mask.empty());
    BOOST_TEST(std::ranges::equal(state().latent, noise));
  }
}

BOOST_AUTO_TEST_CASE(a_source_of_another_size_is_scaled_to_the_models_own) {
  work.how.px = {16, 16};
  work.how.scaled_to = {32, 24};
  const auto image = gradient({32, 24});
  BOOST_TEST((prepare(file_of(image)).failure.code == ec::none));
  BOOST_TEST((source().px == extent{16, 16}));
  BOOST_TEST(
    equal(source().pixels, image::uncover(image.view(), {16, 16})->bytes));
  // If everything is drawn, nothing is kept.
  BOOST_TEST(source().kept.pixels.empty());
}

BOOST_AUTO_TEST_CASE(an_edit_keeps_its_source_in_the_size_asked_for) {
  work.how.px = {16, 16};
  work.how.scaled_to = {32, 24};
  const auto image = gradient({32, 24});
  const auto reply = prepare(file_of(image), file_of(half_white({32, 24})));
  BOOST_TEST((reply.failure.code == ec::none));
  const auto parts = source();
  BOOST_TEST((parts.kept.px == extent{32, 24}));
  BOOST_TEST(equal(parts.kept.pixels, image.bytes));
  for (size_t i = 0; i < parts.kept.mask.size(); ++i)
    BOOST_REQUIRE(parts.kept.mask[i] == (i % 32 < 16 ? 0 : 255));
  for (size_t i = 0; i < parts.mask.size(); ++i)
    BOOST_REQUIRE(parts.mask[i] == (i % 16 < 8 ? 0 : 255));
}

BOOST_AUTO_TEST_CASE(a_mask_is_scaled_and_then_divided_in_two) {
  const auto reply =
    prepare(file_of(gradient({32, 24})), file_of(half_white({64, 6})));
  BOOST_TEST((reply.failure.code == ec::none));
  const auto parts = source();
  BOOST_REQUIRE(parts.mask.size() == 32u * 24);
  for (size_t i = 0; i < parts.mask.size(); ++i)
    BOOST_REQUIRE(parts.mask[i] == (i % 32 < 16 ? 0 : 255));
  BOOST_TEST((reply.notes
              == std::vector<core::note>{
                {core::note_code::mask_scaled,
                 "the mask of 64x6 was scaled to the image's size, 32x24"}}));
}

BOOST_AUTO_TEST_CASE(a_mask_of_the_images_size_is_nothing_to_note) {
  const auto reply =
    prepare(file_of(gradient({64, 48})), file_of(half_white({64, 48})));
  BOOST_TEST((reply.failure.code == ec::none));
  BOOST_TEST(reply.notes.empty());
}

BOOST_AUTO_TEST_CASE(noise_comes_after_the_autoencoders_sample) {
  std::vector<float> drawn(128);
  core::torch_randn(7, drawn);
  BOOST_TEST((prepare(file_of(gradient({8, 8}))).failure.code == ec::none));
  BOOST_TEST(std::ranges::equal(state().latent, std::span(drawn).last(64)));
  BOOST_TEST(state().head.generator_counter == 128u);
}

BOOST_AUTO_TEST_CASE(an_edit_draws_a_sample_of_what_the_mask_leaves_too) {
  std::vector<float> drawn(128);
  core::philox_randn(7, drawn);
  work.how.noise = core::noise_source::philox;
  const auto image = file_of(gradient({8, 8}));
  BOOST_TEST((prepare(image, image).failure.code == ec::none));
  BOOST_TEST(std::ranges::equal(state().latent, std::span(drawn).last(64)));
  BOOST_TEST(state().head.generator_counter == 192u);
}

BOOST_AUTO_TEST_CASE(an_autoencoder_without_a_distribution_draws_nothing) {
  std::vector<float> drawn(64);
  core::torch_randn(7, drawn);
  work.how.samples_source = false;
  const auto image = file_of(gradient({8, 8}));
  for (const auto& mask : {std::vector<uint8_t>{}, image}) {
    for (const auto& slot : {state_slot, files_slot, source_slot})
      slots.open(slot);
    BOOST_TEST((prepare(image, mask).failure.code == ec::none));
    BOOST_TEST(std::ranges::equal(state().latent, drawn));
    BOOST_TEST(state().head.generator_counter == 64u);
  }
}

BOOST_AUTO_TEST_CASE(without_a_source_noise_is_the_first_drawing) {
  std::vector<float> drawn(64);
  core::torch_randn(7, drawn);
  work.files = work.source = {};
  BOOST_TEST((prepare_again(slots).failure.code == ec::none));
  BOOST_TEST(std::ranges::equal(state().latent, drawn));
  BOOST_TEST(state().head.generator_counter == 64u);
  // These shapes are not whole chunks of 16, so their draws have these numbers
  // of words.
  for (const auto& [shape, words] :
       {std::pair{core::latent_shape{1, 5, 5}, 41u}, {{1, 3, 3}, 20u}}) {
    slots.open(state_slot);
    work.latent = shape;
    BOOST_TEST((prepare_again(slots).failure.code == ec::none));
    BOOST_TEST(state().head.generator_counter == words);
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_image_is_told_by_its_field) {
  auto image = file_of(gradient({32, 24}));
  const auto mask = image;
  auto reply = prepare({'n', 'o'});
  BOOST_TEST((reply.failure.code == ec::bad_payload));
  BOOST_TEST(reply.failure.text
             == "image: image of 2 bytes is neither PNG nor JPEG nor WebP");
  BOOST_TEST(*slots.published(source_slot) == 0u);
  BOOST_TEST(*slots.published(state_slot) == 0u);
  // Its header is valid, its pixels are not.
  slots.open(files_slot);
  image.resize(image.size() / 2);
  reply = prepare(mask, image);
  BOOST_TEST((reply.failure.code == ec::bad_payload));
  BOOST_TEST(reply.failure.text.starts_with("mask: png image"));
}

BOOST_AUTO_TEST_CASE(more_pixels_than_allowed_are_not_decoded) {
  most.picture_px = 32 * 24;
  BOOST_TEST((prepare(file_of(gradient({32, 24}))).failure.code == ec::none));
  for (const auto& x : {state_slot, files_slot, source_slot})
    slots.open(x);
  const auto reply = prepare(file_of(gradient({32, 25})));
  BOOST_TEST((reply.failure.code == ec::bad_payload));
  BOOST_TEST(reply.failure.text.find("800 pixels, outside 1..768")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_source_that_does_not_fit_its_slot_is_an_error) {
  work.how.px = {64, 64};
  const auto reply = prepare(file_of(gradient({8, 8})));
  BOOST_TEST((reply.failure.code == ec::out_of_resources));
}

BOOST_AUTO_TEST_CASE(what_takes_too_long_fails_with_field_and_option) {
  const auto image = file_of(gradient({64, 48}));
  // The work stops at the first poll, or during scaling, after the decoder's
  // last poll.
  for (const int patience : {0, 3}) {
    int asked = 0;
    fixture fresh;
    fresh.most.stop = [&] { return ++asked > patience; };
    const auto reply = fresh.prepare(image);
    BOOST_TEST((reply.failure.code == ec::bad_payload));
    BOOST_TEST(reply.failure.text.starts_with("image: "));
    BOOST_TEST(reply.failure.text.ends_with("(limits.decode_ms)"));
  }
  // The mask may use the time that the image left.
  int asked = 0;
  most.stop = [&] { return ++asked > 60; };
  const auto reply =
    prepare(file_of(gradient({32, 24})), file_of(half_white({640, 480})));
  BOOST_TEST((reply.failure.code == ec::bad_payload));
  BOOST_TEST(reply.failure.text.starts_with("mask: "));
}

BOOST_AUTO_TEST_CASE(files_that_are_not_there_are_an_error) {
  const auto reply = prepare_again(slots);
  BOOST_TEST((reply.failure.code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_store_without_bytes_only_counts_sources) {
  ipc::heap_store bare{1, {1, 2, 0}};
  for (const auto& x : {state_slot, files_slot, source_slot})
    bare.open(x);
  BOOST_REQUIRE(bare.publish(files_slot, 1, 0));
  BOOST_TEST((prepare_again(bare).failure.code == ec::none));
  BOOST_TEST(*bare.published(source_slot) == 1u);
  BOOST_TEST(*bare.published(state_slot) == 1u);
}

BOOST_AUTO_TEST_CASE(files_come_out_as_they_went_in) {
  core::source_images x;
  x.image = {1, 2, 3};
  x.mask = {4, 5};
  std::vector<std::byte> bytes(actors::source_files_bytes(x));
  BOOST_REQUIRE(actors::write_source_files(bytes, x));
  const auto files = actors::parse_source_files(bytes);
  BOOST_REQUIRE(files);
  BOOST_TEST(equal(files->image, x.image));
  BOOST_TEST(equal(files->mask, x.mask));
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto cut = actors::parse_source_files(std::span(bytes).first(n));
    BOOST_REQUIRE(!cut);
    BOOST_TEST((cut.why().code == ec::bad_payload));
  }
  bytes[0] ^= std::byte{1};
  BOOST_TEST(!actors::parse_source_files(bytes));
  BOOST_TEST(
    (actors::write_source_files(std::span(bytes).first(8), x).why().code
     == ec::out_of_resources));
}

BOOST_AUTO_TEST_SUITE_END()
