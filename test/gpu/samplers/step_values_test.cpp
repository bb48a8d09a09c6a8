// SPDX-License-Identifier: Apache-2.0
#include "support/seed.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/gpu/samplers/detail/step_values.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace atelier;
using namespace atelier::gpu;

namespace {

std::vector<float> normals(core::philox& random, size_t n) {
  std::vector<float> out(n);
  for (float& x : out)
    x = static_cast<float>(random.normal());
  return out;
}

step_rule some_rule() {
  step_rule out;
  out.x0_from_x = 1.25f;
  out.x0_from_out = -0.75f;
  out.clip = 1;
  out.from_x = 0.5f;
  out.from_out = 0.25f;
  out.from_x0 = 0.125f;
  out.from_last = -0.0625f;
  out.from_noise = 0.3f;
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(step_values_test)

BOOST_AUTO_TEST_CASE(a_rule_is_applied_as_it_is_written) {
  const float x[] = {2, -2, 0.5f};
  const float out[] = {1, 1, 0.25f};
  const float last[] = {1, 2, 3};
  const float noise[] = {0, 10, 0};
  float next[3];
  float x0[3];
  run_step(some_rule(), {x, out, last, noise, next, x0}, 3);
  BOOST_TEST(x0[0] == 1);
  BOOST_TEST(x0[1] == -1);
  BOOST_TEST(x0[2] == 0.4375f);
  BOOST_TEST(next[0] == 1.3125f);
  BOOST_TEST(next[1] == -1 + 0.25f - 0.125f - 0.125f + 3.0f);
  BOOST_TEST(next[2] == 0.25f + 0.0625f + 0.125f * 0.4375f - 0.1875f);
}

BOOST_AUTO_TEST_CASE(what_a_rule_has_no_share_of_is_not_read) {
  step_rule rule;
  rule.x0_from_x = 1;
  rule.from_x = 1;
  const float x = 3;
  const float out = 5;
  float next = 0;
  float x0 = 0;
  run_step(rule, {&x, &out, nullptr, nullptr, &next, &x0}, 1);
  BOOST_TEST(next == 3);
  BOOST_TEST(x0 == 3);
}

BOOST_AUTO_TEST_CASE(a_value_has_the_same_bits_wherever_it_lies) {
  core::philox random{test::seed(), core::purpose::test};
  constexpr size_t n = 1003;
  const auto x = normals(random, n);
  const auto out = normals(random, n);
  const auto last = normals(random, n);
  const auto noise = normals(random, n);
  const step_rule full = some_rule();
  for (int shape = 0; shape < 8; ++shape) {
    step_rule rule = full;
    rule.clip = (shape & 1) != 0 ? full.clip : 0;
    rule.from_last = (shape & 2) != 0 ? full.from_last : 0;
    rule.from_noise = (shape & 4) != 0 ? full.from_noise : 0;
    std::vector<float> whole(n);
    std::vector<float> whole_x0(n);
    run_step(rule,
             {x.data(), out.data(), last.data(), noise.data(), whole.data(),
              whole_x0.data()},
             n);
    for (size_t i = 0; i < n; ++i) {
      float next = 0;
      float x0 = 0;
      run_step(rule, {&x[i], &out[i], &last[i], &noise[i], &next, &x0}, 1);
      BOOST_REQUIRE(next == whole[i]);
      BOOST_REQUIRE(x0 == whole_x0[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(guidance_mixes_from_the_unguided_side) {
  const float unguided[] = {1, 2};
  const float guided[] = {2, 2};
  float mixed[2];
  mix_guidance(unguided, guided, 7.5f, mixed);
  BOOST_TEST(mixed[0] == 8.5f);
  BOOST_TEST(mixed[1] == 2);
}

BOOST_AUTO_TEST_CASE(deviation_is_that_of_a_sample) {
  BOOST_TEST(deviation(std::vector<float>{1, 2, 3, 4}) == std::sqrt(5.0 / 3),
             boost::test_tools::tolerance(1e-15));
  BOOST_TEST(deviation({}) == 0);
  BOOST_TEST(deviation(std::vector<float>{5}) == 0);
  std::vector<float> many(1001);
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = 1000 + (i % 2 == 0 ? 1.0f : -1.0f);
  BOOST_TEST(deviation(many) == 1.0005, boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(rescale_pulls_towards_the_guided_deviation) {
  BOOST_TEST(rescale_factor(1, 2, 1) == 0.5f);
  BOOST_TEST(rescale_factor(1, 2, 0.5f) == 0.75f);
  BOOST_TEST(rescale_factor(1, 0, 1) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
