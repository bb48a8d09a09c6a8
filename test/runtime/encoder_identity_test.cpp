// SPDX-License-Identifier: Apache-2.0
#include "cli/scratch_folder.hpp"
#include <atelier/planning/policy.hpp>
#include <atelier/runtime/encoder_identity.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>

using namespace atelier;

namespace {

struct encoders {
  runtime::encoder_identity identity(const std::string& folder) const {
    config::settings x;
    x.cache.encoder = folder;
    const auto out = runtime::encoder_identity_of(x);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.why().text));
    return *out;
  }

  std::string folder(const std::string& name) const {
    return (scratch.path / name).string();
  }

  void write(const std::string& name, const std::string& weights) {
    std::filesystem::create_directories(scratch.path / name);
    scratch.write(name + "/config.json", "{}");
    scratch.write(name + "/model.safetensors", weights);
  }

  test::scratch_folder scratch;
};

planning::profile measured_profile(const std::string& revision) {
  planning::profile out;
  auto v = *planning::parse_variant("card@10");
  v.step = {{1, 64 * 64, std::chrono::milliseconds{1}, 9}};
  out.variants.push_back(v);
  auto& reuse = out.reuse.emplace();
  reuse.latents = {{5, 0.9}};
  auto& measured = reuse.measured.emplace();
  measured.encoder = "other";
  measured.encoder_revision = revision;
  return out;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(encoder_identity_test, encoders)

BOOST_AUTO_TEST_CASE(words_have_one_identity) {
  const auto x = identity("");
  BOOST_TEST(x.name == "words");
  BOOST_TEST(x.revision.size() == 16u);
  BOOST_TEST(identity("").revision == x.revision);
}

BOOST_AUTO_TEST_CASE(a_folder_is_known_by_its_files_wherever_it_is) {
  write("one/clip", "weights");
  write("two/clip", "weights");
  write("three/clip", "Weights");
  const auto one = identity(folder("one/clip"));
  BOOST_TEST(one.name == "clip");
  BOOST_TEST(identity(folder("one/clip/")).name == "clip");
  BOOST_TEST(identity(folder("two/clip")).revision == one.revision);
  BOOST_TEST(identity(folder("three/clip")).revision != one.revision);
  BOOST_TEST(one.revision != identity("").revision);
  // A tokenizer is part of the identity; other files beside it are not.
  scratch.write("two/clip/README.md", "notes");
  BOOST_TEST(identity(folder("two/clip")).revision == one.revision);
  scratch.write("two/clip/vocab.json", "{}");
  BOOST_TEST(identity(folder("two/clip")).revision != one.revision);
}

BOOST_AUTO_TEST_CASE(a_sentence_encoder_is_known_by_the_files_of_its_parts) {
  const std::string name = "bert";
  for (const auto* const part : {"", "/0_Transformer", "/1_Pooling"})
    std::filesystem::create_directories(folder(name + part));
  scratch.write(name + "/modules.json",
                R"([{"path": "0_Transformer", "type": "x.Transformer"}])");
  scratch.write(name + "/0_Transformer/config.json", "{}");
  auto before = identity(folder(name)).revision;
  for (const auto* const file :
       {"0_Transformer/model.safetensors", "0_Transformer/vocab.txt",
        "0_Transformer/sentence_bert_config.json", "1_Pooling/config.json"}) {
    scratch.write(name + "/" + file, "{}");
    const auto now = identity(folder(name)).revision;
    BOOST_TEST(now != before, file);
    before = now;
  }
}

BOOST_AUTO_TEST_CASE(a_folder_without_an_encoder_is_named) {
  config::settings x;
  x.cache.encoder = "/nowhere/clip";
  const auto out = runtime::encoder_identity_of(x);
  BOOST_TEST_REQUIRE(!out);
  BOOST_TEST(out.why().text
             == "cache.encoder: /nowhere/clip: has no files of an encoder");
}

BOOST_AUTO_TEST_CASE(thresholds_of_another_encoder_are_refused) {
  config::settings x;
  x.policy.name = "nirvana";
  x.cache.memory_bytes = 1 << 20;
  const auto own = identity("").revision;
  const auto same = runtime::policy_of(x, measured_profile(own));
  BOOST_REQUIRE_MESSAGE(same, (same ? "" : same.why().text));
  const auto other = runtime::policy_of(x, measured_profile("0123"));
  BOOST_TEST_REQUIRE(!other);
  BOOST_CHECK(other.why().code == core::ec::bad_config);
  for (const auto* part : {"cache.encoder", "'words'", own.c_str(), "'other'",
                           "0123", "atelier profile --cache"})
    BOOST_TEST(other.why().text.find(part) != std::string::npos,
               other.why().text);
  // Without a cache nothing is compared, and other policies compare nothing.
  x.cache.memory_bytes = 0;
  BOOST_TEST(bool(runtime::policy_of(x, measured_profile("0123"))));
  x.cache.memory_bytes = 1 << 20;
  x.policy.name = "vanilla";
  BOOST_TEST(bool(runtime::policy_of(x, measured_profile("0123"))));
}

BOOST_AUTO_TEST_CASE(published_thresholds_are_refused_for_words) {
  config::settings x;
  x.cache.memory_bytes = 1 << 20;
  auto known = measured_profile("");
  known.reuse->measured.reset();
  const auto refused = [&](const char* policy, bool of_host = false) {
    x.policy.name = policy;
    const auto made =
      runtime::policy_of(x, known, {}, planning::compared::prompts, of_host);
    return made ? std::string{} : made.why().text;
  };
  // The profile has thresholds for states, and none for answers.
  BOOST_TEST(refused("nirvana") == "");
  BOOST_TEST(
    refused("gptcache")
    == "planner.profile: policy 'gptcache' answers with the image found from "
       "similarity 0.80 on, because the profile says nothing else; that is for "
       "the vectors of a text encoder, and this cache compares prompts by "
       "their words: say reuse.answers_from there (1: only for the same "
       "words), set cache.encoder, or set cache.memory_mib = 0");
  BOOST_TEST(refused("pinecone") != "");
  BOOST_TEST(refused("gptcache", true) == "");
  known.reuse->answers_from = 1;
  BOOST_TEST(refused("gptcache") == "");
  known.reuse->latents.clear();
  BOOST_TEST(refused("nirvana").find("atelier profile --cache")
             != std::string::npos);
  BOOST_TEST(refused("nirvana-paper") != "");
  x.cache.memory_bytes = 0;
  BOOST_TEST(refused("nirvana") == "");
}

BOOST_AUTO_TEST_SUITE_END()
