// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/samplers.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(samplers_test)

BOOST_AUTO_TEST_CASE(every_name_of_a_sampler_is_read_back) {
  std::set<std::string_view> names;
  for (const auto& row : samplers)
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST((parse_sampler(row.name) == row.of));
      BOOST_TEST(to_string(row.of) == row.name);
      BOOST_TEST((parse_webui_sampler(row.webui) == row.of));
      BOOST_TEST(webui_name(row.of) == row.webui);
      BOOST_TEST(names.insert(row.name).second);
      BOOST_TEST(names.insert(row.webui).second);
      for (const auto name : row.webui_also)
        BOOST_TEST((name.empty() || names.insert(name).second));
      BOOST_TEST((parse_diffusers_sampler(row.diffusers) == row.of));
      BOOST_TEST((row.has_sigmas || !row.obeys_karras));
    }
  for (const auto& x : stand_ins) {
    BOOST_TEST(!parse_diffusers_sampler(x.diffusers), x.diffusers);
    BOOST_TEST((find_stand_in(x.diffusers) == x.runs), x.diffusers);
  }
  BOOST_TEST(!find_stand_in("DDIMScheduler"));
  BOOST_TEST(!parse_diffusers_sampler(""));
  BOOST_TEST((parse_webui_sampler("euler A") == sampler::euler_ancestral));
}

BOOST_AUTO_TEST_CASE(other_names_are_no_samplers) {
  for (const auto name : {"", "Euler b", "unknown", "ddim "}) {
    BOOST_TEST(!parse_sampler(name));
    BOOST_TEST(!parse_webui_sampler(name));
    BOOST_TEST(!parse_diffusers_sampler(name));
  }
  BOOST_TEST(to_string(static_cast<sampler>(sampler_count)) == "unknown");
  BOOST_TEST(webui_name(static_cast<sampler>(sampler_count)) == "unknown");
  BOOST_TEST(!has_karras_sigmas(static_cast<sampler>(sampler_count)));
  BOOST_TEST(!obeys_karras(static_cast<sampler>(sampler_count)));
}

BOOST_AUTO_TEST_CASE(samplers_of_a_kind_are_listed) {
  BOOST_TEST(list_samplers(&sampler_row::has_sigmas)
             == "euler, euler_ancestral, dpmpp_2m and flow_match_euler");
  BOOST_TEST(list_samplers(&sampler_row::obeys_karras)
             == "euler, dpmpp_2m and flow_match_euler");
  BOOST_TEST(list_samplers(&sampler_row::has_eta, &sampler_row::webui)
             == "DDIM");
}

BOOST_AUTO_TEST_CASE(the_web_uis_list_keeps_its_order) {
  std::string all;
  for (const auto x : samplers_of_webui)
    all += std::string{webui_name(x)} + ", ";
  BOOST_TEST(all.starts_with("Euler, Euler a, DPM++ 2M, DDIM, LCM, Flow match "
                             "Euler, "));
}

BOOST_AUTO_TEST_SUITE_END()
