// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/source_cache.hpp>

#include <algorithm>
#include <cstring>

namespace atelier::gpu::detail {

torch::Tensor pixels_on(torch::Device device, core::extent px,
                        std::span<const uint8_t> pixels) {
  auto out = torch::empty({px.height, px.width, 3}, torch::kUInt8);
  std::memcpy(out.data_ptr<uint8_t>(), pixels.data(), pixels.size());
  return out.permute({2, 0, 1}).contiguous().to(device);
}

const latent_distribution& source_cache::find(
  const std::shared_ptr<const gpu::model>& model, core::extent px,
  std::span<const uint8_t> pixels) {
  const auto digest = core::sha256(std::as_bytes(pixels));
  const auto at = std::ranges::find_if(entries_, [&](const entry& x) {
    return x.px == px && x.pixels == digest && x.model.lock() == model;
  });
  if (at != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, at);
    return entries_.front().said;
  }
  const auto scaled = pixels_on(model->where().device, px, pixels)
                        .to(torch::kFloat32)
                        .div_(255)
                        .mul_(2)
                        .sub_(1)
                        .unsqueeze(0);
  entries_.push_front({model, px, digest, model->vae().encode(scaled)});
  elements_ += entries_.front().elements();
  ++encoded_;
  while (entries_.size() > most_entries
         || (elements_ > most_elements && entries_.size() > 1)) {
    elements_ -= entries_.back().elements();
    entries_.pop_back();
  }
  return entries_.front().said;
}

} // namespace atelier::gpu::detail
