// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/embedding/text_embedder.hpp>
#include <atelier/index/encoder_memo.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/runtime/encoder_identity.hpp>
#include <atelier/runtime/make_text_encoder.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime {

#ifdef ATELIER_WITH_TORCH
namespace {

/// A network that one thread at a time uses.
class by_network final : public index::text_encoder {
public:
  by_network(std::string name, std::string identity,
             std::shared_ptr<const gpu::text_embedder> network)
    : name_(std::move(name)),
      identity_(std::move(identity)),
      network_(std::move(network)) {}

  std::string_view name() const override {
    return name_;
  }

  std::string identity() const override {
    return identity_;
  }

  size_t dimensions() const override {
    return network_->dimensions();
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    auto all = encode_all({&text, 1});
    if (!all)
      return all.why();
    return std::move(all->front());
  }

  core::result<std::vector<std::vector<float>>> encode_all(
    std::span<const std::string_view> texts) const override {
    std::vector<std::vector<float>> out(texts.size(),
                                        std::vector<float>(dimensions(), 0.0F));
    std::vector<std::string_view> some;
    std::vector<size_t> places;
    for (size_t i = 0; i < texts.size(); ++i)
      // Texts without words would all be alike.
      if (index::vector_of(texts[i]) != index::text_vector{}) {
        some.push_back(texts[i]);
        places.push_back(i);
      }
    if (some.empty())
      return out;
    const std::lock_guard hold{lock_};
    encoded_ += some.size();
    auto vectors = network_->embed_all(some);
    if (!vectors)
      return vectors.why();
    for (size_t i = 0; i < places.size(); ++i)
      out[places[i]] = std::move((*vectors)[i]);
    return out;
  }

  // Does not wait for a run.
  index::encoder_counts counts() const override {
    return {encoded_, 0};
  }

private:
  const std::string name_;
  const std::string identity_;
  const std::shared_ptr<const gpu::text_embedder> network_;
  mutable std::mutex lock_;
  mutable std::atomic<uint64_t> encoded_ = 0;
};

} // namespace
#endif

core::result<std::shared_ptr<const index::text_encoder>> make_text_encoder(
  const config::settings& settings) {
  const auto& folder = settings.cache.encoder;
  if (folder.empty())
    return index::words_encoder();
#ifdef ATELIER_WITH_TORCH
  auto network = gpu::load_text_embedder(folder);
  if (!network)
    return core::fail(network.why().code, "cache.encoder: {}",
                      network.why().text);
  auto identity = encoder_identity_of(settings);
  if (!identity)
    return identity.why();
  return std::shared_ptr<const index::text_encoder>{
    std::make_shared<index::encoder_memo>(
      std::make_shared<by_network>(folder, std::move(identity->revision),
                                   std::move(*network)),
      settings.cache.encoder_memo, settings.cache.tenants)};
#else
  return core::fail(core::ec::not_found,
                    "cache.encoder: {}: text encoders are not built in "
                    "(configure with ATELIER_WITH_TORCH=ON for models)",
                    folder);
#endif
}

} // namespace atelier::runtime
