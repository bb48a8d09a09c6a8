// SPDX-License-Identifier: Apache-2.0
#include "simulation/ran.hpp"
#include <atelier/planning/demand/trace.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/simulation/knowledge.hpp>
#include <atelier/simulation/simulated_loads.hpp>
#include <atelier/simulation/simulated_requests.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using runtime::scenario;
using test::ran;

/// Returns two models of 1 GiB. An image takes 1 s, four together take 2 s, and
/// a load 3 s.
std::shared_ptr<planning::profile> two_models() {
  auto p = std::make_shared<planning::profile>();
  for (const char* model : {"a", "b"}) {
    auto& v = p->variants.emplace_back();
    v.model = model;
    v.name = v.model + "@10";
    v.steps = 10;
    v.native_px = {64, 64};
    v.step = {{1, 4096, 100ms}, {4, 4096, 200ms}};
    v.load = 3s;
    v.memory_bytes = uint64_t{1} << 30;
  }
  return p;
}

scenario of_trace(std::string_view text, std::string_view policy = "atelier") {
  scenario x;
  x.profile = two_models();
  x.policy = *planning::make_policy(policy);
  auto read = planning::parse_trace(text, "trace");
  BOOST_REQUIRE_MESSAGE(read, (read ? "" : read.why().text));
  // Names are numbers here.
  for (auto& a : read->arrivals)
    if (a.variant != planning::no_name)
      a.variant = read->variants[a.variant].text == "b" ? 1 : 0;
  x.trace = std::move(read->arrivals);
  x.workers = 1;
  x.deadline = 100s;
  x.check_every = 20;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(traced_requests_test)

BOOST_AUTO_TEST_CASE(a_request_runs_what_its_line_asks_for) {
  auto x = of_trace("ms,variant,steps,deadline_ms,tenant,size\n"
                    "0,a,10,5000,ann,64x64\n1,b,20,,bob,\n");
  x.trace = planning::one_image_each(x.trace);
  const runtime::simulated_requests make{x};
  const auto first = make.make(core::request_id{1}, core::time_point{});
  const auto second = make.make(core::request_id{2}, core::time_point{});
  BOOST_TEST(first->fixed.variant.value() == "a@10");
  BOOST_TEST((first->deadline == core::time_point{5s}));
  BOOST_TEST((first->px == core::extent{64, 64}));
  BOOST_TEST(second->fixed.variant.value() == "b@10");
  BOOST_TEST(second->fixed.steps.value() == 20u);
  BOOST_TEST((second->deadline == core::time_point{100s}));
  BOOST_TEST((first->tenant != second->tenant));
}

BOOST_AUTO_TEST_CASE(a_mask_of_the_trace_is_the_edits) {
  auto x = of_trace("ms,mask\n0,0.3\n1,\n");
  x.trace = planning::one_image_each(x.trace);
  BOOST_TEST(runtime::mask_of(x, core::request_id{1})->ratio == 0.3f);
  BOOST_TEST(!runtime::mask_of(x, core::request_id{2}).has_value());
}

BOOST_AUTO_TEST_CASE(a_request_of_four_images_is_one_request) {
  auto x =
    of_trace("ms,variant,n,failed,tenant\n0,a,4,0,ann\n9000,a,1,1,bob\n");
  x.max_batch = 4;
  const auto out = ran(x);
  BOOST_TEST(out.requests == 2u);
  BOOST_TEST(out.images == 5u);
  BOOST_TEST(out.completed == 2u);
  BOOST_TEST(out.trace_failed == 1u);
  BOOST_TEST(out.tenants == 2u);
  // All four run together, and are answered with the last of them.
  BOOST_TEST(out.latency_p99_ms == 2000.0, boost::test_tools::tolerance(0.05));
  BOOST_TEST(out.latency_p50_ms == 1000.0, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(a_request_that_loses_an_image_is_lost) {
  // The fifth would begin after two seconds and end after three.
  auto x = of_trace("ms,variant,n,deadline_ms\n0,a,5,2500\n");
  x.max_batch = 4;
  const auto out = ran(x);
  BOOST_TEST(out.requests == 1u);
  BOOST_TEST(out.completed == 0u);
  BOOST_TEST(out.dropped == 1u);
}

BOOST_AUTO_TEST_CASE(a_warm_up_runs_and_is_left_out_of_the_results) {
  auto x = of_trace("ms,variant,n,warm_up\n0,a,2,1\n500,a,1,\n9000,a,1,0\n");
  x.max_batch = 1;
  const auto out = ran(x);
  BOOST_TEST(out.requests == 2u);
  BOOST_TEST(out.images == 2u);
  // The first waits for the two images of the warm-up, 1.5 s.
  BOOST_TEST(out.latency_p99_ms == 2500.0, boost::test_tools::tolerance(0.05));
  BOOST_TEST(out.latency_p50_ms == 1000.0, boost::test_tools::tolerance(0.05));
  BOOST_TEST(out.device_seconds == 4.0, boost::test_tools::tolerance(0.05));
  BOOST_TEST(out.throughput_qps == 2 / 9.5, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(models_stay_within_a_workers_memory) {
  const auto loads = [](uint64_t gib) {
    std::string text = "ms,variant\n";
    for (int i = 0; i < 12; ++i)
      text += std::to_string(i * 10'000) + (i % 2 == 0 ? ",a\n" : ",b\n");
    auto x = of_trace(text);
    x.memory_bytes = gib << 30;
    return ran(x).loads;
  };
  BOOST_TEST(loads(1) == 11u);
  BOOST_TEST(loads(2) == 1u);
  auto x = of_trace("ms,variant\n0,a\n");
  x.memory_bytes = 1;
  const auto refused = runtime::validate(x);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.why().text.find("'a@10'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_load_takes_what_its_request_draws) {
  auto x = of_trace("ms,variant\n0,b\n");
  auto p = two_models();
  for (auto& v : p->variants) {
    v.loads = planning::load_times{2s, 4s, 8s};
    v.load = planning::mean_of(*v.loads);
  }
  x.profile = p;
  x.trace = planning::one_image_each(x.trace);
  for (const uint64_t seed : {1u, 2u, 3u}) {
    x.seed = seed;
    const auto load =
      planning::load_at(*p->variants[1].loads, runtime::load_part(seed, 1));
    for (const char* policy : {"atelier", "vanilla"}) {
      x.policy = *planning::make_policy(policy);
      // The latency contains the image, the load, and the time until a plan is
      // made.
      BOOST_TEST(ran(x).latency_mean_ms == core::to_ms(load) + 1000,
                 boost::test_tools::tolerance(0.05));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
