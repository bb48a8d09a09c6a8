// SPDX-License-Identifier: Apache-2.0

// An attacker finds a cached prompt by asking for similar ones: each answer
// says how similar its prompt was.

#include <boost/test/unit_test.hpp>
#include <process/cache_attacks/attack_rig.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

using namespace atelier;
using test::attack_rig;
using test::tiers;

namespace {

constexpr std::array vocabulary = {"castle", "lake",    "crimson", "robot",
                                   "over",   "snowing", "dragon",  "forest",
                                   "tiny",   "violet"};
constexpr auto secret = "crimson dragon over castle";

/// Adds the word that raises the similarity most until none does.
std::vector<std::string> recovered(engine& by, const std::string& tenant,
                                   size_t& hits) {
  std::vector<std::string> found;
  std::string guess;
  double best = 0;
  for (bool grows = true; grows;) {
    grows = false;
    const auto before = guess;
    std::string word;
    for (const auto* const x : vocabulary) {
      if (std::ranges::count(found, x) > 0)
        continue;
      const auto tried = before.empty() ? x : before + " " + x;
      const auto seen = attack_rig::ask(by, tenant, tried);
      hits += seen.is_hit() ? 1u : 0u;
      if (seen.similarity > best) {
        best = seen.similarity;
        guess = tried;
        word = x;
        grows = true;
      }
    }
    if (grows)
      found.push_back(word);
  }
  std::ranges::sort(found);
  return found;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stolen_prompt_test, attack_rig)

BOOST_AUTO_TEST_CASE(similar_prompts_recover_nothing_of_another_tenant) {
  // A single word of the secret is a hit.
  thresholds(0.15, 0.99);
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      auto sut = start(kept, {"cache.answers=0"});
      draw(*sut, "victim", secret);
      size_t hits = 0;
      BOOST_TEST(recovered(*sut, "attacker", hits).empty());
      BOOST_TEST(hits == 0u);
      // The attack works within a tenant.
      const std::vector<std::string> all = {"castle", "crimson", "dragon",
                                            "over"};
      BOOST_TEST(recovered(*sut, "victim", hits) == all,
                 boost::test_tools::per_element());
      BOOST_TEST(hits > 0u);
      BOOST_TEST(sut->stop(std::chrono::seconds{10}));
    }
}

// FNV-1a gives both names the same 32 bits.
BOOST_AUTO_TEST_CASE(a_name_chosen_to_collide_opens_no_cache) {
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      auto sut = start(kept, {"cache.answers=0"});
      draw(*sut, "alice", secret);
      BOOST_TEST(!ask(*sut, "mallory_bp9z9t3", secret).is_hit());
      BOOST_TEST(ask(*sut, "alice", secret).is_hit());
      BOOST_TEST(sut->stop(std::chrono::seconds{10}));
    }
}

BOOST_AUTO_TEST_SUITE_END()
