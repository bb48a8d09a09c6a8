// SPDX-License-Identifier: Apache-2.0
#include "planning/listed_stages.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/planning/route_slots.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace atelier;
using namespace atelier::planning;
using namespace atelier::test;

namespace {

route drawn_route(core::philox& random) {
  constexpr std::array origins{origin::noise, origin::latent, origin::image,
                               origin::stage_image, origin::template_image};
  std::vector<leg> legs;
  for (auto n = random.below(4); n > 0; --n)
    legs.push_back(leg_from(origins[random.below(origins.size())],
                            static_cast<uint32_t>(random.below(3))));
  return route_of("drawn", std::move(legs));
}

bool reads_files(const stage_row& row, const leg* in, bool brings_image) {
  return brings_image
      && std::any_of(row.slots.begin(), row.slots.end(), [&](const auto& x) {
           return x.name == held::files && x.applies(in, true);
         });
}

// Returns whether a request waits for this stage in a leg, or after its legs.
bool waits_for(const stage_row& row, const route& on, size_t leg) {
  if (leg < on.legs.size())
    return row.hook == hook::each_leg;
  return row.hook == hook::before_answer || row.hook == hook::after_answer
      || (on.legs.empty() && row.hook == hook::each_leg
          && row.place != place::batch);
}

// Compares each position of each route with a new computation by the pipeline.
void compare(const pipeline& stages, const std::vector<route>& routes) {
  const route_slots sut{stages, routes};
  for (size_t n = 0; n < routes.size(); ++n) {
    const core::route_id id{static_cast<uint32_t>(n)};
    const auto& on = routes[n];
    for (const bool brings : {false, true}) {
      BOOST_TEST((sut.least(id, brings) == stages.least(on, brings)));
      for (size_t leg = 0; leg <= on.legs.size(); ++leg)
        for (size_t i = 0; i < stages.size(); ++i) {
          const auto& row = stages.at(i).row();
          if (!waits_for(row, on, leg))
            continue;
          const auto* const in = leg < on.legs.size() ? &on.legs[leg] : nullptr;
          const auto& found = sut.at(id, {leg, i}, brings);
          BOOST_TEST((found.granted == stages.granted(on, {leg, i}, brings)));
          BOOST_TEST((found.reserve == stages.reserve(on, {leg, i}, brings)));
          BOOST_TEST(found.reads_files == reads_files(row, in, brings));
        }
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(route_slots_test)

BOOST_AUTO_TEST_CASE(slots_equal_those_that_the_pipeline_computes) {
  core::philox random{test::seed(), core::purpose::test};
  for (auto n = test::scaled(20'000); n > 0; --n) {
    std::vector<route> routes;
    for (auto left = 1 + random.below(4); left > 0; --left)
      routes.push_back(drawn_route(random));
    const std::map<hook, std::string> behind{{hook::each_leg, "denoise"},
                                             {hook::before_answer, "judge"},
                                             {hook::after_answer, "remember"}};
    auto extended = capturing_list();
    for (auto [name, at, uses] :
         {std::tuple{"judge", hook::each_leg, slot_use{held::files}},
          std::tuple{"mark", hook::before_answer,
                     slot_use{held::pixels, access::replaces}},
          std::tuple{"count", hook::after_answer, slot_use{held::encoded}}})
      BOOST_TEST_REQUIRE(static_cast<bool>(
        extended.add(stage_of(name, at, {uses}), behind.at(at))));
    compare(standard_list(), routes);
    compare(extended, routes);
  }
}

BOOST_AUTO_TEST_SUITE_END()
