// SPDX-License-Identifier: Apache-2.0
#include "clustered.hpp"
#include "support/each_instruction_set.hpp"
#include "support/seed.hpp"
#include <atelier/index/vectors/detail/products.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace atelier;
using index::detail::products;

/// Returns the products of each instruction set of this processor.
std::vector<const products*> those_that_run() {
  std::vector<const products*> out;
  test::on_each_instruction_set([&] {
    const auto* x = &index::detail::chosen_products();
    if (out.empty() || out.back() != x)
      out.push_back(x);
  });
  return out;
}

} // namespace

BOOST_AUTO_TEST_SUITE(products_test)

BOOST_AUTO_TEST_CASE(every_instruction_set_has_the_same_product) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  const auto all = those_that_run();
  for (const size_t n : {1u, 7u, 8u, 9u, 31u, 33u, 64u, 100u, 256u, 768u, 771u})
    for (int i = 0; i < 20; ++i) {
      test::clustered from{n, 2, random};
      const auto a = from.draw();
      const auto b = from.draw();
      double plain = 0;
      for (size_t j = 0; j < n; ++j)
        plain += static_cast<double>(a[j]) * b[j];
      const auto exact = all.front()->exact(a.data(), b.data(), n);
      BOOST_TEST(std::abs(exact - plain) < 1e-5);
      for (const auto* x : all) {
        BOOST_TEST(x->exact(a.data(), b.data(), n) == exact,
                   core::to_string(x->set));
      }
    }
}

BOOST_AUTO_TEST_CASE(every_instruction_set_has_the_same_product_of_codes) {
  core::philox random{test::seed(), core::purpose::test, core::request_id{1}};
  for (const size_t n :
       {1u, 7u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 768u, 771u, 131'072u})
    for (int i = 0; i < 20; ++i) {
      // The last pair has the largest sum.
      const auto draw = [&] {
        std::vector<int8_t> out(n, -127);
        for (auto& x : out)
          if (i < 19)
            x = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
        return out;
      };
      const auto a = draw();
      const auto b = draw();
      int64_t plain = 0;
      for (size_t j = 0; j < n; ++j)
        plain += a[j] * b[j];
      for (const auto* x : those_that_run())
        BOOST_TEST(x->of_codes(a.data(), b.data(), n) == plain,
                   core::to_string(x->set));
    }
}

BOOST_AUTO_TEST_CASE(the_set_in_use_chooses_the_products) {
  const auto compiled = index::detail::compiled_products();
  test::on_each_instruction_set([&] {
    const auto in_use = core::instruction_set_in_use();
    const auto chosen = index::detail::chosen_products().set;
    BOOST_TEST((chosen <= in_use));
    for (const auto* x : compiled)
      BOOST_TEST((x->set > in_use || x->set <= chosen));
  });
}

BOOST_AUTO_TEST_SUITE_END()
