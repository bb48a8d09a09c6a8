// SPDX-License-Identifier: Apache-2.0
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/version.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::image;
using atelier::core::philox;
using atelier::core::purpose;
using atelier::core::sampler;

namespace {

using fields = std::vector<std::pair<std::string, std::string>>;

struct text_case {
  std::string_view text;
  parameters meaning;
};

// Texts that are read and written in the same form.
const text_case exact[] = {
  {"a red cube\nNegative prompt: blurry\nSteps: 20, Sampler: Euler a, CFG "
   "scale: 7, Seed: 1, Size: 512x512, Model: x",
   {"a red cube",
    "blurry",
    {{"Steps", "20"},
     {"Sampler", "Euler a"},
     {"CFG scale", "7"},
     {"Seed", "1"},
     {"Size", "512x512"},
     {"Model", "x"}}}},
  {"two\nlines\nNegative prompt: and\ntwo more\nSteps: 1, Seed: 2, Size: 8x8",
   {"two\nlines",
    "and\ntwo more",
    {{"Steps", "1"}, {"Seed", "2"}, {"Size", "8x8"}}}},
  {"p\nSteps: 1, Seed: 2, Model: \"a, \\\"b\\\": c\\n\\\\d\"",
   {"p", "", {{"Steps", "1"}, {"Seed", "2"}, {"Model", "a, \"b\": c\n\\d"}}}},
  {"p\nSteps: 1, Lora hashes: \"x: 12, y: 34\", Seed: 2, Version: v1.9",
   {"p",
    "",
    {{"Steps", "1"},
     {"Lora hashes", "x: 12, y: 34"},
     {"Seed", "2"},
     {"Version", "v1.9"}}}},
  {"only a prompt", {"only a prompt", "", {}}},
  {"p\nNegative prompt: n", {"p", "n", {}}},
  {"Steps: 1, Seed: 2, Size: 8x8",
   {"", "", {{"Steps", "1"}, {"Seed", "2"}, {"Size", "8x8"}}}},
  {"Negative prompt: n\nSteps: 1, Seed: 2, Size: 8x8",
   {"", "n", {{"Steps", "1"}, {"Seed", "2"}, {"Size", "8x8"}}}},
  {"", {"", "", {}}},
};

// Texts that are read like this, but written in another form.
const text_case lenient[] = {
  {"  p  \r\n Negative prompt:n \n  Steps: 1,Seed:2 , Size: 8x8 \n\n",
   {"p", "n", {{"Steps", "1"}, {"Seed", "2 "}, {"Size", "8x8"}}}},
  // Two fields are too few to count as fields.
  {"p\nSteps: 1, Seed: 2", {"p\nSteps: 1, Seed: 2", "", {}}},
  // If a quote does not close before a comma, it is plain text.
  {"p\nSteps: 1, Model: \"a\"b, Seed: 2, Size: 8x8",
   {"p",
    "",
    {{"Steps", "1"}, {"Model", "\"a\"b"}, {"Seed", "2"}, {"Size", "8x8"}}}},
  // An invalid JSON string stays as it is.
  {"p\nSteps: 1, Model: \"\\x\", Seed: 2, Size: 8x8",
   {"p",
    "",
    {{"Steps", "1"}, {"Model", "\"\\x\""}, {"Seed", "2"}, {"Size", "8x8"}}}},
  // A field without a value is left out, and a name of one letter is not a
  // name.
  {"p\nSteps:, A: 1, Bc: 2, Seed: 3, Size: 8x8",
   {"p", "", {{"Bc", "2"}, {"Seed", "3"}, {"Size", "8x8"}}}},
};

} // namespace

BOOST_AUTO_TEST_SUITE(parameters_test)

BOOST_AUTO_TEST_CASE(texts_are_read_as_the_web_ui_does) {
  for (const auto& [text, meaning] : exact)
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST((parse_parameters(text) == meaning));
  for (const auto& [text, meaning] : lenient)
    BOOST_TEST_CONTEXT(text)
  BOOST_TEST((parse_parameters(text) == meaning));
}

BOOST_AUTO_TEST_CASE(texts_are_written_as_the_web_ui_does) {
  for (const auto& [text, meaning] : exact)
    BOOST_TEST(to_text(meaning) == text);
}

BOOST_AUTO_TEST_CASE(a_run_is_described_in_order) {
  atelier::core::recipe how;
  how.sampler = sampler::euler_ancestral;
  how.steps = 20;
  how.guidance = 7.5f;
  how.seed = 18446744073709551615ull;
  how.px = {512, 768};
  const auto sut = describe({"a, b", "c"}, how, "base@20", {{"Level", "10"}});
  BOOST_TEST(to_text(sut)
             == "a, b\nNegative prompt: c\nSteps: 20, Sampler: Euler a, CFG "
                "scale: 7.5, Seed: 18446744073709551615, Size: 512x768, Model: "
                "base@20, RNG: CPU, Level: 10, Version: Atelier "
                  + std::string{atelier::core::version()});
  BOOST_TEST((parse_parameters(to_text(sut)) == sut));
  BOOST_TEST((sut.find("Steps") == "20"));
  BOOST_TEST(!sut.find("steps"));
}

BOOST_AUTO_TEST_CASE(what_is_not_usual_is_described_too) {
  atelier::core::recipe how;
  how.sampler = sampler::dpmpp_2m;
  how.steps = 20;
  how.guidance = 7;
  how.seed = 1;
  how.px = {64, 64};
  how.karras = true;
  how.from_image = true;
  how.strength = 0.75f;
  how.eta = 0.5f;
  how.guidance_rescale = 0.7f;
  const auto sut = describe({"a", ""}, how, "base");
  BOOST_TEST(to_text(sut)
             == "a\nSteps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG "
                "scale: 7, Seed: 1, Size: 64x64, Model: base, Denoising "
                "strength: 0.75, RNG: CPU, Eta DDIM: 0.5, CFG Rescale: 0.7, "
                "Version: Atelier "
                  + std::string{atelier::core::version()});
  BOOST_TEST((parse_parameters(to_text(sut)) == sut));
}

BOOST_AUTO_TEST_CASE(values_of_all_characters_survive) {
  philox random{atelier::test::seed(), purpose::test};
  const std::string_view letters = "ab ,:\"\\\n\t{}/-0\x01\xC3\xBC";
  for (size_t i = 0; i < atelier::test::scaled(500'000); ++i) {
    parameters sut{"prompt", "negative", {{"Steps", "1"}, {"Seed", "2"}}};
    for (uint64_t k = 1 + random.below(3); k > 0; --k) {
      std::string value = "v";
      for (uint64_t n = random.below(12); n > 0; --n) {
        const auto at = random.below(letters.size() - 1);
        value +=
          at == letters.size() - 2 ? letters.substr(at) : letters.substr(at, 1);
      }
      // White space around a value without quotes belongs to the line.
      sut.fields.emplace_back("Key " + std::to_string(k), value + "v");
    }
    BOOST_REQUIRE((parse_parameters(to_text(sut)) == sut));
  }
}

BOOST_AUTO_TEST_CASE(any_text_is_read) {
  philox random{atelier::test::seed(), purpose::test};
  const std::string_view pieces[] = {
    "a",  ": ", ",",  "\"", "\\", "\n",   "Negative prompt:", "Steps: 1",
    "\r", " ",  "\0", "x",  ":",  "\xFF", "\xC3\xBC",         "1x1"};
  for (size_t i = 0; i < atelier::test::scaled(500'000); ++i) {
    std::string text;
    for (uint64_t n = random.below(30); n > 0; --n)
      text += pieces[random.below(std::size(pieces))];
    const auto once = parse_parameters(text);
    // After writing and reading again, the fields are the same.
    BOOST_REQUIRE(to_text(once).size() <= 8 * text.size() + 32);
    static_cast<void>(parse_parameters(to_text(once)));
  }
}

BOOST_AUTO_TEST_CASE(hostile_lines_take_linear_time) {
  const size_t n = 1 << 20;
  for (std::string_view piece :
       {"a", "aa:\"", "aa:\",", ",", "aa: ", "aa:\"\\"}) {
    std::string text;
    while (text.size() < n)
      text += piece;
    const auto sut = parse_parameters(text);
    BOOST_TEST(sut.prompt.size() + sut.fields.size() > 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
