// SPDX-License-Identifier: Apache-2.0
#include "core/image/sample.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/parameters.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using atelier::core::ec;
using atelier::core::encoding;
using atelier::core::image_format;
using atelier::core::philox;
using atelier::core::purpose;

namespace {

// Returns files of every format and form that the encoders write.
std::vector<std::vector<uint8_t>> originals() {
  const encoding forms[] = {{image_format::png, 95},
                            {image_format::jpeg, 80},
                            {image_format::jpeg, 95},
                            {image_format::webp, 80},
                            {image_format::webp, 100}};
  std::vector<std::vector<uint8_t>> files;
  for (const auto& how : forms)
    for (uint32_t channels : {3u, 4u})
      for (std::string_view text : {"", "plain, text", "\xE6\xB0\xB4 1"}) {
        auto file = encode(test::smooth({33, 17}, channels).view(), how, text);
        BOOST_REQUIRE(file);
        files.push_back(*std::move(file));
      }
  return files;
}

// Decoding either works or fails with one of the two codes. It never crashes,
// which the sanitizer presets check more strictly.
void check(std::span<const uint8_t> file) {
  const auto verdict = decode(file, {4096, 1 << 22});
  if (verdict)
    BOOST_REQUIRE(verdict->bytes.size()
                  == bytes_of(verdict->px, verdict->channels));
  else
    BOOST_REQUIRE((verdict.why().code == ec::bad_payload
                   || verdict.why().code == ec::out_of_resources));
  const auto head = read_header(file);
  if (!head)
    BOOST_REQUIRE((head.why().code == ec::bad_payload));
  if (head && verdict)
    BOOST_REQUIRE((head->px == verdict->px));
  if (const auto text = read_text(file))
    static_cast<void>(parse_parameters(*text));
}

} // namespace

BOOST_AUTO_TEST_SUITE(codec_fuzz_test)

BOOST_AUTO_TEST_CASE(a_file_cut_short_is_refused) {
  for (const auto& file : originals()) {
    const size_t step = 1 + file.size() / atelier::test::scaled(file.size());
    for (size_t n = 0; n < file.size(); n += step)
      check(std::span{file}.first(n));
    // Half of the pixels are certainly missing.
    BOOST_TEST(!decode(std::span{file}.first(file.size() / 2)));
  }
}

BOOST_AUTO_TEST_CASE(changed_bytes_do_not_crash) {
  philox random{atelier::test::seed(), purpose::test};
  const auto files = originals();
  for (size_t i = 0; i < atelier::test::scaled(100'000); ++i) {
    auto file = files[random.below(files.size())];
    const auto changes = 1 + random.below(8);
    for (uint64_t k = 0; k < changes; ++k) {
      // Headers have the most influence, so they are changed more often.
      const auto range =
        random.below(2) == 0 ? std::min<size_t>(64, file.size()) : file.size();
      file[random.below(range)] = static_cast<uint8_t>(random.next_u32());
    }
    check(file);
  }
}

BOOST_AUTO_TEST_CASE(moved_pieces_do_not_crash) {
  philox random{atelier::test::seed(), purpose::test, {}};
  const auto files = originals();
  for (size_t i = 0; i < atelier::test::scaled(50'000); ++i) {
    auto file = files[random.below(files.size())];
    const auto& other = files[random.below(files.size())];
    const auto from = random.below(other.size());
    const auto n = random.below(other.size() - from);
    const auto at = static_cast<std::ptrdiff_t>(random.below(file.size()));
    file.insert(file.begin() + at,
                other.begin() + static_cast<std::ptrdiff_t>(from),
                other.begin() + static_cast<std::ptrdiff_t>(from + n));
    check(file);
  }
}

BOOST_AUTO_TEST_SUITE_END()
