// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/detail/tile_canvas.hpp>

#include <algorithm>
#include <utility>

namespace atelier::gpu::detail {

namespace {

constexpr int64_t rows_axis = 2;
constexpr int64_t columns_axis = 3;

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

tile_canvas::tile_canvas(torch::Tensor latent, const tiling& how)
  : latent_(std::move(latent)),
    how_(how),
    image_(torch::zeros(
      {latent_.size(0), 3, latent_.size(2) * how.factor,
       latent_.size(3) * how.factor},
      torch::TensorOptions(torch::kFloat32).device(latent_.device()))) {}

torch::Tensor tile_canvas::tile() const {
  return latent_.slice(rows_axis, y_, y_ + how_.latent_side)
    .slice(columns_axis, x_, x_ + how_.latent_side);
}

void tile_canvas::put(const torch::Tensor& tile) {
  if (how_.blend == blending::neighbours)
    blend_neighbours(tile);
  else
    blend_image(tile);
  if (!is_last(x_, columns_axis)) {
    x_ += step();
    return;
  }
  done_ = is_last(y_, rows_axis);
  x_ = 0;
  y_ += step();
  above_ = std::exchange(here_, {});
}

void tile_canvas::blend_neighbours(const torch::Tensor& tile) {
  const auto extent = how_.overlap * how_.factor;
  if (y_ > 0)
    blend(above_[here_.size()], tile, rows_axis, extent);
  if (x_ > 0)
    blend(left_, tile, columns_axis, extent);
  here_.push_back(last(tile, rows_axis, extent));
  left_ = last(tile, columns_axis, extent);
  // The next tiles continue what is cut off here.
  const auto limit = step() * how_.factor;
  auto kept = tile;
  if (!is_last(y_, rows_axis))
    kept = kept.slice(rows_axis, 0, limit);
  if (!is_last(x_, columns_axis))
    kept = kept.slice(columns_axis, 0, limit);
  image_.narrow(rows_axis, y_ * how_.factor, kept.size(rows_axis))
    .narrow(columns_axis, x_ * how_.factor, kept.size(columns_axis))
    .copy_(kept);
}

void tile_canvas::blend_image(const torch::Tensor& tile) {
  const auto ramp = torch::arange(how_.latent_side * how_.factor,
                                  torch::TensorOptions(torch::kFloat32))
                      .div_(static_cast<double>(how_.overlap * how_.factor - 1))
                      .clamp_(0, 1)
                      .to(latent_.device());
  const auto h = tile.size(2);
  const auto w = tile.size(3);
  auto share = torch::ones({h, w}, tile.options());
  if (y_ > 0)
    share.mul_(ramp.narrow(0, 0, h).view({h, 1}));
  if (x_ > 0)
    share.mul_(ramp.narrow(0, 0, w).view({1, w}));
  auto place = image_.narrow(rows_axis, y_ * how_.factor, h)
                 .narrow(columns_axis, x_ * how_.factor, w);
  place.copy_(share * tile + (1 - share) * place);
}

} // namespace atelier::gpu::detail
