// SPDX-License-Identifier: Apache-2.0

// Every form of PNG, compared with libpng's own simplified interface, which is
// not shown the gamma: it would obey it.

#include "core/image/bomb_files.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>

#include <png.h>

#include <initializer_list>
#include <optional>

using namespace atelier::image;
using atelier::core::philox;
using atelier::core::purpose;
using test::bytes;

namespace {

// Returns libpng's reading of a file: eight bits of R, G, B and, if present, A.
std::optional<bitmap> by_libpng(const bytes& file) {
  png_image x{};
  x.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&x, file.data(), file.size()) == 0)
    return std::nullopt;
  const bool alpha = (x.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  x.format = alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  x.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  bitmap made{{x.width, x.height}, alpha ? 4u : 3u, {}};
  made.bytes.resize(bytes_of(made.px, made.channels));
  const bool done =
    png_image_finish_read(&x, nullptr, made.bytes.data(), 0, nullptr) != 0;
  png_image_free(&x);
  if (!done)
    return std::nullopt;
  return made;
}

// Returns rows of random bytes and filters.
bytes random_rows(const test::png_form& form, philox& random) {
  bytes raw(test::raw_bytes(form));
  for (auto& b : raw)
    b = static_cast<uint8_t>(random.next_u32());

  struct pass {
    uint32_t x, y, dx, dy;
  };

  constexpr pass whole[] = {{0, 0, 1, 1}};
  constexpr pass seven[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                            {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                            {0, 1, 1, 2}};
  size_t at = 0;
  for (const auto& p : form.interlaced != 0 ? std::span<const pass>{seven}
                                            : std::span<const pass>{whole}) {
    const auto width = (form.width + p.dx - 1 - p.x) / p.dx;
    const auto height = (form.height + p.dy - 1 - p.y) / p.dy;
    if (width == 0)
      continue;
    for (uint32_t y = 0; y < height; ++y) {
      raw[at] = static_cast<uint8_t>(random.below(5));
      at += 1 + (size_t{width} * form.bits() + 7) / 8;
    }
  }
  BOOST_REQUIRE(at == raw.size());
  return raw;
}

void append_gamma(bytes& file, philox& random) {
  if (random.below(3) == 0)
    test::append_png_chunk(file, "sRGB", bytes{0});
  if (random.below(2) == 0) {
    constexpr uint32_t gammas[] = {45'455, 100'000, 22'000, 55'555, 200'000};
    bytes gamma;
    test::append_be32(gamma, gammas[random.below(std::size(gammas))]);
    test::append_png_chunk(file, "gAMA", gamma);
  }
}

void append_looks(bytes& file, const test::png_form& form, philox& random) {
  if (form.colours == 3) {
    bytes palette(3u << form.depth);
    for (auto& b : palette)
      b = static_cast<uint8_t>(random.next_u32());
    test::append_png_chunk(file, "PLTE", palette);
  }
  if (random.below(2) == 0 && form.colours < 4) {
    bytes clear(form.colours == 0   ? 2
                : form.colours == 2 ? 6
                                    : 1 + random.below(1u << form.depth));
    for (size_t i = 0; i < clear.size(); ++i)
      clear[i] = form.colours == 3 || i % 2 == 1 ? static_cast<uint8_t>(
                   random.below(1u << std::min<uint32_t>(form.depth, 8)))
                                                 : uint8_t{0};
    test::append_png_chunk(file, "tRNS", clear);
  }
  test::append_png_chunk(file, "tEXt", test::as_bytes("Comment text"));
}

} // namespace

BOOST_AUTO_TEST_SUITE(png_reader_test)

BOOST_AUTO_TEST_CASE(every_form_gives_the_pixels_of_libpng) {
  philox random{atelier::test::seed(), purpose::test};

  struct kind {
    uint8_t colours, depth;
  };

  constexpr kind kinds[] = {{0, 1}, {0, 2},  {0, 4},  {0, 8}, {0, 16},
                            {2, 8}, {2, 16}, {3, 1},  {3, 2}, {3, 4},
                            {3, 8}, {4, 8},  {4, 16}, {6, 8}, {6, 16}};
  for (size_t i = 0; i < 300 + atelier::test::scaled(20'000); ++i) {
    const auto& k = kinds[i % std::size(kinds)];
    test::png_form form{static_cast<uint32_t>(1 + random.below(20)),
                        static_cast<uint32_t>(1 + random.below(20)), k.depth,
                        k.colours, static_cast<uint8_t>(random.below(2))};
    // For these, that interface makes other pixels than libpng's row reader.
    if (form.depth == 16)
      form.interlaced = 0;
    auto plain = test::begin_png(form);
    auto file = plain;
    append_gamma(file, random);
    bytes rest;
    append_looks(rest, form, random);
    const auto data = test::packed(random_rows(form, random));
    const auto cut = random.below(data.size());
    test::append_png_chunk(rest, "IDAT", detail::part(data, 0, cut));
    test::end_png(rest, detail::part(data, cut));
    plain.insert(plain.end(), rest.begin(), rest.end());
    file.insert(file.end(), rest.begin(), rest.end());
    const auto expected = by_libpng(plain);
    const auto got = decode(file);
    BOOST_REQUIRE(expected.has_value());
    BOOST_REQUIRE_MESSAGE(got, (got ? "" : got.why().text));
    BOOST_TEST_REQUIRE((*got == *expected),
                       "case " << i << ": " << form.width << "x" << form.height
                               << " depth " << int{form.depth} << " colours "
                               << int{form.colours} << " interlaced "
                               << int{form.interlaced});
  }
}

BOOST_AUTO_TEST_CASE(sixteen_interlaced_bits_become_eight) {
  // The four pixels belong to four passes, without filters.
  const test::png_form form{2, 2, 16, 0, 1};
  bytes raw;
  const auto row = [&](std::initializer_list<uint8_t> levels) {
    raw.push_back(0);
    for (const auto x : levels)
      raw.insert(raw.end(), 2, x);
  };
  row({10});
  row({60});
  row({110, 160});
  BOOST_REQUIRE(raw.size() == test::raw_bytes(form));
  auto file = test::begin_png(form);
  test::end_png(file, test::packed(raw));
  const auto got = decode(file);
  BOOST_REQUIRE(got);
  BOOST_TEST((got->bytes
              == bytes{10, 10, 10, 60, 60, 60, 110, 110, 110, 160, 160, 160}));
}

BOOST_AUTO_TEST_CASE(a_file_without_its_last_check_sums_is_read) {
  const test::png_form form{9, 5, 8, 6, 1};
  auto file = test::begin_png(form);
  test::append_png_chunk(file, "IDAT",
                         test::packed_zeros(test::raw_bytes(form)));
  // The checksum of the data is wrong, and the end is missing.
  file.back() = static_cast<uint8_t>(file.back() + 1);
  BOOST_TEST(static_cast<bool>(decode(file)));
}

BOOST_AUTO_TEST_SUITE_END()
