// SPDX-License-Identifier: Apache-2.0

// Kept work that is found by an encoder from the configuration.

#include "index/store_rig.hpp"
#include <atelier/index/memory.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/index/text_vector.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

using namespace atelier;
using test::kept_states;
using test::nearest_of;

namespace {

/// Distinguishes circles and squares by any of their names, and nothing else.
class by_shape final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "shapes";
  }

  size_t dimensions() const override {
    return 2;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    if (fails)
      return core::fail(core::ec::internal, "no network");
    const auto says = [&](std::string_view word) {
      return text.find(word) != std::string_view::npos;
    };
    return std::vector<float>{says("circle") || says("disc") ? 1.0F : 0.0F,
                              says("square") || says("box") ? 1.0F : 0.0F};
  }

  mutable std::atomic<bool> fails{false};
};

struct encoding {
  // Checks the guarantees of both kinds of kept work.
  void check(index::kept_work& sut) const {
    BOOST_REQUIRE(sut.keep("k", "a red circle", kept_states({8})));
    BOOST_REQUIRE(sut.keep("k", "a red square", kept_states({8})));
    BOOST_TEST(nearest_of(sut, "some disc") == 1u);
    BOOST_TEST(nearest_of(sut, "a big box") == 2u);
    // The text has no vector to compare.
    BOOST_TEST(nearest_of(sut, "a red thing") == 0u);
    BOOST_TEST(!sut.keep("k", "a red thing", kept_states({8})));
    BOOST_TEST(sut.counts().failed == 0u);
    encoder->fails = true;
    BOOST_TEST(nearest_of(sut, "some disc") == 0u);
    BOOST_TEST(!sut.keep("k", "a disc", kept_states({8})));
    BOOST_TEST(sut.counts().failed == 2u);
    encoder->fails = false;
    BOOST_TEST(nearest_of(sut, "some disc") == 1u);
    BOOST_TEST(sut.counts().entries == 2u);
  }

  std::shared_ptr<by_shape> encoder = std::make_shared<by_shape>();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(text_encoder_test, encoding)

BOOST_AUTO_TEST_CASE(words_are_the_vector_of_a_text) {
  const auto sut = index::words_encoder();
  BOOST_TEST(sut->name() == "words");
  const auto expected = index::vector_of("a red fox");
  const auto made = sut->encode("a red fox");
  BOOST_REQUIRE(made);
  BOOST_TEST(sut->dimensions() == expected.size());
  BOOST_TEST((*made == std::vector<float>{expected.begin(), expected.end()}));
}

BOOST_AUTO_TEST_CASE(memory_compares_by_it) {
  index::memory sut{{1 << 20, 10}, encoder};
  check(sut);
  // The size counts the key, two numbers and the state.
  BOOST_TEST(sut.counts().bytes
             == 2 * (1 + index::vector_index::bytes_of_each(2) + 8));
}

BOOST_AUTO_TEST_CASE(a_store_compares_by_it_also_after_a_restart) {
  const test::store_folder folder;
  auto with = folder.options();
  with.encoder = encoder;
  check(*folder.open(with));
  const auto again = folder.open(with);
  BOOST_TEST(nearest_of(*again, "some disc") == 1u);
  BOOST_TEST(nearest_of(*again, "a big box") == 2u);
}

BOOST_AUTO_TEST_CASE(a_store_may_be_opened_with_another_encoder) {
  const test::store_folder folder;
  auto with = folder.options();
  with.encoder = encoder;
  check(*folder.open(with));
  const auto by_words = folder.open();
  BOOST_TEST(nearest_of(*by_words, "some disc") == 0u);
  BOOST_TEST(nearest_of(*by_words, "a red square") == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
