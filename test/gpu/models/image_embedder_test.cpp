// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "gpu/models/tiny_bert.hpp"
#include <atelier/gpu/models/embedding/image_embedder.hpp>
#include <atelier/gpu/models/embedding/text_embedder.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/image_scorer.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/judge_input.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(image_embedder_test)

namespace {

const fs::path shipped_scorer{ATELIER_SOURCE_DIR "/models/scorer"};

/// A red disc of an eighth of the image's width on a dark background.
image::bitmap disc(uint32_t side, uint8_t brightness = 255) {
  image::bitmap out{{side, side}, 3, {}};
  const auto middle = static_cast<double>(side) / 2;
  for (uint32_t y = 0; y < side; ++y)
    for (uint32_t x = 0; x < side; ++x) {
      const bool inside =
        std::hypot(x - middle, y - middle) < static_cast<double>(side) / 8;
      for (const uint8_t value :
           {inside ? brightness : uint8_t{20}, uint8_t{20}, uint8_t{40}})
        out.bytes.push_back(value);
    }
  return out;
}

std::vector<float> embedded(const image_embedder& by,
                            const image::bitmap& from) {
  auto out = by.embed(from.view());
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::string why_not(const fs::path& folder) {
  const auto out = load_image_embedder(folder);
  BOOST_TEST_REQUIRE(!out);
  return out.why().text;
}

} // namespace

BOOST_AUTO_TEST_CASE(
  the_shipped_scorer_sees_what_its_network_in_training_sees) {
  const auto sut = load_image_embedder(shipped_scorer);
  BOOST_REQUIRE_MESSAGE(sut, (sut ? "" : sut.why().text));
  scorer_net network{family_scorer()};
  const auto weights =
    safetensors_file::open(shipped_scorer / "model.safetensors");
  BOOST_REQUIRE(weights);
  load_state(network, **weights);
  const torch::NoGradGuard guard;
  for (const auto brightness : {uint8_t{255}, uint8_t{128}}) {
    const auto from = disc(family_side, brightness);
    const auto bytes =
      torch::tensor(std::vector<int64_t>(from.bytes.begin(), from.bytes.end()))
        .view({family_side, family_side, 3})
        .permute({2, 0, 1});
    const auto expected =
      network.embed_images(judge_pixels(bytes, torch::kCPU, family_side))
        .flatten();
    const auto made = embedded(**sut, from);
    BOOST_TEST_REQUIRE(made.size() == (*sut)->dimensions());
    BOOST_TEST_REQUIRE(static_cast<int64_t>(made.size()) == expected.numel());
    for (size_t i = 0; i < made.size(); ++i)
      BOOST_TEST(
        std::abs(made[i] - expected[static_cast<int64_t>(i)].item<float>())
        < 1e-5F);
    BOOST_TEST(std::abs(product(made, made) - 1) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(its_vectors_are_compared_with_those_of_prompts) {
  const auto sut = load_image_embedder(shipped_scorer);
  const auto texts = load_text_embedder(shipped_scorer);
  const auto scorer = load_image_scorer(shipped_scorer);
  BOOST_REQUIRE(sut && texts && scorer);
  BOOST_TEST((*sut)->dimensions() == (*texts)->dimensions());
  const auto from = disc(family_side);
  const auto vector = embedded(**sut, from);
  std::vector<double> cosines;
  for (const auto* const prompt :
       {"a small red circle on a navy background",
        "a large yellow star on a white background"}) {
    const auto text = (*texts)->embed(prompt);
    BOOST_REQUIRE(text);
    cosines.push_back(product(vector, *text));
    const auto score = (*scorer)->score(from.bytes, from.px, prompt);
    BOOST_REQUIRE(score);
    BOOST_TEST(std::abs(cosines.back() - *score) < 1e-5);
  }
  BOOST_TEST(cosines[0] > cosines[1]);
  // A larger image of the same scene.
  BOOST_TEST(product(vector, embedded(**sut, disc(3 * family_side))) > 0.95);
}

BOOST_AUTO_TEST_CASE(an_image_without_its_bytes_is_refused) {
  const auto sut = load_image_embedder(shipped_scorer);
  BOOST_REQUIRE(sut);
  auto from = disc(16);
  from.bytes.pop_back();
  const auto made = (*sut)->embed(from.view());
  BOOST_REQUIRE(!made);
  BOOST_TEST((made.why().code == core::ec::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_folder_without_an_image_tower_is_refused_by_its_file) {
  for (const std::string missing :
       {"config.json", "model.safetensors", "preprocessor_config.json"})
    BOOST_TEST_CONTEXT(missing) {
      const test::scratch_folder folder;
      fs::copy(shipped_scorer, folder.path,
               fs::copy_options::recursive
                 | fs::copy_options::overwrite_existing);
      fs::remove(folder.path / missing);
      BOOST_TEST(why_not(folder.path).find((folder.path / missing).string())
                 != std::string::npos);
    }
  const test::scratch_folder folder;
  test::write_tiny_bert(folder.path, {{"red"}});
  BOOST_TEST(why_not(folder.path)
               .find("config.json: model_type: 'bert' has no "
                     "image tower")
             != std::string::npos);
  const fs::path text_only{ATELIER_SOURCE_DIR "/models/base/text_encoder"};
  BOOST_TEST(why_not(text_only).find("config.json: model_type: "
                                     "'clip_text_model' has no image tower")
             != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
