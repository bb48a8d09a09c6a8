// SPDX-License-Identifier: Apache-2.0

// An attacker fills the cache so that later images of others show what the
// attacker wants: a mark, or one image for all prompts.

#include <boost/test/unit_test.hpp>
#include <process/cache_attacks/attack_rig.hpp>

#include <chrono>
#include <cstdint>
#include <string>

using namespace atelier;
using test::attack_rig;
using test::tiers;

namespace {

/// The seed of an image stands for a mark in it.
constexpr uint64_t marked = 666;

/// Eight prompts of two words each, and one that is near to all.
std::string wind_prompt(size_t i) {
  const auto n = std::to_string(i);
  return "north" + n + " wind" + n;
}

std::string hub_prompt() {
  std::string out;
  for (size_t i = 0; i < 8; ++i)
    out += wind_prompt(i) + " ";
  return out;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(planted_image_test, attack_rig)

BOOST_AUTO_TEST_CASE(a_mark_does_not_reach_another_tenants_images) {
  constexpr auto asked = "a red ball on a table";
  for (const std::string policy : {"gptcache", "modm"})
    for (const auto kept : tiers)
      BOOST_TEST_CONTEXT(policy << " " << kept) {
        const auto victim_sees = [&](const char* attacker) {
          auto sut = start(kept, {}, policy);
          if (attacker != nullptr)
            draw(*sut, attacker, asked, marked);
          auto out = ask(*sut, "victim", asked, "on");
          BOOST_TEST(sut->stop(std::chrono::seconds{10}));
          return out;
        };
        const auto undisturbed = victim_sees(nullptr);
        BOOST_TEST(victim_sees("attacker") == undisturbed);
        // Within a tenant the mark arrives.
        const auto hit = victim_sees("victim");
        BOOST_TEST(hit.is_hit());
        BOOST_TEST((hit.pixels != undisturbed.pixels));
        if (policy == "gptcache") {
          auto sut = start(kept, {}, policy);
          BOOST_TEST(
            (ask(*sut, "victim", asked, "off", marked).pixels == hit.pixels));
        }
      }
}

// A hub is near to everything. It answers as many requests as cache.answers
// says, and only those of its tenant.
BOOST_AUTO_TEST_CASE(a_hub_answers_few_requests) {
  thresholds(0.1, 0.9);
  for (const auto kept : tiers)
    for (const uint32_t most : {3U, 0U})
      BOOST_TEST_CONTEXT(kept << ", " << most << " answers") {
        auto sut = start(kept, {"cache.answers=" + std::to_string(most)});
        draw(*sut, "tenant", hub_prompt());
        uint32_t hits = 0;
        for (size_t i = 0; i < 8; ++i) {
          hits += ask(*sut, "tenant", wind_prompt(i)).is_hit() ? 1u : 0u;
          BOOST_TEST(!ask(*sut, "another", wind_prompt(i)).is_hit());
        }
        BOOST_TEST(hits == (most == 0 ? 8u : most));
        const auto told = sut->status().cache.value();
        BOOST_TEST(told.spent == (most == 0 ? 0u : 1u));
        BOOST_TEST(told.entries == (most == 0 ? 1u : 0u));
        BOOST_TEST(sut->stop(std::chrono::seconds{10}));
      }
}

BOOST_AUTO_TEST_SUITE_END()
