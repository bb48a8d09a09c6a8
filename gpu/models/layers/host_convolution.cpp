// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/layers/host_convolution.hpp>

namespace atelier::gpu::detail {

namespace {

void expect_inputs(const host_weights& by, int64_t taps,
                   const std::vector<torch::Tensor>& inputs,
                   const torch::Tensor& out) {
  TORCH_CHECK(static_cast<int64_t>(by.pieces()) + 1
                == taps + static_cast<int64_t>(inputs.size()),
              "a convolution of ", static_cast<int64_t>(by.pieces()) + 1 - taps,
              " maps was given ", inputs.size());
  TORCH_CHECK(out.size(2) > 0 && out.size(3) > 0, "a convolution of ",
              inputs.front().sizes(), " has no results");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& x = inputs[i];
    TORCH_CHECK(x.dim() == 4 && x.size(0) == out.size(0), "a convolution to ",
                out.sizes(), " was given ", x.sizes());
    by.expect(i == 0 ? 0 : static_cast<size_t>(taps) + i - 1, x, x.size(1));
    TORCH_CHECK(i == 0
                  || (x.size(2) == out.size(2) && x.size(3) == out.size(3)),
                "a shortcut of ", x.sizes(), " to results of ", out.size(2),
                "x", out.size(3));
  }
}

} // namespace

int64_t readable_channels(int64_t channels, host::element type) {
  return type == host::element::bfloat16 ? channels + channels % 2 : channels;
}

torch::Tensor with_channels(const torch::Tensor& x, int64_t channels) {
  const auto more = channels - x.size(1);
  if (more == 0)
    return x;
  std::vector<int64_t> pads(static_cast<size_t>(2 * (x.dim() - 1)), 0);
  pads.back() = more;
  return torch::constant_pad_nd(x, pads);
}

void convolve(const host_weights& by, const kernel_grid& grid,
              const std::vector<torch::Tensor>& inputs, host::dense_input first,
              const torch::Tensor& onto, const torch::Tensor& out) {
  expect_inputs(by, grid.kernel * grid.kernel, inputs, out);
  TORCH_CHECK(out.is_contiguous(torch::MemoryFormat::ChannelsLast)
                && out.size(1) == by.columns()
                && out.scalar_type() == inputs.front().scalar_type(),
              "a convolution to ", by.columns(), " channels does not fit ",
              out.sizes());
  TORCH_CHECK(!onto.defined()
                || (onto.sizes() == out.sizes()
                    && onto.scalar_type() == out.scalar_type()),
              "a convolution's ", out.sizes(), " cannot be added to ",
              onto.defined() ? onto.sizes() : out.sizes());
  std::vector<torch::Tensor> maps;
  std::vector<host::dense_input> seen;
  std::vector<host::dense_piece> pieces;
  for (const auto& x : inputs) {
    maps.push_back(channels_last(x));
    auto input = seen.empty() ? first : host::dense_input{};
    input.pixels = maps.back().const_data_ptr();
    input.pixel_stride = x.size(1);
    input.stored_height = x.size(2);
    input.stored_width = x.size(3);
    if (!seen.empty()) {
      input.height = x.size(2);
      input.width = x.size(3);
    }
    seen.push_back(input);
  }
  for (int64_t y = 0; y < grid.kernel; ++y)
    for (int64_t x = 0; x < grid.kernel; ++x)
      pieces.push_back({.input = 0,
                        .channels = inputs.front().size(1),
                        .dy = y - grid.rows_before,
                        .dx = x - grid.columns_before});
  for (size_t i = 1; i < inputs.size(); ++i)
    pieces.push_back(
      {.input = static_cast<int64_t>(i), .channels = inputs[i].size(1)});
  const auto added = onto.defined() ? channels_last(onto) : onto;
  host::dense_job job;
  by.prepare(job);
  job.inputs = seen.data();
  job.pieces = pieces.data();
  job.piece_count = static_cast<int64_t>(pieces.size());
  job.out_height = out.size(2);
  job.out_width = out.size(3);
  job.rows = out.size(0) * job.out_height * job.out_width;
  job.stride = grid.stride;
  job.out = out.mutable_data_ptr();
  job.out_stride = out.size(1);
  if (added.defined()) {
    job.onto = added.const_data_ptr();
    job.onto_stride = out.size(1);
  }
  run_whole(job);
}

} // namespace atelier::gpu::detail
