// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/eviction_rule.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(eviction_rule_test)

BOOST_AUTO_TEST_CASE(every_name_stands_for_its_rule) {
  for (size_t i = 0; i < enum_count<eviction_rule>; ++i)
    BOOST_TEST(
      (eviction_rule_named(eviction_rule_names[i]) == eviction_rule(i)));
  BOOST_TEST((eviction_rule_named("lcbfu") == eviction_rule::lcbfu));
  BOOST_TEST((eviction_rule_named("marginal") == eviction_rule::marginal));
  for (const auto* const other : {"", "LRU", "lru ", "best"})
    BOOST_TEST((eviction_rule_named(other) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(servers_evict_by_three_rules) {
  for (size_t i = 0; i < enum_count<eviction_rule>; ++i)
    BOOST_TEST(
      is_server_rule(eviction_rule(i))
      == (std::ranges::count(server_eviction_rules, eviction_rule_names[i])
          > 0));
  BOOST_TEST(is_server_rule(eviction_rule::fifo));
  BOOST_TEST(is_server_rule(eviction_rule::lru));
  BOOST_TEST(is_server_rule(eviction_rule::lcbfu));
  BOOST_TEST(!is_server_rule(eviction_rule::lfu));
}

BOOST_AUTO_TEST_SUITE_END()
