// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/decoding.hpp>
#include <atelier/gpu/models/vae/detail/tile_canvas.hpp>

#include <c10/core/InferenceMode.h>

#include <utility>

namespace atelier::gpu {

struct decoding::impl {
  const autoencoder& by;
  /// The latent to decode whole, then the result of the last part.
  torch::Tensor x;
  size_t parts_done = 0;
  std::optional<detail::tile_canvas> canvas;
};

decoding::decoding(const autoencoder& by, torch::Tensor latent, int64_t tile)
  : impl_(new impl{by, {}, 0, std::nullopt}) {
  const c10::InferenceMode guard;
  if (tile == 0) {
    impl_->x = std::move(latent);
    return;
  }
  impl_->canvas.emplace(std::move(latent), by.tiles(tile));
  impl_->x = impl_->canvas->tile();
}

decoding::~decoding() = default;
decoding::decoding(decoding&&) noexcept = default;
decoding& decoding::operator=(decoding&&) noexcept = default;

std::optional<torch::Tensor> decoding::next() {
  const c10::InferenceMode guard;
  auto& run = *impl_;
  run.x = run.by.decode_part(run.parts_done++, std::move(run.x));
  if (run.parts_done < run.by.decode_parts())
    return std::nullopt;
  if (!run.canvas)
    return std::move(run.x);
  run.canvas->put(run.x);
  run.parts_done = 0;
  if (run.canvas->done()) {
    run.x = torch::Tensor{};
    return run.canvas->image();
  }
  run.x = run.canvas->tile();
  return std::nullopt;
}

} // namespace atelier::gpu
