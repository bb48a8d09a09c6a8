// SPDX-License-Identifier: Apache-2.0

// Whether the work of a tenant's search shows what another tenant keeps: a
// threshold on the counted work guesses it. bench/cache_timing_bench.cpp does
// the same with times.

#include "index/store_rig.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include "support/threshold_classifier.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/encoder_memo.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/memory.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace atelier;
using core::tenant_id;
using test::measurement;

constexpr tenant_id attacker{1};
constexpr tenant_id victim{2};

std::string key_of(tenant_id whose) {
  return index::key_of({}, {}, whose);
}

/// Says how many texts it encoded.
class counting_encoder final : public index::text_encoder {
public:
  std::string_view name() const override {
    return "counting";
  }

  size_t dimensions() const override {
    return words_->dimensions();
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    ++encoded_;
    return words_->encode(text);
  }

  index::encoder_counts counts() const override {
    return {encoded_, 0};
  }

private:
  std::shared_ptr<const index::text_encoder> words_ = index::words_encoder();
  mutable uint64_t encoded_ = 0;
};

/// A cache with a memo, in memory or on a disk.
struct tried {
  explicit tried(bool on_disk, uint64_t parts) {
    const auto memo = std::make_shared<index::encoder_memo>(
      std::make_shared<counting_encoder>(), 1'000, parts);
    auto with = folder.options();
    with.encoder = memo;
    with.parts = parts;
    if (on_disk)
      it = folder.open(with);
    else
      it = std::make_shared<index::memory>(
        index::cache_bounds{1 << 20, 100, 0, core::eviction_rule::lru, 0.25,
                            parts},
        memo);
  }

  /// Returns the work of a search: encoded texts and compared vectors.
  double work_of_search(tenant_id whose, const std::string& text) const {
    const auto before = it->counts();
    it->near(key_of(whose), text, {10});
    const auto after = it->counts();
    constexpr double much = 1'000;
    return much
           * static_cast<double>(after.encoder.encoded - before.encoder.encoded)
         + static_cast<double>(after.compared - before.compared);
  }

  void draw(tenant_id whose, const std::string& text) const {
    it->near(key_of(whose), text, {10});
    BOOST_REQUIRE(
      it->keep(key_of(whose), text, test::kept_states({64}, 1, whose)));
  }

  test::store_folder folder;
  std::shared_ptr<index::kept_work> it;
};

/// Measures pairs of searches of the attacker: for a text that `drawn_by` drew,
/// and for one that no tenant drew. Load and order are the same.
std::vector<measurement> measured(const tried& in, tenant_id drawn_by,
                                  size_t pairs) {
  core::philox random{test::seed(), core::purpose::test};
  std::vector<measurement> out;
  for (size_t i = 0; i < pairs; ++i) {
    const auto number = std::to_string(i);
    const std::string drawn = "the secret " + number + " of a victim";
    const std::string other = "the secret " + number + " of no tenant";
    in.draw(drawn_by, drawn);
    // In any order.
    const bool hit_first = random.below(2) == 0;
    for (const bool hit : {hit_first, !hit_first})
      out.push_back({in.work_of_search(attacker, hit ? drawn : other), hit});
  }
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(search_work_test)

BOOST_AUTO_TEST_CASE(
  a_threshold_is_chosen_by_one_half_and_judged_by_the_other) {
  std::vector<measurement> clear;
  std::vector<measurement> same;
  for (int i = 0; i < 100; ++i) {
    const bool hit = i % 2 == 0;
    clear.push_back({hit ? 3.0 : 2.0, hit});
    same.push_back({2.0, hit});
  }
  BOOST_TEST(test::judged(clear).accuracy == 1.0);
  BOOST_TEST(test::judged(clear).tells());
  BOOST_TEST(test::judged(same).accuracy == 0.5);
  BOOST_TEST(!test::judged(same).tells());
  for (auto& x : clear)
    x.is_hit = !x.is_hit;
  BOOST_TEST(test::judged(clear).accuracy == 1.0);
}

// At scale 1: 2,000 pairs each.
BOOST_AUTO_TEST_CASE(the_work_of_a_search_tells_nothing_of_other_tenants) {
  const auto pairs = test::scaled(2'000);
  for (const bool on_disk : {false, true})
    for (const uint64_t parts : {0U, 2U})
      BOOST_TEST_CONTEXT("on disk: " << on_disk << ", parts: " << parts) {
        const auto across = measured(tried{on_disk, parts}, victim, pairs);
        BOOST_TEST(test::judged(across).accuracy == 0.5);
        // The attack works where it may: the tenant's own prompts are in its
        // memo.
        const auto within = measured(tried{on_disk, parts}, attacker, pairs);
        BOOST_TEST(test::judged(within).accuracy == 1.0);
      }
}

// What the attacker keeps changes the attacker's work alone.
BOOST_AUTO_TEST_CASE(the_work_of_a_search_grows_with_own_entries_only) {
  for (const bool on_disk : {false, true})
    BOOST_TEST_CONTEXT(on_disk) {
      const tried in{on_disk, 0};
      const auto work = [&](const char* text) {
        return in.work_of_search(attacker, text);
      };
      BOOST_TEST(work("first") == 1'000.0);
      for (int i = 0; i < 5; ++i)
        in.draw(victim, "a fox " + std::to_string(i));
      BOOST_TEST(work("second") == 1'000.0);
      in.draw(attacker, "a fox");
      BOOST_TEST(work("third") == 1'001.0);
    }
}

BOOST_AUTO_TEST_SUITE_END()
