// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/schema.hpp>
#include <atelier/core/enum_count.hpp>
#include <atelier/core/instruction_set.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

namespace atelier::config {

namespace {

/// Returns settings in which every option has a place.
settings with_all_tables() {
  settings x;
  for (const auto& r : repetitions())
    r.assign(x, 1);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(schema)

BOOST_AUTO_TEST_CASE(keys_and_places_are_unique) {
  auto x = with_all_tables();
  std::set<std::string> keys;
  std::set<const void*> places;
  for (const auto& each : options()) {
    keys.insert(key_of(each));
    places.insert(std::visit([](const auto* at) -> const void* { return at; },
                             each.at(x, 0)));
  }
  BOOST_CHECK_EQUAL(keys.size(), options().size());
  BOOST_CHECK_EQUAL(places.size(), options().size());
}

BOOST_AUTO_TEST_CASE(every_option_stands_in_a_known_section) {
  std::set<std::string_view> known;
  for (const auto& x : sections())
    known.insert(x.name);
  for (const auto& x : options())
    BOOST_CHECK_EQUAL(known.count(x.section), 1);
}

BOOST_AUTO_TEST_CASE(kinds_follow_from_members_and_names) {
  const auto kind_at = [](auto& x, const void* member) {
    return kind_of(*option_at(x, member).option);
  };
  settings x;
  BOOST_CHECK(kind_at(x, &x.limits.steps) == kind::integer);
  BOOST_CHECK(kind_at(x, &x.limits.guidance) == kind::real);
  BOOST_CHECK(kind_at(x, &x.limits.request_bytes) == kind::byte_size);
  BOOST_CHECK(kind_at(x, &x.processes.mode) == kind::choice);
  BOOST_CHECK(kind_at(x, &x.processes.silence) == kind::duration);
  BOOST_CHECK(kind_at(x, &x.policy.name) == kind::text);
  BOOST_CHECK(kind_at(x, &x.log.level) == kind::choice);
  BOOST_CHECK(kind_at(x, &x.devices[0].variants) == kind::text_list);
}

BOOST_AUTO_TEST_CASE(every_instruction_set_can_be_chosen) {
  using core::instruction_set;
  const settings x;
  const auto choices =
    option_at(x, &x.processes.instruction_set).option->choices;
  BOOST_REQUIRE_EQUAL(choices.size(), 1 + core::enum_count<instruction_set>);
  BOOST_CHECK_EQUAL(choices[0], "auto");
  for (size_t i = 1; i < choices.size(); ++i)
    BOOST_CHECK_EQUAL(choices[i],
                      to_string(instruction_set{static_cast<uint8_t>(i - 1)}));
}

BOOST_AUTO_TEST_CASE(durations_and_sizes_name_their_unit) {
  for (const auto& x : options())
    if (kind_of(x) == kind::duration)
      BOOST_CHECK_MESSAGE(unit_of(x).name.ends_with("seconds"), key_of(x));
}

BOOST_AUTO_TEST_CASE(numbers_have_a_range_that_doubles_hold_exactly) {
  for (const auto& x : options()) {
    const auto k = kind_of(x);
    if (k == kind::text || k == kind::choice || k == kind::text_list)
      continue;
    BOOST_CHECK_MESSAGE(x.least < x.most, key_of(x));
    BOOST_CHECK_MESSAGE(x.most * unit_of(x).scale <= 9007199254740992.0,
                        key_of(x));
  }
}

BOOST_AUTO_TEST_CASE(ranges_fit_their_members) {
  auto x = with_all_tables();
  for (const auto& each : options())
    if (std::holds_alternative<uint32_t*>(each.at(x, 0)))
      BOOST_CHECK_MESSAGE(each.most * unit_of(each).scale <= 4294967295.0,
                          key_of(each));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::config
