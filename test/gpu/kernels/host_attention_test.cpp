// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_attention.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace atelier;
using namespace atelier::test;

namespace {

struct attention_sizes {
  int64_t rows = 1;
  int64_t heads = 1;
  int64_t head_width = 2;
  int64_t queries = 1;
  int64_t keys = 1;
  /// A power of two: queries are of -reach..reach.
  float reach = 1;
};

template <class Element>
struct attended {
  // Queries, keys and values of self-attention are in one tensor; here, each
  // has gaps of its own.
  attended(const attention_sizes& x, drawing& from)
    : of(x),
      width(x.heads * x.head_width),
      query_stride(width + from.within(0, 3)),
      key_stride(width + from.within(0, 3)),
      queries((x.rows * x.queries - 1) * query_stride + width),
      keys((x.rows * x.keys - 1) * key_stride + width),
      values((x.rows * x.keys - 1) * key_stride + width),
      out(x.rows * x.queries * width) {
    from.fill(queries, x.reach);
    from.fill(keys);
    from.fill(values);
  }

  bool is_right() {
    gpu::host::attention_job job;
    job.type = element_of<Element>();
    job.queries = {queries.get(), of.queries * query_stride, query_stride};
    job.keys = {keys.get(), of.keys * key_stride, key_stride};
    job.values = {values.get(), of.keys * key_stride, key_stride};
    job.rows = of.rows;
    job.heads = of.heads;
    job.head_width = of.head_width;
    job.query_tokens = of.queries;
    job.key_tokens = of.keys;
    job.scale = 1 / std::sqrt(static_cast<float>(of.head_width));
    job.out = out.get();
    job.out_row_stride = of.queries * width;
    job.out_token_stride = width;
    for (auto task = count_attention_tasks(job); task > 0; --task)
      run_attention(job, task - 1, task);
    if (!out.intact())
      return false;
    for (int64_t row = 0; row < of.rows; ++row)
      for (int64_t head = 0; head < of.heads; ++head)
        for (int64_t q = 0; q < of.queries; ++q)
          if (!matches(row, head, q))
            return false;
    return true;
  }

  bool matches(int64_t row, int64_t head, int64_t q) const {
    const auto* x = queries.get() + (row * of.queries + q) * query_stride
                  + head * of.head_width;
    const auto at = [&](int64_t k) {
      return (row * of.keys + k) * key_stride + head * of.head_width;
    };
    std::vector<double> shares;
    for (int64_t k = 0; k < of.keys; ++k) {
      double score = 0;
      for (int64_t d = 0; d < of.head_width; ++d)
        score += static_cast<double>(number_of(x[d]))
               * static_cast<double>(number_of(keys[at(k) + d]));
      shares.push_back(score / std::sqrt(static_cast<double>(of.head_width)));
    }
    const auto most = *std::max_element(shares.begin(), shares.end());
    double total = 0;
    for (auto& share : shares)
      total += share = std::exp(share - most);
    for (int64_t d = 0; d < of.head_width; ++d) {
      double exact = 0;
      for (int64_t k = 0; k < of.keys; ++k)
        exact += shares[static_cast<size_t>(k)] / total
               * static_cast<double>(number_of(values[at(k) + d]));
      if (!is_near(
            out[((row * of.queries + q) * of.heads + head) * of.head_width + d],
            exact, 1e-5 * static_cast<double>(of.reach)))
        return false;
    }
    return true;
  }

  attention_sizes of;
  int64_t width;
  int64_t query_stride;
  int64_t key_stride;
  guarded_array<Element> queries;
  guarded_array<Element> keys;
  guarded_array<Element> values;
  guarded_array<Element> out;
};

} // namespace

BOOST_AUTO_TEST_SUITE(host_attention_test)

BOOST_AUTO_TEST_CASE(attention_of_any_size_is_right) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      attention_sizes x;
      x.rows = from.within(1, 2);
      x.heads = from.within(1, 3);
      x.head_width = 2 * from.within(1, from.coin() ? 8 : 50);
      // One block holds 384 queries and 512 keys.
      const bool many = from.within(0, 9) == 0;
      x.queries = many ? from.within(380, 400) : from.within(1, 20);
      x.keys = many ? from.within(1, 8)
                    : from.within(1, from.within(0, 9) == 0 ? 600 : 140);
      x.reach = from.within(0, 3) == 0 ? 64 : 1;
      const bool narrow = from.coin();
      BOOST_REQUIRE_MESSAGE(
        (narrow ? attended<bfloat16>{x, from}.is_right()
                : attended<float>{x, from}.is_right()),
        x.rows << " rows, " << x.heads << " heads of " << x.head_width << ", "
               << x.queries << " queries, " << x.keys << " keys, queries up to "
               << x.reach << ", bfloat16: " << narrow);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
