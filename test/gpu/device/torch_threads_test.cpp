// SPDX-License-Identifier: Apache-2.0
#include "../models/tiny_model.hpp"
#include "model_bench.hpp"

#include <ATen/Parallel.h>
#include <boost/test/unit_test.hpp>

#include <future>

using namespace atelier;

namespace {

/// Returns what `f` returns on a new thread.
template <class F>
auto elsewhere(F f) {
  return std::async(std::launch::async, f).get();
}

int number_of_a_new_thread() {
  return elsewhere([] { return at::get_num_threads(); });
}

/// Sets the process's number, as a host that uses LibTorch does.
int exchange_number(int x) {
  return elsewhere([&] {
    const auto before = at::get_num_threads();
    at::set_num_threads(x);
    return before;
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(torch_threads_test)

BOOST_AUTO_TEST_CASE(a_device_leaves_the_number_of_other_threads) {
  const auto before = exchange_number(3);
  const test::tiny_folder model;
  {
    test::model_bench sut{model.path};
    BOOST_TEST(number_of_a_new_thread() == 3);
    sut.run(sut.job(test::recipe_of(core::sampler::euler)));
    BOOST_TEST(number_of_a_new_thread() == 3);
  }
  BOOST_TEST(number_of_a_new_thread() == 3);
  exchange_number(before);
}

BOOST_AUTO_TEST_SUITE_END()
