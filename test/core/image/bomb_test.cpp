// SPDX-License-Identifier: Apache-2.0

// Files whose data, scans, codes or texts exceed the promise of their headers.

#include "core/image/bomb_files.hpp"
#include "core/image/sample.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/detail/webp_lossless.hpp>
#include <atelier/core/image/parameters.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using atelier::core::ec;
using atelier::core::extent;
using atelier::core::image_format;
using atelier::core::philox;
using atelier::core::purpose;
using test::bytes;

namespace {

constexpr size_t mib = 1 << 20;

std::string why_not(const bytes& file, const decode_limits& within = {}) {
  const auto verdict = decode(file, within);
  if (verdict)
    return "decoded";
  BOOST_TEST((verdict.why().code == ec::bad_payload));
  return verdict.why().text;
}

bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

constexpr std::string_view beyond =
  "png image cannot be read: its data continue after the last row that its "
  "header declares";

bytes file_of(const test::png_form& form, size_t more) {
  auto file = test::begin_png(form);
  test::end_png(file, test::packed_zeros(test::raw_bytes(form) + more));
  return file;
}

// Stops after a number of polls, and counts them.
struct patience {
  size_t left;
  size_t asked = 0;

  decode_limits limits() {
    decode_limits x;
    x.stop = [this] { return ++asked > left; };
    return x;
  }
};

bytes progressive(uint32_t side, int scans) {
  auto file = test::begin_jpeg(side, side, 0xC2);
  const size_t blocks = (side + 7) / 8 * ((side + 7) / 8);
  test::append_scan(file, bytes{1, 2, 3}, 0, 0, bytes(3 * blocks / 8 + 1));
  for (int i = 1; i < scans; ++i) {
    const auto component = static_cast<uint8_t>(1 + i % 3);
    const auto at = static_cast<uint8_t>(1 + i % 63);
    test::append_scan(file, bytes{component}, at, at, bytes(blocks / 8 + 1));
  }
  test::append(file, bytes{0xFF, 0xD9});
  return file;
}

} // namespace

BOOST_AUTO_TEST_SUITE(bomb_test)

BOOST_AUTO_TEST_CASE(png_data_beyond_the_promised_rows_are_refused) {
  for (const auto interlaced : {uint8_t{0}, uint8_t{1}})
    for (const auto colours : {uint8_t{0}, uint8_t{2}, uint8_t{6}})
      for (uint32_t side : {1u, 3u, 8u, 300u}) {
        const test::png_form form{side, side, 8, colours, interlaced};
        BOOST_TEST(why_not(file_of(form, 0)) == "decoded");
        for (size_t more : {size_t{1}, size_t{100}, 64 * mib}) {
          const auto why = why_not(file_of(form, more));
          // libpng itself refuses a chunk that is far too long.
          BOOST_TEST((why == beyond || has(why, "too large")), why);
        }
      }
}

BOOST_AUTO_TEST_CASE(png_data_in_many_chunks_are_refused_alike) {
  const test::png_form form{16, 16};
  const auto data = test::packed_zeros(test::raw_bytes(form) + 8 * mib);
  for (size_t step : {1u, 7u, 1000u}) {
    auto file = test::begin_png(form);
    for (size_t at = 0; at < data.size(); at += step)
      test::append_png_chunk(file, "IDAT",
                             atelier::image::detail::part(data, at, step));
    BOOST_TEST(why_not(file) == beyond);
  }
}

BOOST_AUTO_TEST_CASE(png_of_chunks_without_pixels_is_cut_short) {
  auto file = test::begin_png({});
  for (int i = 0; i < 100'000; ++i)
    test::append_png_chunk(file, "IDAT", {});
  BOOST_TEST(has(why_not(file), "broken or cut short"));
}

BOOST_AUTO_TEST_CASE(packed_texts_and_profiles_of_png_are_passed_over) {
  const test::png_form form{8, 8};
  bytes text;
  test::append(text, test::as_bytes({"parameters\0\0", 12}));
  test::append(text, test::packed_zeros(8 * mib));
  // The unpacked texts would take eight gigabytes.
  auto file = test::begin_png(form);
  for (int i = 0; i < 500; ++i) {
    test::append_png_chunk(file, "zTXt", text);
    test::append_png_chunk(file, "iCCP", text);
  }
  test::end_png(file, test::packed_zeros(test::raw_bytes(form)));
  patience enough{100};
  BOOST_TEST(why_not(file, enough.limits()) == "decoded");
  // The first text decides, and it exceeds the limit.
  BOOST_TEST(!read_text(file));
}

BOOST_AUTO_TEST_CASE(png_of_unknown_critical_chunks_is_refused) {
  auto file = test::begin_png({});
  test::append_png_chunk(file, "ABCD", {});
  test::end_png(file, test::packed_zeros(8 * 25));
  BOOST_TEST(has(why_not(file), "critical chunk"));
}

BOOST_AUTO_TEST_CASE(text_is_read_up_to_its_limit) {
  const test::png_form form{};
  for (const size_t more : {0u, 1u}) {
    bytes text;
    test::append(text, test::as_bytes({"parameters\0", 11}));
    test::append(text, bytes(most_text_bytes + more, 'x'));
    auto png = test::begin_png(form);
    test::append_png_chunk(png, "tEXt", text);
    test::end_png(png, test::packed_zeros(test::raw_bytes(form)));
    BOOST_TEST(read_text(png).has_value() == (more == 0));
    auto jpeg = bytes{0xFF, 0xD8};
    for (size_t left = most_text_bytes + more; left > 0;) {
      const auto n = std::min<size_t>(left, 65'000);
      test::append_marker(jpeg, 0xFE, bytes(n, 'x'));
      left -= n;
    }
    BOOST_TEST(read_text(jpeg).has_value() == (more == 0));
  }
}

BOOST_AUTO_TEST_CASE(fields_of_a_text_are_limited) {
  std::string text;
  for (size_t i = 0; i < 4 * most_fields; ++i)
    text += "name: value, ";
  BOOST_TEST(parse_parameters(text).fields.size() == most_fields);
}

BOOST_AUTO_TEST_CASE(jpeg_of_more_than_a_hundred_scans_is_refused) {
  BOOST_TEST(why_not(progressive(64, 100)) == "decoded");
  BOOST_TEST(has(why_not(progressive(64, 101)), "more than 100 scans"));
}

BOOST_AUTO_TEST_CASE(scans_that_need_too_much_memory_are_refused) {
  const auto file = progressive(512, 3);
  decode_limits within;
  // Each pixel needs six bytes, and one of them is not counted.
  within.working_bytes = 5 * 512 * 512;
  BOOST_TEST(has(why_not(file, within), "more memory than they may"));
  within.working_bytes = 6 * 512 * 512;
  BOOST_TEST(why_not(file, within) == "decoded");
}

BOOST_AUTO_TEST_CASE(a_jpeg_without_data_is_refused_at_once) {
  for (const auto frame :
       {uint8_t{0xC0}, uint8_t{0xC2}, uint8_t{0xC9}, uint8_t{0xCA}}) {
    auto file = test::begin_jpeg(4096, 4096, frame);
    const uint8_t last = frame == 0xC0 || frame == 0xC9 ? 63 : 0;
    test::append_scan(file, bytes{1, 2, 3}, 0, last, bytes(100));
    BOOST_TEST(why_not(file) != "decoded");
  }
}

BOOST_AUTO_TEST_CASE(lossless_webp_of_many_groups_is_refused) {
  BOOST_TEST(why_not(test::lossless_webp(64, 64, 100)) == "decoded");
  const auto bomb = test::lossless_webp(1024, 1024, 65'536);
  BOOST_TEST(bomb.size() < mib);
  BOOST_TEST(has(why_not(bomb), "bytes beside its pixels, the most is"));
}

BOOST_AUTO_TEST_CASE(lossless_memory_of_encoded_images_is_estimated) {
  philox random{atelier::test::seed(), purpose::test};
  for (size_t i = 0; i < 1 + atelier::test::scaled(300); ++i) {
    const extent px{static_cast<uint32_t>(1 + random.below(500)),
                    static_cast<uint32_t>(1 + random.below(500))};
    const auto original =
      i % 2 == 0 ? test::noise(px, 4, random) : test::smooth(px, 4);
    const auto file = encode(original.view(), {image_format::webp, 100});
    BOOST_REQUIRE(file);
    // The stream follows RIFF, size, WEBP, VP8L, size and its own head.
    const auto stream = std::span{*file}.subspan(12 + 8 + 5);
    const auto need = detail::lossless_working_bytes(stream, px);
    BOOST_REQUIRE(need.has_value());
    BOOST_TEST(*need >= 4 * px.pixels());
    BOOST_TEST(*need < 6 * (px.pixels() + 20 * px.width) + mib);
    const auto again = decode(*file);
    BOOST_REQUIRE(again);
    BOOST_TEST((*again == original));
  }
}

BOOST_AUTO_TEST_CASE(a_large_canvas_of_a_few_bytes_is_refused) {
  decode_limits within;
  within.picture_px = 1ull << 40;
  BOOST_TEST(has(why_not(test::lossless_webp(16'383, 2048), within),
                 "too few for more than 16777216 pixels"));
}

BOOST_AUTO_TEST_CASE(an_animation_is_refused) {
  bytes chunks;
  test::append_webp_chunk(chunks, "VP8X",
                          bytes{2, 0, 0, 0, 15, 0, 0, 15, 0, 0});
  test::append_webp_chunk(chunks, "ANIM", bytes(6));
  bytes frame(16);
  frame[6] = frame[9] = 15;
  test::append_webp_chunk(frame, "VP8L", test::lossless_stream(16, 16));
  for (int i = 0; i < 1000; ++i)
    test::append_webp_chunk(chunks, "ANMF", frame);
  BOOST_TEST(has(why_not(test::webp_of(chunks)), "animation"));
}

BOOST_AUTO_TEST_CASE(a_webp_shorter_than_it_says_is_refused) {
  auto file = test::lossless_webp(64, 64);
  file[4] = static_cast<uint8_t>(file[4] + 2);
  BOOST_TEST(has(why_not(file), "cut short"));
}

BOOST_AUTO_TEST_CASE(every_decoder_stops_when_it_is_told) {
  const auto original = test::smooth({1024, 1024});
  philox random{1, purpose::test};
  const auto grainy = test::noise({512, 512}, 3, random);

  struct {
    bytes file;
    std::string_view name;
  } cases[] = {{*encode(original.view(), {image_format::png, 95}), "png"},
               {file_of({1024, 1024, 8, 2, 1}, 0), "png"},
               {*encode(original.view(), {image_format::jpeg, 95}), "jpeg"},
               {progressive(1024, 50), "jpeg"},
               {*encode(grainy.view(), {image_format::webp, 95}), "webp"},
               {*encode(grainy.view(), {image_format::webp, 100}), "webp"}};

  for (const auto& [file, name] : cases) {
    patience unlimited{SIZE_MAX};
    BOOST_TEST(why_not(file, unlimited.limits()) == "decoded");
    BOOST_TEST(unlimited.asked > 1u);
    for (const auto left : {size_t{0}, unlimited.asked / 2}) {
      patience short_one{left};
      BOOST_TEST(why_not(file, short_one.limits())
                 == std::string{name}
                      + " image cannot be read: it takes longer to decode than "
                        "it may");
      BOOST_TEST(short_one.asked == left + 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(mutated_bombs_do_not_crash) {
  philox random{atelier::test::seed(), purpose::test};
  const bytes files[] = {file_of({8, 8}, mib),
                         file_of({64, 64, 16, 6, 1}, mib),
                         file_of({33, 7, 1, 0, 1}, 1000),
                         progressive(64, 101),
                         progressive(200, 5),
                         test::lossless_webp(256, 256, 4096),
                         test::lossless_webp(64, 64, 100),
                         test::lossless_webp(4096, 4096)};
  decode_limits within;
  within.picture_px = 1 << 22;
  within.working_bytes = 16 * mib;
  for (size_t i = 0; i < atelier::test::scaled(20'000); ++i) {
    auto file = files[random.below(std::size(files))];
    const auto changes = random.below(8);
    for (uint64_t k = 0; k < changes; ++k) {
      const auto range =
        random.below(2) == 0 ? std::min<size_t>(128, file.size()) : file.size();
      file[random.below(range)] = static_cast<uint8_t>(random.next_u32());
    }
    if (random.below(4) == 0)
      file.resize(random.below(file.size()) + 1);
    const auto verdict = decode(file, within);
    BOOST_REQUIRE(verdict ? verdict->bytes.size()
                              == bytes_of(verdict->px, verdict->channels)
                          : !verdict.why().text.empty());
    static_cast<void>(read_header(file));
    static_cast<void>(read_text(file));
  }
}

BOOST_AUTO_TEST_SUITE_END()
