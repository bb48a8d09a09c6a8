// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/torch_noise.hpp>
#include <atelier/gpu/models/vae/latent_preview.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace atelier::gpu {

namespace {

// Places of a patch's side; a single place would be only border.
constexpr int64_t patch_places = 2;
constexpr int64_t least_patches = 8;

torch::Tensor to_bytes(const torch::Tensor& pixels) {
  return pixels.div(2)
    .add(0.5)
    .clamp(0, 1)
    .mul(255)
    .round()
    .to(torch::kUInt8)
    .permute({1, 2, 0})
    .to(torch::kCPU)
    .contiguous();
}

} // namespace

latent_preview::latent_preview(const autoencoder& from) : from_(from) {
  if (from.config().kind == autoencoder_kind::tiny)
    return;
  const c10::InferenceMode guard;
  namespace nn = torch::nn::functional;
  const auto channels = from.config().latent_channels;
  // Four patches for each unknown number.
  const auto side =
    std::max(least_patches, static_cast<int64_t>(std::ceil(std::sqrt(
                              4 * static_cast<double>(channels + 1)))));
  auto patches = torch::empty({1, channels, side, side}, torch::kFloat32);
  core::torch_randn(
    0, {patches.data_ptr<float>(), static_cast<size_t>(patches.numel())});
  const auto latent = nn::interpolate(
    patches, nn::InterpolateFuncOptions()
               .size(std::vector<int64_t>(2, side * patch_places))
               .mode(torch::kNearest));
  const auto seen =
    torch::adaptive_avg_pool2d(
      from.decode(latent).to(torch::kCPU, torch::kFloat32), {side, side})
      .reshape({3, -1});
  const auto places = side * side;
  const auto known =
    torch::cat({patches.reshape({channels, places}), torch::ones({1, places})})
      .to(torch::kFloat64);
  // Normal equations suffice: the unknowns are few and of similar size.
  const auto fitted =
    torch::linalg_solve(known.matmul(known.t()),
                        known.matmul(seen.to(torch::kFloat64).t()))
      .to(torch::kFloat32)
      .t();
  weight_ = fitted.slice(1, 0, channels).contiguous();
  bias_ = fitted.slice(1, channels).contiguous();
}

torch::Tensor latent_preview::draw(const torch::Tensor& x0,
                                   int64_t most_pixels) const {
  const c10::InferenceMode guard;
  if (!weight_.defined()) {
    auto pixels = from_.decode(x0.unsqueeze(0)).squeeze(0).to(torch::kFloat32);
    while (pixels.size(1) * pixels.size(2) > most_pixels) {
      if (pixels.size(1) < 2 || pixels.size(2) < 2)
        return {};
      pixels = torch::avg_pool2d(pixels, {2, 2});
    }
    return to_bytes(pixels);
  }
  const auto h = x0.size(1);
  const auto w = x0.size(2);
  if (h * w > most_pixels)
    return {};
  const auto flat = x0.to(torch::kCPU, torch::kFloat32).reshape({-1, h * w});
  return to_bytes(weight_.matmul(flat).add(bias_).reshape({3, h, w}));
}

} // namespace atelier::gpu
