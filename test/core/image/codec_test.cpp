// SPDX-License-Identifier: Apache-2.0
#include "core/image/sample.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/core/sha256.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using atelier::core::ec;
using atelier::core::encoding;
using atelier::core::extent;
using atelier::core::image_format;
using atelier::core::philox;
using atelier::core::purpose;

namespace {

constexpr image_format formats[] = {image_format::png, image_format::jpeg,
                                    image_format::webp};

const std::string plain_text = "a red cube\nSteps: 20, Seed: 1, Size: 8x8";

bitmap round_trip(const bitmap& original, const encoding& how) {
  const auto file = encode(original.view(), how, plain_text);
  BOOST_REQUIRE(file);
  BOOST_TEST((recognise(*file) == how.format));
  BOOST_TEST((read_text(*file) == plain_text));
  auto decoded = decode(*file);
  BOOST_REQUIRE(decoded);
  BOOST_TEST((decoded->px == original.px));
  return *std::move(decoded);
}

} // namespace

BOOST_AUTO_TEST_SUITE(codec_test)

BOOST_AUTO_TEST_CASE(lossless_formats_keep_every_bit) {
  philox random{atelier::test::seed(), purpose::test};
  const encoding lossless[] = {{image_format::png, 95},
                               {image_format::webp, 100}};
  for (const auto& how : lossless)
    for (size_t i = 0; i < atelier::test::scaled(1000); ++i)
      for (uint32_t channels : {3u, 4u}) {
        const extent px{static_cast<uint32_t>(1 + random.below(70)),
                        static_cast<uint32_t>(1 + random.below(70))};
        for (const auto& original :
             {test::noise(px, channels, random), test::smooth(px, channels)})
          BOOST_TEST((round_trip(original, how) == original));
      }
}

BOOST_AUTO_TEST_CASE(the_header_tells_format_and_size_without_the_pixels) {
  for (image_format format : formats)
    for (const auto& text : {std::string{}, plain_text}) {
      auto file = encode(test::smooth({70, 33}).view(), {format, 90}, text);
      BOOST_REQUIRE(file);
      auto head = read_header(*file);
      BOOST_REQUIRE(head);
      BOOST_TEST((*head == header{format, {70, 33}, 1}));
      BOOST_TEST((head->upright_px() == extent{70, 33}));
      // Most of the pixels are missing.
      file->resize(file->size() * 3 / 5);
      head = read_header(*file);
      BOOST_REQUIRE(head);
      BOOST_TEST((head->px == extent{70, 33}));
      file->resize(20);
      head = read_header(*file);
      BOOST_REQUIRE(!head);
      BOOST_TEST((head.why().code == ec::bad_payload));
    }
  const std::vector<uint8_t> text{'t', 'e', 'x', 't'};
  const auto head = read_header(text);
  BOOST_REQUIRE(!head);
  BOOST_TEST(head.why().text
             == "image of 4 bytes is neither PNG nor JPEG nor WebP");
}

BOOST_AUTO_TEST_CASE(lossy_formats_stay_near) {
  for (image_format format : {image_format::jpeg, image_format::webp})
    for (const auto& [quality, least_db] :
         {std::pair{30u, 30.0}, {85u, 36.0}, {95u, 40.0}}) {
      const auto original = test::smooth({160, 96});
      BOOST_TEST(test::psnr(round_trip(original, {format, quality}), original)
                 > least_db);
    }
}

BOOST_AUTO_TEST_CASE(transparency_survives_where_the_format_has_it) {
  const auto original = test::smooth({64, 48}, 4);
  BOOST_TEST(round_trip(original, {image_format::webp, 90}).channels == 4u);
  const auto opaque = round_trip(original, {image_format::jpeg, 95});
  BOOST_TEST(opaque.channels == 3u);
  auto colours = test::smooth({64, 48}, 3);
  BOOST_TEST(test::psnr(opaque, colours) > 35);
}

BOOST_AUTO_TEST_CASE(transparency_can_be_laid_on_white) {
  const auto original = test::smooth({33, 21}, 4);
  for (const encoding how :
       {encoding{image_format::png}, encoding{image_format::webp, 90},
        encoding{image_format::webp, 100}}) {
    const auto file = encode(original.view(), how);
    BOOST_REQUIRE(file);
    const auto whole = decode(*file);
    const auto colours = decode_colours(*file);
    BOOST_REQUIRE(whole);
    BOOST_REQUIRE(colours);
    BOOST_TEST((*colours == opaque(*whole)));
  }
}

BOOST_AUTO_TEST_CASE(a_header_tells_whether_pixels_may_be_transparent) {
  for (const auto format : {image_format::png, image_format::webp})
    for (const uint32_t channels : {3u, 4u}) {
      const auto file =
        encode(test::smooth({33, 21}, channels).view(), {format, 90});
      BOOST_REQUIRE(file);
      BOOST_TEST(may_be_transparent(*file) == (channels == 4));
    }
  const auto jpeg =
    encode(test::smooth({8, 8}).view(), {image_format::jpeg, 90});
  BOOST_TEST(!may_be_transparent(*jpeg));
  BOOST_TEST(!may_be_transparent({}));
}

BOOST_AUTO_TEST_CASE(same_pixels_give_same_bytes) {
  const auto original = test::smooth({128, 128});
  for (image_format format : formats)
    for (uint32_t quality : {80u, 95u, 100u}) {
      const auto first = encode(original.view(), {format, quality}, "text");
      const auto second = encode(original.view(), {format, quality}, "text");
      BOOST_REQUIRE((first && second));
      BOOST_TEST((*first == *second));
    }
}

BOOST_AUTO_TEST_CASE(one_pixel_is_a_image) {
  philox random{1, purpose::test};
  const auto original = test::noise({1, 1}, 3, random);
  for (image_format format : formats)
    round_trip(original, {format, 95});
}

BOOST_AUTO_TEST_CASE(without_text_there_is_none) {
  const auto original = test::smooth({16, 16});
  for (image_format format : formats) {
    const auto file = encode(original.view(), {format, 90});
    BOOST_REQUIRE(file);
    BOOST_TEST(!read_text(*file));
  }
}

BOOST_AUTO_TEST_CASE(text_of_every_script_and_length_survives) {
  const auto original = test::smooth({16, 16});
  const std::string texts[] = {"plain",
                               "gr\xC3\xBC\xC3\x9F dich",
                               "\xE6\xB0\xB4\xE5\xA2\xA8",
                               "\xF0\x9F\x8E\xA8 and \xF0\x9F\x96\x8C",
                               std::string(32'000, 'x'),
                               std::string(33'000, 'y'),
                               std::string(131'072, 'z') + "\xE2\x82\xAC"};
  for (image_format format : formats)
    for (uint32_t quality : {90u, 100u})
      for (const auto& text : texts) {
        const auto file = encode(original.view(), {format, quality}, text);
        BOOST_REQUIRE(file);
        const auto found = read_text(*file);
        BOOST_REQUIRE(found.has_value());
        BOOST_TEST((*found == text));
        BOOST_TEST(static_cast<bool>(decode(*file)));
      }
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_named) {
  struct wrong {
    pixel_view pixels;
    encoding how;
    std::string_view text;
    std::string_view why;
  };

  const std::vector<uint8_t> bytes(3 * 8 * 8);
  const wrong cases[] = {
    {{{0, 8}, 3, {}},
     {},
     "",
     "image 0x8 has a side outside 1..1000000 pixels for png"},
    {{{8, 8}, 3, {}}, {}, "", "image 8x8 has 0 bytes, not 192"},
    {{{8, 8}, 1, bytes}, {}, "", "image has 1 channels, not 3 or 4"},
    {{{16384, 1}, 3, bytes},
     {image_format::webp, 90},
     "",
     "image 16384x1 has a side outside 1..16383 pixels for webp"},
    {{{8, 8}, 3, bytes},
     {image_format::jpeg, 0},
     "",
     "quality 0 outside 1..100"},
    {{{8, 8}, 3, bytes},
     {image_format::jpeg, 101},
     "",
     "quality 101 outside 1..100"},
    {{{8, 8}, 3, bytes}, {}, "ab\xFF", "parameters are not UTF-8 at byte 2"},
  };
  for (const auto& [pixels, how, text, why] : cases) {
    const auto file = encode(pixels, how, text);
    BOOST_REQUIRE(!file);
    BOOST_TEST((file.why().code == ec::invalid_argument));
    BOOST_TEST(file.why().text == why);
  }
}

BOOST_AUTO_TEST_CASE(sizes_are_limited_before_memory_is_taken) {
  const auto original = test::smooth({96, 64});
  for (image_format format : formats) {
    const auto file = encode(original.view(), {format, 90});
    BOOST_REQUIRE(file);
    const auto name = std::string{to_string(format)};
    BOOST_TEST(static_cast<bool>(decode(*file, {96, 96 * 64})));
    const auto side = decode(*file, {95, 1 << 20});
    BOOST_REQUIRE(!side);
    BOOST_TEST(side.why().text
               == name + " image of 96x64 has a side outside 1..95 pixels");
    const auto area = decode(*file, {96, 96 * 64 - 1});
    BOOST_REQUIRE(!area);
    BOOST_TEST(area.why().text
               == name + " image of 96x64 has 6144 pixels, outside 1..6143");
  }
}

BOOST_AUTO_TEST_CASE(a_bomb_is_refused) {
  // The file has a header of 60000x60000 pixels and nothing after it.
  auto file = encode(test::smooth({8, 8}).view(), {});
  BOOST_REQUIRE(file);
  auto& bytes = *file;
  for (size_t side : {16u, 20u}) {
    bytes[side + 2] = 0xEA;
    bytes[side + 3] = 0x60;
  }
  const auto verdict = decode(bytes);
  BOOST_REQUIRE(!verdict);
  BOOST_TEST((verdict.why().code == ec::bad_payload));
}

BOOST_AUTO_TEST_CASE(other_files_are_refused) {
  for (std::string_view text :
       {"", "GIF89a", "\x89PNG", "RIFFxxxxWAVE", "<svg"}) {
    const auto* data = reinterpret_cast<const uint8_t*>(text.data());
    const auto verdict = decode({data, text.size()});
    BOOST_REQUIRE(!verdict);
    BOOST_TEST((verdict.why().code == ec::bad_payload));
    BOOST_TEST(!read_text({data, text.size()}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
