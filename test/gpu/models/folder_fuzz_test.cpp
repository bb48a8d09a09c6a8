// SPDX-License-Identifier: Apache-2.0
// Whole models of sizes that no library has ever written.
#include "gpu/models/odd_folder.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>

using namespace atelier;

namespace {

/// What a server reads of a model before its weights.
core::result<void> serve(const gpu::model_files& model) {
  const auto facts = gpu::facts_of(model);
  if (!facts)
    return facts.why();
  for (const auto& [words, encoder] :
       {std::pair{&model.tokenizer, &model.text_encoder},
        std::pair{&model.tokenizer_2, &model.text_encoder_2}}) {
    if (!*words || !*encoder)
      continue;
    const auto loaded = gpu::load_words(**words, &**encoder);
    if (!loaded)
      return loaded.why();
  }
  return {};
}

} // namespace

BOOST_AUTO_TEST_SUITE(folder_fuzz_test)

BOOST_AUTO_TEST_CASE(models_of_odd_sizes_are_opened_or_refused_by_name) {
  test::odd_folder folder{test::seed() + 20};
  const auto names = [&](const std::string& text) {
    return text.find(folder.path.string()) != std::string::npos;
  };
  size_t whole = 0;
  for (size_t i = test::scaled(100'000); i > 0; --i) {
    folder.next();
    const auto checked = gpu::check_model(folder.path, {});
    BOOST_REQUIRE(checked);
    for (const auto& finding : checked->findings)
      BOOST_REQUIRE_MESSAGE(names(finding.text), finding.text);
    const auto model = gpu::open_model(folder.path, {});
    if (!model) {
      BOOST_REQUIRE_MESSAGE(names(model.why().text), model.why().text);
      BOOST_REQUIRE(!checked->sound());
      continue;
    }
    const auto served = serve(*model);
    // A server refuses what a check calls faulty, and nothing else.
    BOOST_REQUIRE_MESSAGE(
      bool(served) == checked->sound(),
      (served ? checked->findings.front().text : served.why().text)
        << '\n'
        << folder.configs());
    if (served)
      ++whole;
    else
      BOOST_REQUIRE_MESSAGE(names(served.why().text), served.why().text);
  }
  BOOST_TEST(whole > 0u);
  BOOST_TEST_MESSAGE(whole << " of them are whole");
}

BOOST_AUTO_TEST_SUITE_END()
