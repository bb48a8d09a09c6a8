// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/prompt_classifier.hpp>
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;
using namespace atelier;
using namespace atelier::gpu;

BOOST_AUTO_TEST_SUITE(prompt_classifier_test)

namespace {

const fs::path shipped{ATELIER_SOURCE_DIR "/models/classifier"};

/// A copy of the shipped folder that tests damage.
struct copied_folder : test::scratch_folder {
  copied_folder() {
    fs::copy(shipped, path, fs::copy_options::recursive);
  }

  void change(const std::string& file, const std::string& from,
              const std::string& to) const {
    auto text = read(file);
    const auto at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
    write(file, text.replace(at, from.size(), to));
  }

  void refused(core::ec code, std::string_view file,
               std::string_view what) const {
    const auto x = load_prompt_classifier(path);
    BOOST_REQUIRE(!x);
    BOOST_TEST((x.why().code == code), x.why().text);
    for (const auto part : {file, what})
      BOOST_TEST(x.why().text.find(part) != std::string::npos,
                 x.why().text + " lacks " + std::string{part});
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(it_says_what_the_network_in_training_says) {
  const auto sut = load_prompt_classifier(shipped);
  BOOST_REQUIRE_MESSAGE(sut, (sut ? "" : sut.why().text));
  const std::vector<std::string> levels{"base@50", "base@20", "small@20",
                                        "tiny@20", "turbo@4"};
  BOOST_TEST((*sut)->levels() == levels);
  prompt_classifier_net network{family_prompt_classifier()};
  const auto weights = safetensors_file::open(shipped / "model.safetensors");
  BOOST_REQUIRE(weights);
  load_state(network, **weights);
  const torch::NoGradGuard guard;
  for (const std::string_view prompt :
       {"", "a red circle", "a small blue star left of a large green square",
        "a yellow triangle, a red circle, a blue square"}) {
    const auto read = encode_caption(prompt, family_tokens);
    BOOST_REQUIRE(read.left_out == 0u);
    const std::vector<int64_t> ids(read.ids.begin(), read.ids.end());
    const auto wanted =
      network.forward(torch::tensor(ids).unsqueeze(0)).sigmoid();
    const auto said = (*sut)->qualities(prompt);
    BOOST_REQUIRE_MESSAGE(said, (said ? "" : said.why().text));
    BOOST_REQUIRE(said->size() == levels.size());
    for (size_t i = 0; i < levels.size(); ++i) {
      BOOST_TEST((*said)[i] == wanted[0][static_cast<int64_t>(i)].item<float>(),
                 prompt);
      BOOST_TEST((*said)[i] > 0);
      BOOST_TEST((*said)[i] < 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(prompts_differ_in_what_they_tolerate) {
  const auto sut = load_prompt_classifier(shipped);
  BOOST_REQUIRE(sut);
  BOOST_TEST(*(*sut)->qualities("a red circle")
             != *(*sut)->qualities("three blue stars and a green square"));
}

BOOST_AUTO_TEST_CASE(a_text_of_any_bytes_and_length_is_read) {
  const auto sut = load_prompt_classifier(shipped);
  BOOST_REQUIRE(sut);
  BOOST_CHECK((*sut)->qualities(std::string(10'000, 'x')));
  BOOST_CHECK((*sut)->qualities("\xff\x80"));
}

BOOST_AUTO_TEST_CASE(bad_folders_are_refused_by_file_and_field) {
  const auto nobody = load_prompt_classifier(shipped / "nobody");
  BOOST_REQUIRE(!nobody);
  BOOST_CHECK(nobody.why().code == core::ec::not_found);
  BOOST_TEST(nobody.why().text.find("nobody/config.json") != std::string::npos);

  const copied_folder other;
  other.change("config.json", "atelier_prompt_classifier", "clip");
  other.refused(core::ec::bad_config, "config.json", "model_type");

  const copied_folder mute;
  fs::remove(mute.path / "vocab.json");
  fs::remove(mute.path / "merges.txt");
  mute.refused(core::ec::not_found, mute.path.string(), "no tokenizer");

  const copied_folder wordy;
  wordy.change("config.json", "\"vocab_size\": 781", "\"vocab_size\": 780");
  wordy.refused(core::ec::bad_payload, "vocab.json",
                "outside 0..779 (vocab_size of");

  const copied_folder empty;
  fs::remove(empty.path / "model.safetensors");
  empty.refused(core::ec::not_found, "model.safetensors", "");

  const copied_folder longer;
  longer.change("config.json", "\"turbo@4\"", "\"turbo@4\", \"turbo@2\"");
  longer.refused(core::ec::bad_payload, "model.safetensors",
                 "classifier.bias has the shape [5], not [6]");

  const copied_folder deeper;
  deeper.change("config.json", "\"num_hidden_layers\": 2",
                "\"num_hidden_layers\": 3");
  deeper.refused(core::ec::bad_payload, "model.safetensors", "is missing");

  const copied_folder huge;
  huge.change("config.json", "\"hidden_size\": 128",
              "\"hidden_size\": 1048576");
  huge.refused(core::ec::bad_payload, "model.safetensors", "fewer bytes than");
}

BOOST_AUTO_TEST_SUITE_END()
