// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/detail/decode_in_tiles.hpp>

#include <algorithm>

namespace atelier::gpu::detail {

namespace {

constexpr int64_t rows_axis = 2;
constexpr int64_t columns_axis = 3;

torch::Tensor empty_image(const torch::Tensor& latent, int64_t factor) {
  return torch::zeros(
    {latent.size(0), 3, latent.size(2) * factor, latent.size(3) * factor},
    torch::TensorOptions(torch::kFloat32).device(latent.device()));
}

// Fades from the end of `before` into the start of `tile` along `axis`.
void blend(const torch::Tensor& before, const torch::Tensor& tile, int64_t axis,
           int64_t extent) {
  extent = std::min({before.size(axis), tile.size(axis), extent});
  std::vector<int64_t> shape{1, 1, 1, 1};
  shape[static_cast<size_t>(axis)] = extent;
  const auto share =
    torch::arange(extent, torch::TensorOptions(torch::kFloat64))
      .div_(static_cast<double>(extent))
      .view(shape);
  const auto to = torch::TensorOptions(torch::kFloat32).device(tile.device());
  auto start = tile.narrow(axis, 0, extent);
  const auto end = before.narrow(axis, before.size(axis) - extent, extent);
  start.mul_(share.to(to)).add_(end * (1 - share).to(to));
}

torch::Tensor last(const torch::Tensor& x, int64_t axis, int64_t count) {
  count = std::min(count, x.size(axis));
  // Returns a copy; otherwise the whole tile would stay in memory.
  return x.narrow(axis, x.size(axis) - count, count).clone();
}

} // namespace

torch::Tensor decode_blending_neighbours(const torch::Tensor& latent,
                                         const tiling& how,
                                         const tile_decoder& decode) {
  const auto step = how.latent_side - how.overlap;
  const auto extent = how.overlap * how.factor;
  const auto limit = step * how.factor;
  auto out = empty_image(latent, how.factor);
  std::vector<torch::Tensor> above;
  for (int64_t y = 0; y < latent.size(2); y += step) {
    std::vector<torch::Tensor> here;
    torch::Tensor left;
    for (int64_t x = 0; x < latent.size(3); x += step) {
      auto tile = decode(latent.slice(rows_axis, y, y + how.latent_side)
                           .slice(columns_axis, x, x + how.latent_side));
      if (y > 0)
        blend(above[here.size()], tile, rows_axis, extent);
      if (x > 0)
        blend(left, tile, columns_axis, extent);
      here.push_back(last(tile, rows_axis, extent));
      left = last(tile, columns_axis, extent);
      const auto kept =
        tile.slice(rows_axis, 0, limit).slice(columns_axis, 0, limit);
      out.narrow(rows_axis, y * how.factor, kept.size(rows_axis))
        .narrow(columns_axis, x * how.factor, kept.size(columns_axis))
        .copy_(kept);
    }
    above = std::move(here);
  }
  return out;
}

torch::Tensor decode_blending_image(const torch::Tensor& latent,
                                    const tiling& how,
                                    const tile_decoder& decode) {
  const auto step = how.latent_side - how.overlap;
  auto out = empty_image(latent, how.factor);
  const auto ramp = torch::arange(how.latent_side * how.factor,
                                  torch::TensorOptions(torch::kFloat32))
                      .div_(static_cast<double>(how.overlap * how.factor - 1))
                      .clamp_(0, 1)
                      .to(latent.device());
  for (int64_t y = 0; y < latent.size(2); y += step)
    for (int64_t x = 0; x < latent.size(3); x += step) {
      const auto tile = decode(latent.slice(rows_axis, y, y + how.latent_side)
                                 .slice(columns_axis, x, x + how.latent_side));
      const auto h = tile.size(2);
      const auto w = tile.size(3);
      auto share = torch::ones({h, w}, tile.options());
      if (y > 0)
        share.mul_(ramp.narrow(0, 0, h).view({h, 1}));
      if (x > 0)
        share.mul_(ramp.narrow(0, 0, w).view({1, w}));
      auto place = out.narrow(rows_axis, y * how.factor, h)
                     .narrow(columns_axis, x * how.factor, w);
      place.copy_(share * tile + (1 - share) * place);
    }
  return out;
}

} // namespace atelier::gpu::detail
