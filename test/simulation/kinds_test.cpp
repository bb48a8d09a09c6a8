// SPDX-License-Identifier: Apache-2.0
#include "planning/two_kinds.hpp"
#include "simulation/ran.hpp"
#include <atelier/simulation/simulate.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace std::chrono_literals;

namespace {

/// Returns a scenario with devices of both kinds that draw the requested
/// variants.
runtime::scenario with_devices(uint32_t quick, uint32_t slow) {
  runtime::scenario x;
  auto known = test::two_kinds();
  for (auto& v : known.variants) {
    v.load = 0ms;
    v.busy_watts = 100;
  }
  known.idle_watts = 10;
  x.profile = std::make_shared<const planning::profile>(std::move(known));
  x.policy = *planning::make_policy("vanilla");
  x.workers = quick + slow;
  if (quick > 0)
    x.devices.push_back({"quick", quick});
  if (slow > 0)
    x.devices.push_back({"slow", slow});
  x.max_batch = 1;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(kinds_test)

BOOST_AUTO_TEST_CASE(a_device_takes_what_its_kind_does) {
  for (const bool slow : {false, true}) {
    auto x = with_devices(slow ? 0 : 1, slow ? 1 : 0);
    x.trace = {{1, 1}, {10, 2}};
    const auto out = test::ran(x);
    BOOST_TEST(out.latency_mean_ms == (slow ? 800 : 100),
               boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(rows_go_to_the_quick_ones_while_they_are_free) {
  auto x = with_devices(1, 1);
  // The first request arrives before both devices are known to be quick.
  x.trace = {{1, 1}, {3, 2}, {5, 3}, {7, 4}};
  const auto out = test::ran(x);
  BOOST_TEST(out.latency_mean_ms == 100, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(each_kind_is_accounted_for) {
  auto x = with_devices(1, 2);
  // All devices are busy at once.
  x.trace.assign(3, {1, 1});
  const auto out = test::ran(x);
  BOOST_TEST_REQUIRE(out.kinds.size() == 2u);
  const auto& quick = out.kinds[0];
  const auto& slow = out.kinds[1];
  BOOST_TEST(quick.kind == "quick");
  BOOST_TEST(quick.devices == 1u);
  BOOST_TEST(slow.devices == 2u);
  const auto near = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(quick.device_seconds == 0.1, near);
  BOOST_TEST(slow.device_seconds == 1.6, near);
  // The quick device draws 100 watts while it runs and 10 otherwise, and the
  // slow one 20 and 5.
  const double lasted = out.virtual_seconds;
  BOOST_TEST(quick.joules == 100 * 0.1 + 10 * (lasted - 0.1), near);
  BOOST_TEST(slow.joules == 20 * 1.6 + 5 * (2 * lasted - 1.6), near);
  BOOST_TEST(out.joules == quick.joules + slow.joules, near);
  BOOST_TEST(out.idle_joules == quick.idle_joules + slow.idle_joules, near);
  BOOST_TEST(out.device_seconds == 1.7, near);
}

BOOST_AUTO_TEST_CASE(a_plan_goes_by_what_each_kind_does) {
  auto x = with_devices(2, 4);
  x.policy = *planning::make_policy("atelier");
  x.deadline = runtime::usual_deadline(*x.profile, x.devices);
  uint64_t content = 0;
  for (double t = 1; t < 120; t += 0.25)
    x.trace.push_back({t, ++content % 100});
  const auto out = test::ran(x);
  BOOST_TEST(out.violation_ratio() < 0.05);
  // There is time for some heavy images, none of which slow devices draw.
  BOOST_TEST(out.light_share < 0.9);
  BOOST_TEST(out.kinds[1].device_seconds > 0);
}

BOOST_AUTO_TEST_CASE(devices_that_do_not_add_up_are_refused) {
  auto x = with_devices(1, 1);
  x.trace = {{1, 1}};
  x.workers = 3;
  BOOST_TEST(runtime::simulate(x).why().text
             == "the kinds have 2 devices in all, but workers is 3");
  x.workers = 2;
  x.devices[1].kind = "quick";
  BOOST_TEST(!runtime::simulate(x));
  x.devices[1].kind = "";
  BOOST_TEST(!runtime::simulate(x));
}

BOOST_AUTO_TEST_CASE(memory_is_that_of_each_kind) {
  auto x = with_devices(1, 1);
  x.trace = {{1, 1}};
  x.memory_bytes = 2000;
  const auto refused = runtime::simulate(x);
  BOOST_TEST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text.find("takes 8000 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
