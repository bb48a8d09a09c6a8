// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>
#include <atelier/core/parameters.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <type_traits>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(parameters_test)

BOOST_AUTO_TEST_CASE(no_two_parameters_share_a_name) {
  std::set<std::string_view> names;
  std::set<std::string_view> told;
  for (const auto& x : parameters)
    BOOST_TEST_CONTEXT(x.name) {
      BOOST_TEST(!x.doc.empty());
      for (const auto name : {x.name, x.also, x.localai})
        BOOST_TEST((name.empty() || names.insert(name).second));
      // A run has Karras' spacing or another, so both share a name.
      BOOST_TEST((x.webui.empty() || told.insert(x.webui).second
                  || x.name == "spacing"));
    }
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_is_taken_and_the_rest_stays) {
  used_parameters sut;
  sut.steps = 7;
  sut.guidance = 2;
  wanted_parameters chosen;
  BOOST_TEST(!asks_for_any(chosen));
  chosen.guidance = 5.0f;
  chosen.sampler = sampler::lcm;
  BOOST_TEST(asks_for_any(chosen));
  settled_parameters settled;
  settled.deterministic = true;
  take_asked(chosen, settled, sut);
  used_parameters expected;
  expected.steps = 7;
  expected.guidance = 5;
  expected.sampler = sampler::lcm;
  expected.deterministic = true;
  BOOST_TEST((sut == expected));
}

BOOST_AUTO_TEST_CASE(the_configuration_bounds_some) {
  limits within;
  within.steps = 31;
  within.guidance = 9;
  for (const auto& x : parameters)
    BOOST_TEST(most_of(x, within)
                 == (x.name == "steps"      ? 31
                     : x.name == "guidance" ? 9
                                            : x.most),
               x.name);
}

BOOST_AUTO_TEST_CASE(choices_are_read_by_name) {
  each_parameter([](const parameter& x, auto at) {
    using type = typename decltype(at)::type;
    if constexpr (std::is_enum_v<type>) {
      BOOST_TEST(names_of<type>().size() == enum_count<type>, x.name);
      for (size_t i = 0; i < names_of<type>().size(); ++i)
        BOOST_TEST(
          (parse_name<type>(names_of<type>()[i]) == static_cast<type>(i)));
      BOOST_TEST(!parse_name<type>("none"));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
