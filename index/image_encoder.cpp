// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/image_encoder.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace atelier::index {

std::string image_encoder::identity() const {
  return {};
}

uint64_t image_encoder::encoded() const {
  return 0;
}

encoded_vector encoded(const image_encoder& encoder,
                       std::span<const std::byte> rgb, core::extent px) {
  if (rgb.empty())
    return {};
  auto vector = encoder.encode(rgb, px);
  if (!vector) {
    core::log_warn("the cache's image encoder: {}", vector.why().text);
    return {{}, true};
  }
  const bool compares =
    std::ranges::all_of(*vector, [](float x) { return std::isfinite(x); })
    && std::ranges::any_of(*vector, [](float x) { return x != 0; });
  if (!compares) {
    core::log_warn("the cache's image encoder: the vector of an image of {}x{} "
                   "pixels is zero or not finite",
                   px.width, px.height);
    return {{}, true};
  }
  return {std::move(*vector), false};
}

} // namespace atelier::index
