// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/embedding/image_embedder.hpp>
#include <atelier/runtime/encoder_identity.hpp>
#include <atelier/runtime/make_image_encoder.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime {

#ifdef ATELIER_WITH_TORCH
namespace {

/// An image tower that one thread at a time uses. Texts are encoded meanwhile.
class by_tower final : public index::image_encoder {
public:
  by_tower(std::string identity,
           std::shared_ptr<const gpu::image_embedder> tower)
    : identity_(std::move(identity)), tower_(std::move(tower)) {}

  std::string identity() const override {
    return identity_;
  }

  size_t dimensions() const override {
    return tower_->dimensions();
  }

  core::result<std::vector<float>> encode(std::span<const std::byte> rgb,
                                          core::extent px) const override {
    const std::lock_guard hold{lock_};
    ++encoded_;
    return tower_->embed(
      {px, 3, {reinterpret_cast<const uint8_t*>(rgb.data()), rgb.size()}});
  }

  // Does not wait for a run.
  uint64_t encoded() const override {
    return encoded_;
  }

private:
  const std::string identity_;
  const std::shared_ptr<const gpu::image_embedder> tower_;
  mutable std::mutex lock_;
  mutable std::atomic<uint64_t> encoded_ = 0;
};

} // namespace
#endif

core::result<std::shared_ptr<const index::image_encoder>> make_image_encoder(
  const config::settings& settings,
  [[maybe_unused]] const index::text_encoder& texts) {
  if (settings.cache.compares != "images")
    return std::shared_ptr<const index::image_encoder>{};
  constexpr auto needs = "cache.compares: \"images\" needs an image encoder in "
                         "cache.encoder";
#ifdef ATELIER_WITH_TORCH
  auto tower = gpu::load_image_embedder(settings.cache.encoder);
  if (!tower)
    return core::fail(tower.why().code, "{}: {}", needs, tower.why().text);
  if ((*tower)->dimensions() != texts.dimensions())
    return core::fail(core::ec::bad_config,
                      "{}: {}: vectors of images have {} elements, and those "
                      "of texts {}",
                      needs, settings.cache.encoder, (*tower)->dimensions(),
                      texts.dimensions());
  auto identity = image_revision_of(settings, texts.identity());
  if (!identity)
    return identity.why();
  return std::shared_ptr<const index::image_encoder>{
    std::make_shared<by_tower>(std::move(*identity), std::move(*tower))};
#else
  return core::fail(core::ec::not_found,
                    "{}: encoders are not built in (configure with "
                    "ATELIER_WITH_TORCH=ON for models)",
                    needs);
#endif
}

} // namespace atelier::runtime
