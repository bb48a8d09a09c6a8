// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include "gpu/models/tiny_bert.hpp"
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/embedding/text_embedder.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
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

namespace {

/// A sentence encoder that knows a few words, with a part of its files that
/// tests change.
struct sentences {
  sentences() {
    test::write_tiny_bert(
      folder.path,
      {{"red", "crimson"}, {"circle", "disc"}, {"blue", "navy"}, {"star"}});
  }

  std::shared_ptr<const text_embedder> load() const {
    auto out = load_text_embedder(folder.path);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
    return std::move(*out);
  }

  void check_refused(const std::string& reason) const {
    const auto sut = load_text_embedder(folder.path);
    BOOST_TEST_REQUIRE(!sut);
    BOOST_TEST(sut.why().text.find(reason) != std::string::npos,
               sut.why().text << " without " << reason);
  }

  test::scratch_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_sentence_encoder_compares_what_words_mean,
                        sentences) {
  const auto sut = load();
  BOOST_TEST(sut->dimensions() == 8u);
  const auto wanted = embedded(*sut, "red circle");
  BOOST_TEST(std::abs(product(wanted, wanted) - 1) < 1e-5F);
  BOOST_TEST(std::abs(product(wanted, embedded(*sut, "CRIMSON Disc")) - 1)
             < 1e-5F);
  BOOST_TEST(std::abs(product(wanted, embedded(*sut, "blue circle")) - 0.5F)
             < 1e-5F);
  BOOST_TEST(std::abs(product(wanted, embedded(*sut, "navy star"))) < 1e-5F);
  // No word of the text has a vector.
  const auto unknown = sut->embed("something else");
  BOOST_TEST_REQUIRE(!unknown);
  BOOST_TEST((unknown.why().code == core::ec::internal));
}

BOOST_FIXTURE_TEST_CASE(prompts_of_a_batch_do_not_change_each_other,
                        sentences) {
  const auto scorer = load_text_embedder(shipped);
  BOOST_REQUIRE(scorer);
  const std::vector<std::string_view> prompts{
    "red", "navy star red disc blue circle star", "blue star"};
  for (const auto& sut : {load(), *scorer}) {
    const auto all = sut->embed_all(prompts);
    BOOST_TEST_REQUIRE(bool{all});
    BOOST_TEST_REQUIRE(all->size() == prompts.size());
    for (size_t i = 0; i < prompts.size(); ++i)
      BOOST_TEST(std::abs(product((*all)[i], embedded(*sut, prompts[i])) - 1)
                 < 1e-5F);
  }
}

BOOST_FIXTURE_TEST_CASE(the_first_token_stands_for_a_text_where_pooling_says_so,
                        sentences) {
  folder.write("modules.json", R"([
    {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "path": "1_Pooling",
     "type": "sentence_transformers.models.Pooling"}])");
  check_refused("1_Pooling/config.json");
  fs::create_directory(folder.path / "1_Pooling");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true,
    "pooling_mode_mean_tokens": false})");
  // The start token has no vector here.
  const auto vector = load()->embed("red");
  BOOST_TEST_REQUIRE(!vector);
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true,
    "pooling_mode_mean_tokens": false})");
  check_refused("1_Pooling/config.json: pooling_mode_max_tokens is true");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true,
    "pooling_mode_mean_tokens": true})");
  check_refused("pooling_mode_cls_token is true, not false beside");
}

BOOST_FIXTURE_TEST_CASE(a_long_text_is_cut_where_the_folder_says_so,
                        sentences) {
  folder.write("sentence_bert_config.json",
               R"({"max_seq_length": 3, "do_lower_case": false})");
  const auto sut = load();
  BOOST_TEST(
    std::abs(
      product(embedded(*sut, "red circle blue"), embedded(*sut, "crimson")) - 1)
    < 1e-5F);
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 1})");
  check_refused("sentence_bert_config.json: max_seq_length is 1, not a whole "
                "number in 2..");
}

BOOST_FIXTURE_TEST_CASE(a_sentence_encoder_that_is_not_supported_is_refused,
                        sentences) {
  const auto config = folder.read("config.json");
  const auto change = [&](const std::string& from, const std::string& to) {
    auto text = config;
    text.replace(text.find(from), from.size(), to);
    folder.write("config.json", text);
  };
  change("\"bert\"", "\"roberta\"");
  check_refused("config.json: model_type: 'roberta' is not supported as a "
                "text encoder; these are: bert, clip, clip_text_model");
  change("\"gelu\"", "\"silu\"");
  check_refused("config.json: hidden_act is \"silu\"");
  change("\"vocab_size\": 12", "\"vocab_size\": 11");
  check_refused("embeddings.word_embeddings.weight");
  folder.write("config.json", config);
  folder.write("vocab.txt", folder.read("vocab.txt") + "more\n");
  check_refused("vocab.txt: ids up to 12, outside 0..11");
  fs::remove(folder.path / "vocab.txt");
  check_refused("neither tokenizer.json nor vocab.txt");
  folder.write("modules.json", R"([{"path": "../x",
    "type": "sentence_transformers.models.Transformer"}])");
  check_refused("modules.json: [0]: path: '../x' leaves the folder");
  folder.write("modules.json", R"([{"path": "",
    "type": "sentence_transformers.models.CLIPModel"}])");
  check_refused("modules.json: [0]: type: "
                "'sentence_transformers.models.CLIPModel' is not supported");
}

BOOST_AUTO_TEST_SUITE_END()
