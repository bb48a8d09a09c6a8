// SPDX-License-Identifier: Apache-2.0

// A sender and a receiver who must not talk to each other use the cache: the
// sender draws or does not, the receiver looks at what its own requests hit.
// Within a tenant each of these channels works.

#include <boost/test/unit_test.hpp>
#include <process/cache_attacks/attack_rig.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace atelier;
using test::attack_rig;
using test::seen;
using test::tier;
using test::tiers;

namespace {

using sending = std::function<void(engine&, const std::string& tenant)>;
using receiving = std::function<std::vector<seen>(engine&)>;

constexpr auto receiver = "receiver";

struct channel_fixture : attack_rig {
  /// What the receiver sees after the sender of another tenant, of its own
  /// tenant, and without a sender.
  struct sights {
    std::vector<seen> across;
    std::vector<seen> within;
    std::vector<seen> alone;
  };

  sights seen_after(tier kept, const std::vector<std::string>& set,
                    const sending& send, const receiving& receive) {
    const auto run = [&](const char* tenant) {
      auto sut = start(kept, set);
      if (tenant != nullptr)
        send(*sut, tenant);
      auto out = receive(*sut);
      BOOST_TEST(sut->stop(std::chrono::seconds{10}));
      return out;
    };
    return {run("sender"), run(receiver), run(nullptr)};
  }
};

const std::vector<int> message = {1, 0, 0, 1, 1, 1, 0, 1};

std::string words(const std::string& which, size_t i) {
  const auto own = which + std::to_string(i);
  return own + " tall" + own + " grey" + own;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(covert_channel_test, channel_fixture)

BOOST_AUTO_TEST_CASE(hits_carry_no_bits_to_another_tenant) {
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      const auto x = seen_after(
        kept, {},
        [](engine& by, const std::string& tenant) {
          for (size_t i = 0; i < message.size(); ++i)
            if (message[i] == 1)
              draw(by, tenant, words("tower", i));
        },
        [](engine& by) {
          std::vector<seen> out;
          for (size_t i = 0; i < message.size(); ++i)
            out.push_back(ask(by, receiver, words("tower", i)));
          return out;
        });
      BOOST_TEST(x.across == x.alone, boost::test_tools::per_element());
      for (size_t i = 0; i < message.size(); ++i)
        BOOST_TEST(x.within[i].is_hit() == (message[i] == 1));
    }
}

// A symbol is the number of steps that the receiver's request skips.
BOOST_AUTO_TEST_CASE(skipped_steps_carry_no_symbols_to_another_tenant) {
  const std::vector<uint32_t> symbols = {0, test::alike_skip, test::same_skip,
                                         test::alike_skip};
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      const auto x = seen_after(
        kept, {},
        [&](engine& by, const std::string& tenant) {
          for (size_t i = 0; i < symbols.size(); ++i)
            if (symbols[i] == test::same_skip)
              draw(by, tenant, words("tower", i) + " old");
            else if (symbols[i] == test::alike_skip)
              draw(by, tenant, words("tower", i) + " new");
        },
        [&](engine& by) {
          std::vector<seen> out;
          for (size_t i = 0; i < symbols.size(); ++i)
            out.push_back(ask(by, receiver, words("tower", i) + " old"));
          return out;
        });
      BOOST_TEST(x.across == x.alone, boost::test_tools::per_element());
      for (size_t i = 0; i < symbols.size(); ++i)
        BOOST_TEST(x.within[i].route
                   == (symbols[i] == 0
                         ? "miss"
                         : "hit, k=" + std::to_string(symbols[i])));
    }
}

// The receiver has entries of its own; the sender's drive them out or do not.
BOOST_AUTO_TEST_CASE(evictions_carry_no_bits_to_another_tenant) {
  constexpr size_t own = 3;
  constexpr size_t others = 12;
  const sending fill = [](engine& by, const std::string& tenant) {
    for (size_t i = 0; i < own; ++i)
      draw(by, receiver, words("mine", i));
    for (size_t i = 0; i < others; ++i)
      draw(by, tenant, words("other", i));
  };
  const receiving look = [](engine& by) {
    // Without a sender the receiver has no entries yet.
    if (by.status().cache.value().entries == 0)
      for (size_t i = 0; i < own; ++i)
        draw(by, receiver, words("mine", i));
    std::vector<seen> out;
    for (size_t i = 0; i < own; ++i)
      out.push_back(ask(by, receiver, words("mine", i)));
    // And its own new entries find room, whose room it is.
    for (size_t i = own; i < 3 * own; ++i)
      draw(by, receiver, words("mine", i));
    for (size_t i = 0; i < 3 * own; ++i)
      out.push_back(ask(by, receiver, words("mine", i)));
    return out;
  };
  const auto hits = [](const std::vector<seen>& x) {
    return std::count_if(x.begin(), x.begin() + own,
                         [](const seen& each) { return each.is_hit(); });
  };
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      // In fixed parts the receiver sees the same, to the byte.
      const auto divided =
        seen_after(kept, {"cache.entries=8", "cache.tenants=2"}, fill, look);
      BOOST_TEST(divided.across == divided.alone,
                 boost::test_tools::per_element());
      BOOST_TEST(hits(divided.alone) == own);
      // Its part has four places: the sender of its own tenant takes them.
      BOOST_TEST(hits(divided.within) == 0);
      // Three of eight places are reserved for each of two tenants. What the
      // receiver has in them stays.
      const auto reserved = seen_after(
        kept, {"cache.entries=8", "cache.tenant_floor=0.75"}, fill, look);
      BOOST_TEST(hits(reserved.across) == own);
      BOOST_TEST(hits(reserved.within) == 0);
      // Nothing is reserved: the attack works.
      const auto open = seen_after(
        kept, {"cache.entries=8", "cache.tenant_floor=0"}, fill, look);
      BOOST_TEST(hits(open.across) == 0);
      BOOST_TEST(hits(open.alone) == own);
    }
}

// An answer has the number of the entry from which its image started.
BOOST_AUTO_TEST_CASE(numbers_of_entries_do_not_count_those_of_others) {
  for (const auto kept : tiers)
    BOOST_TEST_CONTEXT(kept) {
      auto sut = start(kept, {});
      std::vector<uint64_t> told;
      for (size_t i = 0; i < 6; ++i) {
        draw(*sut, receiver, words("mine", i));
        for (size_t n = 0; n < i; ++n)
          draw(*sut, "sender", words("other", 10 * i + n));
        const auto number = [&] {
          const auto x =
            image_of(*sut, receiver, words("mine", i), "read").reused;
          BOOST_TEST_REQUIRE(x.has_value());
          return x->entry;
        };
        told.push_back(number());
        // Within a run of the engine an entry keeps its number.
        BOOST_TEST(number() == told.back());
      }
      std::ranges::sort(told);
      // Counts would lie near each other, and near 0.
      constexpr uint64_t far = 1'000'000;
      BOOST_TEST(told.front() > far);
      for (size_t i = 1; i < told.size(); ++i)
        BOOST_TEST(told[i] - told[i - 1] > far);
      BOOST_TEST(sut->stop(std::chrono::seconds{10}));
    }
}

BOOST_AUTO_TEST_SUITE_END()
