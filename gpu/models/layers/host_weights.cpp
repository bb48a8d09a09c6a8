// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/detail/host_side.hpp>
#include <atelier/gpu/models/layers/host_weights.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <numeric>

namespace atelier::gpu::detail {

namespace {

// Causes fewer page faults while the weights are packed, and fewer TLB misses
// while they are read.
void prefer_large_pages(const torch::Tensor& x) {
  constexpr uintptr_t page = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(x.const_data_ptr());
  const auto first = (begin + page - 1) / page * page;
  const auto last = (begin + x.nbytes()) / page * page;
  // This is advice; it does no harm if it is not followed.
  if (last > first)
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

} // namespace

host_weights::host_weights(host::element type, int64_t columns,
                           std::vector<int64_t> channels)
  : type_(type),
    columns_(columns),
    panel_elements_(host::packed_elements(
      std::accumulate(channels.begin(), channels.end(), int64_t{0}))),
    channels_(std::move(channels)) {
  const auto panels = (columns + host::panel_width - 1) / host::panel_width;
  const auto size = host::bytes_of(type);
  packed_ = torch::empty({panels, panel_elements_ * size}, torch::kUInt8);
  prefer_large_pages(packed_);
  if (columns % host::panel_width != 0)
    packed_[panels - 1].zero_();
  bias_ = torch::zeros({panels * host::panel_width}, torch::kFloat32);
  zeros_ =
    torch::zeros({*std::max_element(channels_.begin(), channels_.end()) * size},
                 torch::kUInt8);
}

void host_weights::put(size_t piece, int64_t at, const torch::Tensor& from) {
  const auto size = host::bytes_of(type_);
  const auto before = std::accumulate(
    channels_.begin(), channels_.begin() + static_cast<std::ptrdiff_t>(piece),
    int64_t{0});
  auto* const to = packed_.mutable_data_ptr<uint8_t>();
  const auto columns = from.size(0);
  const bool several = from.dim() == 3;
  TORCH_CHECK(from.size(1) == channels_[piece]
                && at + columns <= packed_.size(0) * host::panel_width
                && piece + (several ? static_cast<size_t>(from.size(2)) : 1)
                     <= channels_.size(),
              "weights ", from.sizes(), " have no place at column ", at,
              " of piece ", piece);
  const auto first = at / host::panel_width;
  const auto last = (at + columns + host::panel_width - 1) / host::panel_width;
  const auto* const source =
    static_cast<const std::byte*>(from.const_data_ptr());
  at::parallel_for(first, last, 1, [&](int64_t begin, int64_t end) {
    for (auto panel = begin; panel < end; ++panel) {
      const auto low = std::max(at, panel * host::panel_width);
      const auto high = std::min(at + columns, (panel + 1) * host::panel_width);
      pack_dense(
        type_,
        {source + (low - at) * from.stride(0) * size, from.stride(0),
         from.stride(1), from.size(1), several ? from.size(2) : 1,
         several ? from.stride(2) : 0},
        high - low, low - panel * host::panel_width,
        to + (panel * panel_elements_ + host::packed_elements(before)) * size);
    }
  });
}

void host_weights::put_bias(int64_t at, const torch::Tensor& bias) {
  bias_.narrow(0, at, bias.size(0)).add_(bias.to(torch::kFloat32));
}

void host_weights::expect(size_t piece, const torch::Tensor& x,
                          int64_t channels) const {
  TORCH_CHECK(channels == channels_[piece], "the input ", x.sizes(), " has ",
              channels, " channels, but the weights are for ",
              channels_[piece]);
  TORCH_CHECK(host_element(x) == type_, "the input's type ", x.scalar_type(),
              " is not that of the weights");
}

void host_weights::prepare(host::dense_job& job) const {
  job.type = type_;
  job.columns = columns_;
  job.weights = packed_.const_data_ptr();
  job.panel_elements = panel_elements_;
  job.bias = bias_.const_data_ptr<float>();
  job.zeros = zeros_.const_data_ptr();
}

uint64_t host_weights::bytes() const {
  return packed_.nbytes() + bias_.nbytes() + zeros_.nbytes();
}

uint64_t host_weights::bytes_of(host::element type, int64_t columns,
                                const std::vector<int64_t>& channels) {
  const auto padded =
    (columns + host::panel_width - 1) / host::panel_width * host::panel_width;
  const auto sum =
    std::accumulate(channels.begin(), channels.end(), int64_t{0});
  return static_cast<uint64_t>(
    (padded * sum + *std::ranges::max_element(channels)) * host::bytes_of(type)
    + padded * 4);
}

void run_whole(const host::dense_job& job) {
  spread(count_dense_tasks(job),
         [&job](int64_t first, int64_t last) { run_dense(job, first, last); });
}

} // namespace atelier::gpu::detail
