// SPDX-License-Identifier: Apache-2.0
#include "../models/tiny_model.hpp"
#include <atelier/gpu/device/detail/prompt_cache.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using namespace atelier;
using namespace atelier::gpu;

namespace {

struct fixture : test::tiny_folder {
  std::shared_ptr<const gpu::model> open() const {
    const auto files = open_model(path, {});
    BOOST_REQUIRE_MESSAGE(files, (files ? "" : files.why().text));
    auto model = load_model(*files, {});
    BOOST_REQUIRE_MESSAGE(model, (model ? "" : model.why().text));
    return *model;
  }

  /// Looks a text up, and returns how many texts were encoded for it. Each
  /// encoding is its own tensor, which is kept here so that no other tensor
  /// gets its address.
  size_t encoded_for(const std::shared_ptr<const gpu::model>& model,
                     const std::string& asked, bool negative = false) {
    const auto& found = sut.find(model, {asked, negative});
    const auto before = encodings.size();
    if (seen.insert(found.tensors.front().unsafeGetTensorImpl()).second)
      encodings.push_back(found.tensors.front());
    return encodings.size() - before;
  }

  gpu::detail::prompt_cache sut;
  std::set<const void*> seen;
  std::vector<torch::Tensor> encodings;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(prompt_cache, fixture)

BOOST_AUTO_TEST_CASE(a_text_is_encoded_once) {
  const auto model = open();
  BOOST_TEST(encoded_for(model, "a red circle") == 1u);
  for (int i = 0; i < 3; ++i)
    BOOST_TEST(encoded_for(model, "a red circle") == 0u);
  BOOST_TEST(encoded_for(model, "a blue circle") == 1u);
  const auto& held = sut.find(model, {"a red circle"});
  BOOST_TEST(torch::equal(held.tensors.front(),
                          model->encode({"a red circle"}).tensors.front()));
}

BOOST_AUTO_TEST_CASE(a_negative_prompt_is_another_text) {
  const auto model = open();
  BOOST_TEST(encoded_for(model, "a", false) == 1u);
  BOOST_TEST(encoded_for(model, "a", true) == 1u);
  BOOST_TEST(encoded_for(model, "", true) == 1u);
  // The negative prompt is usually the same beside different prompts.
  BOOST_TEST(encoded_for(model, "b", false) == 1u);
  BOOST_TEST(encoded_for(model, "", true) == 0u);
  BOOST_TEST(encoded_for(model, "a", true) == 0u);
}

BOOST_AUTO_TEST_CASE(texts_that_are_encoded_differently_are_different) {
  const auto model = open();
  prompt_text asked{"a"};
  const auto is_new = [&] {
    const auto& found = sut.find(model, asked);
    encodings.push_back(found.tensors.front());
    return seen.insert(encodings.back().unsafeGetTensorImpl()).second;
  };
  BOOST_TEST(is_new());
  BOOST_TEST(!is_new());
  asked.syntax = core::prompt_grammar::webui;
  BOOST_TEST(is_new());
  asked.emphasis = core::emphasis_rule::no_norm;
  BOOST_TEST(is_new());
  asked.clip_skip = 2;
  BOOST_TEST(is_new());
  asked.text = "a BREAK a";
  BOOST_TEST(is_new());
  BOOST_TEST(sut.find(model, asked).tokens == 2 * 77);
  BOOST_TEST(!is_new());
}

BOOST_AUTO_TEST_CASE(texts_of_many_chunks_are_fewer) {
  const auto model = open();
  constexpr int64_t chunks = 8;
  constexpr auto most =
    static_cast<size_t>(gpu::detail::prompt_cache::most_tokens / (77 * chunks));
  prompt_text asked;
  asked.syntax = core::prompt_grammar::webui;
  const auto look_up = [&](size_t i) {
    asked.text = std::to_string(i);
    for (int64_t more = 1; more < chunks; ++more)
      asked.text += " BREAK a";
    encodings.push_back(sut.find(model, asked).tensors.front());
    return seen.insert(encodings.back().unsafeGetTensorImpl()).second;
  };
  for (size_t i = 0; i <= most; ++i)
    BOOST_TEST(look_up(i));
  BOOST_TEST(!look_up(1));
  BOOST_TEST(look_up(0));
}

BOOST_AUTO_TEST_CASE(a_model_that_has_gone_leaves_nothing_for_the_next) {
  auto model = open();
  const std::weak_ptr<const gpu::model> gone = model;
  BOOST_TEST(encoded_for(model, "a") == 1u);
  // The cached encodings do not keep the model alive.
  model.reset();
  BOOST_TEST(gone.expired());
  const auto next = open();
  BOOST_TEST(encoded_for(next, "a") == 1u);
  const auto other = open();
  BOOST_TEST(encoded_for(other, "a") == 1u);
  BOOST_TEST(encoded_for(next, "a") == 0u);
}

BOOST_AUTO_TEST_CASE(what_was_used_the_longest_ago_is_forgotten) {
  const auto model = open();
  constexpr auto most = gpu::detail::prompt_cache::most_entries;
  for (size_t i = 0; i < most; ++i)
    BOOST_TEST(encoded_for(model, std::to_string(i)) == 1u);
  BOOST_TEST(encoded_for(model, "0") == 0u);
  BOOST_TEST(encoded_for(model, "one more") == 1u);
  BOOST_TEST(encoded_for(model, "0") == 0u);
  BOOST_TEST(encoded_for(model, "1") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
