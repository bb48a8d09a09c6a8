// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_activation.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace atelier;
using namespace atelier::test;
using gpu::host::activation;

namespace {

double exact(activation function, double x) {
  if (function == activation::silu)
    return x / (1 + std::exp(-x));
  const auto root = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}

template <class Element>
gpu::host::activation_job job_of(activation function, int64_t count,
                                 const Element* in, Element* out) {
  gpu::host::activation_job job;
  job.type = element_of<Element>();
  job.function = function;
  job.count = count;
  job.in = in;
  job.out = out;
  return job;
}

/// Runs a job's tasks in a drawn order, as threads might.
void run_in_any_order(const gpu::host::activation_job& job, drawing& from) {
  const auto tasks = count_activation_tasks(job);
  const auto cut = from.within(0, tasks);
  run_activation(job, cut, tasks);
  run_activation(job, 0, cut);
}

template <class Element>
bool is_right(drawing& from) {
  const auto count = from.coin() ? from.within(1, 200) : from.within(1, 40'000);
  const auto function = from.coin() ? activation::silu : activation::gelu_tanh;
  const guarded_array<Element> in{count};
  const guarded_array<Element> out{count};
  from.fill(in, from.coin() ? 1.0F : 128.0F);
  run_in_any_order(job_of(function, count, in.get(), out.get()), from);
  for (int64_t i = 0; i < count; ++i)
    if (!is_near(out[i], exact(function, static_cast<double>(number_of(in[i]))),
                 2e-6))
      return false;
  const guarded_array<Element> same{count};
  std::copy_n(in.get(), count, same.get());
  run_in_any_order(job_of(function, count, same.get(), same.get()), from);
  return out.intact() && same.intact()
      && std::equal(out.get(), out.get() + count, same.get());
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_activation_test)

BOOST_AUTO_TEST_CASE(any_number_of_numbers_is_activated) {
  on_each_target([] {
    drawing from{seed()};
    for (size_t i = scaled(100'000); i > 0; --i)
      BOOST_REQUIRE(from.coin() ? is_right<float>(from)
                                : is_right<bfloat16>(from));
  });
}

BOOST_AUTO_TEST_CASE(large_numbers_stay_or_vanish_and_a_nan_stays_one) {
  on_each_target([] {
    constexpr auto large = 1e38F;
    constexpr auto none = std::numeric_limits<float>::quiet_NaN();
    for (const auto function : {activation::silu, activation::gelu_tanh}) {
      const float in[] = {large, -large, 0.0F, none};
      float out[4];
      run_activation(job_of(function, 4, in, out), 0, 1);
      BOOST_TEST(out[0] == large);
      BOOST_TEST(out[1] == 0.0F);
      BOOST_TEST(out[2] == 0.0F);
      BOOST_TEST(std::isnan(out[3]));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
