// SPDX-License-Identifier: Apache-2.0
#include "planning/sample.hpp"
#include "support/scale.hpp"
#include <atelier/planning/policy.hpp>
#include <atelier/planning/profile.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier;
using namespace atelier::planning;
using namespace std::chrono_literals;

namespace {

constexpr core::extent small{100, 100};
constexpr core::extent large{100, 300};

int64_t ns(const std::vector<step_cost>& points, uint32_t batch,
           core::extent px) {
  variant_profile v;
  v.step = points;
  return step_time(v, batch, px).count();
}

} // namespace

BOOST_AUTO_TEST_SUITE(profile_test)

BOOST_AUTO_TEST_CASE(variants_are_found_by_name_then_by_model) {
  const profile p = test::three_variants();
  const auto found = [&](const char* name) {
    const auto v = find_variant(p, name);
    return v ? static_cast<int>(v->value) : -1;
  };
  BOOST_TEST(found("base@50") == 0);
  BOOST_TEST(found("base@20") == 1);
  BOOST_TEST(found("base") == 0);
  BOOST_TEST(found("turbo") == 2);
  BOOST_TEST(found("turbo@2") == -1);
  BOOST_TEST(found("") == -1);
  BOOST_TEST(!find_variant({}, "base"));
}

BOOST_AUTO_TEST_CASE(one_point_is_proportional) {
  const std::vector<step_cost> one{{2, small.pixels(), 100ns}};
  BOOST_TEST(ns(one, 2, small) == 100);
  BOOST_TEST(ns(one, 1, small) == 50);
  BOOST_TEST(ns(one, 6, small) == 300);
  BOOST_TEST(ns(one, 2, large) == 300);
}

BOOST_AUTO_TEST_CASE(batches_are_joined_by_lines) {
  const std::vector<step_cost> points{{8, small.pixels(), 500ns},
                                      {2, small.pixels(), 200ns},
                                      {4, small.pixels(), 300ns}};
  BOOST_TEST(ns(points, 1, small) == 150);
  BOOST_TEST(ns(points, 2, small) == 200);
  BOOST_TEST(ns(points, 3, small) == 250);
  BOOST_TEST(ns(points, 6, small) == 400);
  BOOST_TEST(ns(points, 10, small) == 600);
  BOOST_TEST(ns(points, 2, large) == 600);
}

BOOST_AUTO_TEST_CASE(sizes_are_joined_by_lines) {
  const std::vector<step_cost> points{{1, small.pixels(), 100ns},
                                      {2, small.pixels(), 200ns},
                                      {1, large.pixels(), 300ns},
                                      {2, large.pixels(), 400ns}};
  BOOST_TEST(ns(points, 1, {100, 200}) == 200);
  BOOST_TEST(ns(points, 2, {100, 200}) == 300);
  BOOST_TEST(ns(points, 3, {100, 200}) == 400);
  BOOST_TEST(ns(points, 1, {100, 400}) == 400);
}

BOOST_AUTO_TEST_CASE(steep_lines_never_reach_zero) {
  const std::vector<step_cost> points{{4, small.pixels(), 100ns},
                                      {8, small.pixels(), 1000ns}};
  BOOST_TEST(ns(points, 1, small) == 25);
}

BOOST_AUTO_TEST_CASE(scattered_measurements_do_not_fall) {
  const std::vector<step_cost> points{{1, small.pixels(), 100ns},
                                      {2, small.pixels(), 90ns},
                                      {2, small.pixels(), 110ns},
                                      {1, large.pixels(), 50ns}};
  BOOST_TEST(ns(points, 2, small) == 110);
  BOOST_TEST(ns(points, 1, large) == 100);
}

BOOST_AUTO_TEST_CASE(more_work_never_takes_less_time) {
  for (size_t loop = 0; loop < test::scaled(20'000); ++loop) {
    auto random = test::random_of(loop);
    const auto below = [&](uint64_t n) { return random.below(n); };
    std::vector<step_cost> points;
    for (uint64_t i = 0, n = 1 + below(8); i < n; ++i)
      points.push_back({static_cast<uint32_t>(1 + below(9)),
                        (1 + below(4)) * 4096,
                        core::timespan{1000 + below(1'000'000)}});
    for (int i = 0; i < 20; ++i) {
      const auto batch = static_cast<uint32_t>(1 + below(16));
      const auto rows = static_cast<uint32_t>(8 * (1 + below(32)));
      const int64_t took = ns(points, batch, {64, rows});
      BOOST_REQUIRE(took > 0);
      BOOST_REQUIRE(took <= ns(points, batch + 1, {64, rows}));
      BOOST_REQUIRE(took <= ns(points, batch, {64, rows + 8}));
    }
  }
}

BOOST_AUTO_TEST_CASE(huge_steps_stay_in_range) {
  const std::vector<step_cost> one{{1, 1, core::timespan::max()}};
  BOOST_TEST(ns(one, UINT32_MAX, {UINT32_MAX, UINT32_MAX}) > 0);
}

BOOST_AUTO_TEST_CASE(latents_cover_the_image) {
  variant_profile v;
  v.latent_channels = 16;
  BOOST_TEST((latent_of(v, {512, 768}) == core::latent_shape{16, 96, 64}));
  BOOST_TEST((latent_of(v, {9, 8}) == core::latent_shape{16, 1, 2}));
  v.latent_factor = 1;
  BOOST_TEST((latent_of(v, {3, 2}) == core::latent_shape{16, 2, 3}));
}

BOOST_AUTO_TEST_CASE(an_empty_size_is_the_native_one) {
  variant_profile v;
  v.native_px = {64, 32};
  BOOST_TEST((image_of(v, {}) == core::extent{64, 32}));
  BOOST_TEST((image_of(v, {8, 16}) == core::extent{8, 16}));
}

BOOST_AUTO_TEST_CASE(a_model_of_one_size_draws_there_unless_it_may_not) {
  profile known;
  auto& v = known.variants.emplace_back();
  v.native_px = {64, 64};
  core::request wanted;
  const auto how = [&] {
    return recipe_of(wanted, {}, core::variant_id{0}, known);
  };
  wanted.px = {128, 32};
  BOOST_TEST((how().px == wanted.px));
  BOOST_TEST((how().scaled_to == core::extent{}));
  v.native_only = true;
  BOOST_TEST((how().px == v.native_px));
  BOOST_TEST((how().scaled_to == wanted.px));
  BOOST_TEST((core::answered_px(how()) == wanted.px));
  wanted.native_only = false;
  BOOST_TEST((how().px == wanted.px));
  BOOST_TEST((how().scaled_to == core::extent{}));
  wanted.native_only = true;
  for (const auto px : {core::extent{}, v.native_px}) {
    wanted.px = px;
    BOOST_TEST((how().px == v.native_px));
    BOOST_TEST((how().scaled_to == core::extent{}));
  }
}

BOOST_AUTO_TEST_CASE(load_times_lie_on_lines_between_their_percentiles) {
  using std::chrono::seconds;
  const load_times x{seconds{20}, seconds{40}, seconds{49}};
  const auto at = [&](double part) {
    return core::to_seconds(load_at(x, part));
  };
  const auto near = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(at(0) == 20.0, near);
  BOOST_TEST(at(0.5) == 20.0, near);
  BOOST_TEST(at(0.7) == 30.0, near);
  BOOST_TEST(at(0.9) == 40.0, near);
  BOOST_TEST(at(0.95) == 45.0, near);
  BOOST_TEST(at(1) == 49.0, near);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i)
    sum += at((i + 0.5) / 10'000);
  BOOST_TEST(core::to_seconds(mean_of(x)) == sum / 10'000,
             boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_SUITE_END()
