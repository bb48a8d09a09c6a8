// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/drawn_numbers.hpp"
#include "gpu/kernels/each_target.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/gpu/kernels/host_dense.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace atelier;
using namespace atelier::test;
using gpu::host::dense_end;
using gpu::host::dense_input;
using gpu::host::dense_job;
using gpu::host::dense_piece;
using gpu::host::panel_width;

namespace {

/// The sizes of a product; a product of rows is a convolution of a map with a
/// height of 1.
struct product_sizes {
  int64_t maps = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;
  /// Channels of a second input, added by a kernel of 1x1; 0: none.
  int64_t beside = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  bool enlarged = false;
  int64_t outputs = 1;
  bool gated = false;
  bool onto = false;
};

std::string text_of(const product_sizes& x) {
  return fmt::format(
    "{} maps of {}x{}, {} and {} channels, kernel {}, stride {}, padding {}, "
    "enlarged {}, {} outputs, gated {}, onto {}",
    x.maps, x.height, x.width, x.channels, x.beside, x.kernel, x.stride,
    x.padding, x.enlarged, x.outputs, x.gated, x.onto);
}

double gelu(double x) {
  return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
}

/// A job with all of its memory, and its result by the definition.
template <class Element>
class product {
public:
  product(const product_sizes& x, drawing& from)
    : of_(x),
      stored_height_(x.enlarged ? (x.height + 1) / 2 : x.height),
      stored_width_(x.enlarged ? (x.width + 1) / 2 : x.width),
      out_height_(side(x.height)),
      out_width_(side(x.width)),
      rows_(x.maps * out_height_ * out_width_),
      columns_(x.gated ? 2 * x.outputs : x.outputs),
      panels_((columns_ + panel_width - 1) / panel_width),
      taps_(x.kernel * x.kernel),
      map_(x.maps * stored_height_ * stored_width_ * x.channels),
      second_(rows_ * x.beside),
      weights_(columns_ * (taps_ * x.channels + x.beside)),
      packed_(panels_ * packed_in_panel()),
      bias_(panels_ * panel_width),
      zeros_(std::max(x.channels, x.beside)),
      onto_(x.onto ? rows_ * x.outputs : 0),
      out_(rows_ * x.outputs) {
    from.fill(map_);
    from.fill(second_);
    from.fill(weights_);
    from.fill(onto_);
    std::fill_n(bias_.get(), bias_.size(), 0.0F);
    for (int64_t j = 0; j < columns_; ++j)
      bias_[place(j)] = from.number();
    std::fill_n(packed_.get(), packed_.size(), Element{});
    std::fill_n(zeros_.get(), zeros_.size(), Element{});
    for (int64_t y = 0; y < x.height; ++y)
      row_of_.push_back(static_cast<int32_t>(y / 2));
    for (int64_t y = 0; y < x.width; ++y)
      column_of_.push_back(static_cast<int32_t>(y / 2));
    pack();
  }

  /// Runs each task on its own, the last first.
  bool is_right() {
    dense_input inputs[2];
    inputs[0] = {map_.get(),
                 of_.channels,
                 of_.height,
                 of_.width,
                 of_.enlarged ? row_of_.data() : nullptr,
                 of_.enlarged ? column_of_.data() : nullptr,
                 stored_height_,
                 stored_width_};
    inputs[1] = {second_.get(), of_.beside, out_height_, out_width_,
                 nullptr,       nullptr,    out_height_, out_width_};
    std::vector<dense_piece> pieces;
    for (int64_t i = 0; i < taps_; ++i)
      pieces.push_back({0, of_.channels, i / of_.kernel - of_.padding,
                        i % of_.kernel - of_.padding});
    if (of_.beside > 0)
      pieces.push_back({1, of_.beside, 0, 0});
    dense_job job;
    job.type = element_of<Element>();
    job.inputs = inputs;
    job.pieces = pieces.data();
    job.piece_count = static_cast<int64_t>(pieces.size());
    job.rows = rows_;
    job.out_height = out_height_;
    job.out_width = out_width_;
    job.stride = of_.stride;
    job.columns = columns_;
    job.weights = packed_.get();
    job.panel_elements = packed_in_panel();
    job.bias = bias_.get();
    job.zeros = zeros_.get();
    job.end = of_.gated ? dense_end::gelu_gate : dense_end::add;
    if (of_.onto) {
      job.onto = onto_.get();
      job.onto_stride = of_.outputs;
    }
    job.out = out_.get();
    job.out_stride = of_.outputs;
    for (auto task = count_dense_tasks(job); task > 0; --task)
      run_dense(job, task - 1, task);
    return out_.intact() && matches();
  }

private:
  int64_t side(int64_t in) const {
    return (in + 2 * of_.padding - of_.kernel) / of_.stride + 1;
  }

  int64_t packed_in_panel() const {
    return gpu::host::packed_elements(taps_ * of_.channels + of_.beside);
  }

  /// Returns where a column is in the panels: values and gates alternate.
  int64_t place(int64_t column) const {
    constexpr auto half = panel_width / 2;
    if (!of_.gated)
      return column;
    const auto gate = column / of_.outputs;
    const auto x = column % of_.outputs;
    return x / half * panel_width + gate * half + x % half;
  }

  const Element* weight(int64_t column, int64_t piece) const {
    return weights_.get() + column * (taps_ * of_.channels + of_.beside)
         + piece * of_.channels;
  }

  void pack() {
    for (int64_t j = 0; j < columns_; ++j) {
      auto* to = packed_.get() + place(j) / panel_width * packed_in_panel();
      for (int64_t p = 0; p < taps_ + (of_.beside > 0 ? 1 : 0); ++p) {
        const auto channels = p < taps_ ? of_.channels : of_.beside;
        gpu::host::pack_dense(element_of<Element>(),
                              {weight(j, p), 1, 1, channels, 1, 0}, 1,
                              place(j) % panel_width, to);
        to += gpu::host::packed_elements(channels);
      }
    }
  }

  double sum(int64_t row, int64_t column) const {
    const auto area = out_height_ * out_width_;
    const auto y0 = row % area / out_width_ * of_.stride - of_.padding;
    const auto x0 = row % area % out_width_ * of_.stride - of_.padding;
    auto out = static_cast<double>(bias_[place(column)]);
    for (int64_t p = 0; p < taps_; ++p) {
      auto y = y0 + p / of_.kernel;
      auto x = x0 + p % of_.kernel;
      if (y < 0 || x < 0 || y >= of_.height || x >= of_.width)
        continue;
      y = of_.enlarged ? y / 2 : y;
      x = of_.enlarged ? x / 2 : x;
      const auto* from = map_.get()
                       + ((row / area * stored_height_ + y) * stored_width_ + x)
                           * of_.channels;
      out += dot(from, weight(column, p), of_.channels);
    }
    return out
         + dot(second_.get() + row * of_.beside, weight(column, taps_),
               of_.beside);
  }

  static double dot(const Element* a, const Element* b, int64_t count) {
    double out = 0;
    for (int64_t i = 0; i < count; ++i)
      out += static_cast<double>(number_of(a[i]))
           * static_cast<double>(number_of(b[i]));
    return out;
  }

  bool matches() const {
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t j = 0; j < of_.outputs; ++j) {
        auto exact = sum(i, j);
        if (of_.gated)
          exact *= gelu(sum(i, j + of_.outputs));
        const auto at = i * of_.outputs + j;
        if (of_.onto)
          exact += static_cast<double>(number_of(onto_[at]));
        if (!is_near(out_[at], exact))
          return false;
      }
    return true;
  }

  product_sizes of_;
  int64_t stored_height_;
  int64_t stored_width_;
  int64_t out_height_;
  int64_t out_width_;
  int64_t rows_;
  int64_t columns_;
  int64_t panels_;
  int64_t taps_;
  guarded_array<Element> map_;
  guarded_array<Element> second_;
  guarded_array<Element> weights_;
  guarded_array<Element> packed_;
  guarded_array<float> bias_;
  guarded_array<Element> zeros_;
  guarded_array<Element> onto_;
  guarded_array<Element> out_;
  std::vector<int32_t> row_of_;
  std::vector<int32_t> column_of_;
};

void expect_right(product_sizes x, bool narrow, drawing& from) {
  // bfloat16 is multiplied in pairs of channels.
  if (narrow)
    for (auto* channels : {&x.channels, &x.beside})
      *channels = (*channels + 1) / 2 * 2;
  BOOST_REQUIRE_MESSAGE((narrow ? product<bfloat16>{x, from}.is_right()
                                : product<float>{x, from}.is_right()),
                        text_of(x) << (narrow ? ", bfloat16" : ", float32"));
}

} // namespace

BOOST_AUTO_TEST_SUITE(host_dense_test)

BOOST_AUTO_TEST_CASE(products_of_any_size_are_right) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      product_sizes x;
      x.width = from.coin() ? from.within(1, 20) : from.within(1, 420);
      x.channels = from.within(1, x.width > 20 ? 20 : 700);
      x.outputs = from.within(1, 150);
      x.onto = from.coin();
      expect_right(x, from.coin(), from);
    }
  });
}

BOOST_AUTO_TEST_CASE(gates_of_any_width_are_right) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (int64_t outputs = 1; outputs <= 80; ++outputs)
      for (const auto narrow : {false, true}) {
        product_sizes x;
        x.width = from.coin() ? from.within(1, 8) : from.within(190, 200);
        x.channels = from.within(1, 24);
        x.outputs = outputs;
        x.gated = true;
        expect_right(x, narrow, from);
      }
  });
}

BOOST_AUTO_TEST_CASE(convolutions_of_any_size_are_right) {
  on_each_target([] {
    drawing from{atelier::test::seed()};
    for (size_t i = atelier::test::scaled(20'000); i > 0; --i) {
      product_sizes x;
      x.maps = from.within(1, 2);
      x.height = from.within(3, 11);
      x.width = from.within(3, 11);
      x.channels = from.within(1, 24);
      x.kernel = from.coin() ? 3 : 1;
      x.padding = x.kernel == 3 ? from.within(0, 1) : 0;
      x.enlarged = from.coin();
      x.beside = from.coin() ? from.within(1, 20) : 0;
      x.stride = x.beside > 0 ? 1 : from.within(1, 2);
      x.outputs = from.within(1, 70);
      x.onto = from.coin();
      expect_right(x, from.coin(), from);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
