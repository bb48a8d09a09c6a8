// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/demand/request_work.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

variant_profile at_512() {
  auto v = *parse_variant("a@20");
  v.native_px = {512, 512};
  v.step = {{1, 512 * 512, 100ms, 9}, {4, 512 * 512, 300ms, 9}};
  return v;
}

double work_of(const variant_profile& v, const core::request& wanted) {
  return relative_work({v, step_table{v.step}}, wanted);
}

demand_window window(uint64_t arrived, std::vector<double> extra) {
  demand_window w;
  w.length = 1s;
  w.arrived = arrived;
  w.extra_work = std::move(extra);
  return w;
}

} // namespace

BOOST_AUTO_TEST_SUITE(request_work_test)

BOOST_AUTO_TEST_CASE(what_asks_for_nothing_of_its_own_is_one_image) {
  const core::request usual;
  BOOST_TEST(!has_own_work(usual));
  BOOST_TEST(work_of(at_512(), usual) == 1);
}

BOOST_AUTO_TEST_CASE(sizes_steps_and_strengths_count) {
  core::request small;
  small.px = {256, 256};
  BOOST_TEST(has_own_work(small));
  BOOST_TEST(work_of(at_512(), small) == 0.25,
             boost::test_tools::tolerance(1e-9));
  small.fixed.steps = 40;
  BOOST_TEST(work_of(at_512(), small) == 0.5,
             boost::test_tools::tolerance(1e-9));
  small.source = std::make_shared<const core::source_images>();
  small.fixed.strength = 0.5f;
  BOOST_TEST(work_of(at_512(), small) == 0.25,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_guidance_counts_where_it_changes_the_places) {
  core::request unguided;
  unguided.fixed.guidance = 1;
  BOOST_TEST(has_own_work(unguided));
  // A row takes 100 ms, and each further one 67 ms.
  BOOST_TEST(work_of(at_512(), unguided) == 2. / 3,
             boost::test_tools::tolerance(1e-6));
  core::request guided;
  guided.fixed.guidance = 12;
  BOOST_TEST(work_of(at_512(), guided) == 1);
  auto distilled = at_512();
  distilled.guidance = 0;
  BOOST_TEST(work_of(distilled, unguided) == 1);
  BOOST_TEST(work_of(distilled, guided) == 5. / 3,
             boost::test_tools::tolerance(1e-6));
  auto embeds = at_512();
  embeds.embeds_guidance = true;
  BOOST_TEST(work_of(embeds, unguided) == 1);
}

BOOST_AUTO_TEST_CASE(a_model_that_draws_at_its_own_size_alone_does_so) {
  auto v = at_512();
  v.native_only = true;
  core::request large;
  large.px = {1024, 1024};
  BOOST_TEST(work_of(v, large) == 1);
  large.native_only = false;
  BOOST_TEST(work_of(v, large) == 4, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(steps_are_planned_as_long_as_those_of_the_mean_request) {
  profile p;
  p.variants = {at_512(), at_512()};
  p.kinds.push_back({"slow", {running_costs{}}, 0, {}, {}});
  p.kinds[0].variants[0]->step = {{1, 512 * 512, 1s, 9}};
  // Four of ten requests are a quarter of an image of the first variant.
  const auto now =
    at_requested_work(p, std::vector{window(6, {-1.5}), window(4, {-1.5, 0})});
  BOOST_TEST((now.variants[0].step[0].took == 70ms));
  BOOST_TEST((now.variants[0].step[1].took == 210ms));
  BOOST_TEST((now.variants[1] == p.variants[1]));
  BOOST_TEST((now.kinds[0].variants[0]->step[0].took == 700ms));
  BOOST_TEST((at_requested_work(p, {}) == p));
}

BOOST_AUTO_TEST_CASE(pixels_count_whatever_the_steps) {
  core::request small;
  small.px = {256, 256};
  small.fixed.steps = 80;
  BOOST_TEST(relative_pixels(at_512(), small) == 0.25);
  BOOST_TEST(relative_pixels(at_512(), core::request{}) == 1);
  auto v = at_512();
  v.native_only = true;
  BOOST_TEST(relative_pixels(v, small) == 1);
}

BOOST_AUTO_TEST_CASE(decoding_is_planned_for_the_size_of_the_mean_request) {
  profile p;
  p.variants = {at_512(), at_512()};
  for (auto& v : p.variants) {
    v.decode = 40ms;
    v.encode = 20ms;
  }
  p.kinds.push_back({"slow", {running_costs{}}, 0, {}, {}});
  p.kinds[0].variants[0]->step = {{1, 512 * 512, 1s, 9}};
  p.kinds[0].variants[0]->decode = 200ms;
  // Half of the requests have four times the pixels of the first variant, in so
  // few steps that they are the usual work.
  auto w = window(4, {0, 0});
  w.extra_pixels = {6};
  const auto now = at_requested_work(p, std::vector{w});
  BOOST_TEST((now.variants[0].decode == 100ms));
  BOOST_TEST((now.variants[0].encode == 50ms));
  BOOST_TEST((now.variants[0].step == p.variants[0].step));
  BOOST_TEST((now.variants[1] == p.variants[1]));
  BOOST_TEST((now.kinds[0].variants[0]->decode == 500ms));
}

BOOST_AUTO_TEST_SUITE_END()
