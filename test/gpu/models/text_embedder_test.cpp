// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/clip/text_embedder.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;
using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(text_embedder_test)

namespace {

const fs::path shipped{ATELIER_SOURCE_DIR "/models/scorer"};

std::vector<float> embedded(const text_embedder& by, std::string_view prompt) {
  auto out = by.embed(prompt);
  BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
  return std::move(*out);
}

float product(const std::vector<float>& a, const std::vector<float>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_clip_folder_says_what_its_network_in_training_says) {
  const auto sut = load_text_embedder(shipped);
  BOOST_REQUIRE_MESSAGE(sut, (sut ? "" : sut.why().text));
  scorer_net network{family_scorer()};
  const auto weights = safetensors_file::open(shipped / "model.safetensors");
  BOOST_REQUIRE(weights);
  load_state(network, **weights);
  const torch::NoGradGuard guard;
  for (const std::string_view prompt :
       {"", "a red circle", "a small blue star left of a large green square"}) {
    const auto ids = encode_caption(prompt, family_tokens).ids;
    const std::vector<int64_t> wide(ids.begin(), ids.end());
    const auto expected =
      network
        .embed_texts(torch::tensor(wide, torch::kInt64)
                       .view({1, static_cast<int64_t>(wide.size())}))
        .flatten();
    const auto made = embedded(**sut, prompt);
    BOOST_TEST_REQUIRE(made.size() == (*sut)->dimensions());
    BOOST_TEST_REQUIRE(static_cast<int64_t>(made.size()) == expected.numel());
    for (size_t i = 0; i < made.size(); ++i)
      BOOST_TEST(
        std::abs(made[i] - expected[static_cast<int64_t>(i)].item<float>())
        < 1e-5F);
    BOOST_TEST(std::abs(product(made, made) - 1) < 1e-5F);
  }
}

BOOST_AUTO_TEST_CASE(prompts_of_one_meaning_are_nearer_than_of_another) {
  const auto sut = load_text_embedder(shipped);
  BOOST_REQUIRE(sut);
  const auto wanted = embedded(**sut, "a small red circle");
  const auto same = embedded(**sut, "a little red disc");
  const auto other = embedded(**sut, "a large blue star");
  BOOST_TEST(product(wanted, same) > product(wanted, other));
}

BOOST_AUTO_TEST_CASE(a_folder_that_lacks_something_is_refused_by_its_name) {
  for (const std::string missing :
       {"config.json", "model.safetensors", "vocab.json"})
    BOOST_TEST_CONTEXT(missing) {
      const test::scratch_folder folder;
      fs::copy(shipped, folder.path,
               fs::copy_options::recursive
                 | fs::copy_options::overwrite_existing);
      fs::remove(folder.path / missing);
      if (missing == "vocab.json")
        fs::remove(folder.path / "merges.txt");
      const auto sut = load_text_embedder(folder.path);
      BOOST_REQUIRE(!sut);
      BOOST_TEST((sut.why().code == core::ec::not_found), sut.why().text);
      BOOST_TEST(sut.why().text.find(folder.path.string())
                 != std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()
