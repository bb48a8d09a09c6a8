// SPDX-License-Identifier: Apache-2.0
// A row has the same bits whatever is computed with it.
#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_activation.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstring>

using namespace atelier;
using namespace atelier::test;

namespace {

/// Some rows of `all`.
struct part {
  int64_t first;
  int64_t count;
};

part draw_part(int64_t all, drawing& from) {
  const auto first = from.within(0, all - 1);
  return {first, from.coin() ? 1 : from.within(1, all - first)};
}

/// Returns whether `some` has the same bits as those rows of `all`.
template <class Element>
bool equal_bits(const guarded_array<Element>& all,
                const guarded_array<Element>& some, part x, int64_t width) {
  return std::memcmp(all.get() + x.first * width, some.get(),
                     static_cast<size_t>(x.count * width) * sizeof(Element))
      == 0;
}

/// Multiplies all rows by a matrix, and some alone.
template <class Element>
bool product_is_the_same(drawing& from) {
  const auto rows = from.coin() ? from.within(1, 40) : from.within(180, 220);
  const auto channels = 2 * from.within(1, from.coin() ? 20 : 500);
  const auto columns = from.within(1, 140);
  const auto panels = (columns + 63) / 64;
  const guarded_array<Element> x{rows * channels};
  const guarded_array<Element> packed{panels
                                      * gpu::host::packed_elements(channels)};
  const guarded_array<Element> zeros{channels};
  const guarded_array<float> bias{panels * gpu::host::panel_width};
  const guarded_array<Element> out{rows * columns};
  from.fill_roughly(x);
  from.fill_roughly(packed);
  from.fill_roughly(bias);
  std::fill_n(zeros.get(), channels, Element{});
  const auto run = [&](part some, const guarded_array<Element>& to) {
    const gpu::host::dense_input input{.pixels =
                                         x.get() + some.first * channels,
                                       .pixel_stride = channels,
                                       .width = some.count,
                                       .stored_width = some.count};
    const gpu::host::dense_piece piece{.channels = channels};
    gpu::host::dense_job job;
    job.type = element_of<Element>();
    job.inputs = &input;
    job.pieces = &piece;
    job.piece_count = 1;
    job.rows = some.count;
    job.out_width = some.count;
    job.columns = columns;
    job.weights = packed.get();
    job.panel_elements = gpu::host::packed_elements(channels);
    job.bias = bias.get();
    job.zeros = zeros.get();
    job.out = to.get();
    job.out_stride = columns;
    run_dense(job, 0, count_dense_tasks(job));
  };
  run({0, rows}, out);
  const auto some = draw_part(rows, from);
  const guarded_array<Element> again{some.count * columns};
  run(some, again);
  return equal_bits(out, again, some, columns);
}

/// Computes the attention of all queries, and of some alone.
template <class Element>
bool attention_is_the_same(drawing& from) {
  const auto rows = from.within(1, 2);
  const auto width = 2 * from.within(1, 40);
  const auto count = from.coin() ? from.within(1, 20) : from.within(380, 400);
  const auto keys = from.within(1, from.coin() ? 140 : 600);
  const guarded_array<Element> queries{rows * count * width};
  const guarded_array<Element> key{rows * keys * width};
  const guarded_array<Element> value{rows * keys * width};
  const guarded_array<Element> out{rows * count * width};
  from.fill_roughly(queries);
  from.fill_roughly(key);
  from.fill_roughly(value);
  gpu::host::attention_job job;
  job.type = element_of<Element>();
  job.heads = 1;
  job.head_width = width;
  job.key_tokens = keys;
  job.out_token_stride = width;
  const auto run = [&](int64_t row, int64_t row_count, part some,
                       const guarded_array<Element>& to) {
    job.queries = {queries.get() + (row * count + some.first) * width,
                   count * width, width};
    job.keys = {key.get() + row * keys * width, keys * width, width};
    job.values = {value.get() + row * keys * width, keys * width, width};
    job.rows = row_count;
    job.query_tokens = some.count;
    job.out = to.get();
    job.out_row_stride = some.count * width;
    run_attention(job, 0, count_attention_tasks(job));
  };
  run(0, rows, {0, count}, out);
  const auto row = from.within(0, rows - 1);
  const auto some = draw_part(count, from);
  const guarded_array<Element> again{some.count * width};
  run(row, 1, some, again);
  return equal_bits(out, again, {row * count + some.first, some.count}, width);
}

/// Normalises all rows, and some alone.
template <class Element>
bool norm_is_the_same(drawing& from) {
  const auto rows = from.within(1, 4);
  const auto pixels = from.within(1, 300);
  const auto groups = from.within(1, 4);
  const auto channels = groups * from.within(1, 30);
  const guarded_array<Element> x{rows * pixels * channels};
  const guarded_array<Element> weight{channels};
  const guarded_array<Element> bias{channels};
  const guarded_array<Element> out{rows * pixels * channels};
  from.fill_roughly(x);
  from.fill_roughly(weight);
  from.fill_roughly(bias);
  gpu::host::group_norm_job job;
  job.type = element_of<Element>();
  job.part_channels[0] = channels;
  job.pixels = pixels;
  job.groups = groups;
  job.weight = weight.get();
  job.bias = bias.get();
  job.silu = from.coin();
  const auto run = [&](part some, const guarded_array<Element>& to) {
    job.parts[0] = x.get() + some.first * pixels * channels;
    job.rows = some.count;
    job.out = to.get();
    const guarded_array<float> sums{count_norm_sums(job)};
    const guarded_array<float> factors{count_norm_factors(job)};
    job.sums = sums.get();
    job.factors = factors.get();
    sum_blocks(job, 0, count_norm_tasks(job));
    find_factors(job, 0, job.rows);
    apply_factors(job, 0, count_norm_tasks(job));
  };
  run({0, rows}, out);
  const auto some = draw_part(rows, from);
  const guarded_array<Element> again{some.count * pixels * channels};
  run(some, again);
  return equal_bits(out, again, some, pixels * channels);
}

/// Activates all numbers, and some alone.
template <class Element>
bool activation_is_the_same(drawing& from) {
  const auto count = from.within(1, from.coin() ? 100 : 20'000);
  const guarded_array<Element> x{count};
  const guarded_array<Element> out{count};
  from.fill_roughly(x);
  gpu::host::activation_job job;
  job.type = element_of<Element>();
  job.function = from.coin() ? gpu::host::activation::silu
                             : gpu::host::activation::gelu_tanh;
  const auto run = [&](part some, const guarded_array<Element>& to) {
    job.in = x.get() + some.first;
    job.count = some.count;
    job.out = to.get();
    run_activation(job, 0, count_activation_tasks(job));
  };
  run({0, count}, out);
  const auto some = draw_part(count, from);
  const guarded_array<Element> again{some.count};
  run(some, again);
  return equal_bits(out, again, some, 1);
}

} // namespace

BOOST_AUTO_TEST_SUITE(same_rows_test)

BOOST_AUTO_TEST_CASE(a_product_depends_on_its_row_alone) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(2'000); i > 0; --i) {
      BOOST_TEST_REQUIRE(product_is_the_same<float>(from));
      BOOST_TEST_REQUIRE(product_is_the_same<bfloat16>(from));
    }
  });
}

BOOST_AUTO_TEST_CASE(attention_depends_on_its_query_alone) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(1'000); i > 0; --i) {
      BOOST_TEST_REQUIRE(attention_is_the_same<float>(from));
      BOOST_TEST_REQUIRE(attention_is_the_same<bfloat16>(from));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_normalised_row_depends_on_itself_alone) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(5'000); i > 0; --i) {
      BOOST_TEST_REQUIRE(norm_is_the_same<float>(from));
      BOOST_TEST_REQUIRE(norm_is_the_same<bfloat16>(from));
    }
  });
}

BOOST_AUTO_TEST_CASE(an_activation_depends_on_its_number_alone) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      BOOST_TEST_REQUIRE(activation_is_the_same<float>(from));
      BOOST_TEST_REQUIRE(activation_is_the_same<bfloat16>(from));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
