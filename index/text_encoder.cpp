// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/text_encoder.hpp>
#include <atelier/index/text_vector.hpp>

#include <algorithm>
#include <utility>

namespace atelier::index {

namespace {

class by_words final : public text_encoder {
public:
  std::string_view name() const override {
    return "words";
  }

  size_t dimensions() const override {
    return text_dimensions;
  }

  core::result<std::vector<float>> encode(
    std::string_view text) const override {
    const auto vector = vector_of(text);
    return std::vector<float>{vector.begin(), vector.end()};
  }
};

/// Drops a vector that has nothing to compare, and logs a failure.
encoded_vector checked(const text_encoder& encoder,
                       core::result<std::vector<float>> vector) {
  if (!vector) {
    core::log_warn("the cache's text encoder {}: {}", encoder.name(),
                   vector.why().text);
    return {{}, true};
  }
  if (std::ranges::all_of(*vector, [](float x) { return x == 0; }))
    return {};
  return {std::move(*vector), false};
}

} // namespace

std::string text_encoder::identity() const {
  return {};
}

core::result<std::vector<std::vector<float>>> text_encoder::encode_all(
  std::span<const std::string_view> texts) const {
  std::vector<std::vector<float>> out;
  for (const auto text : texts) {
    auto vector = encode(text);
    if (!vector)
      return vector.why();
    out.push_back(std::move(*vector));
  }
  return out;
}

core::result<std::vector<float>> text_encoder::encode_in(
  std::string_view, std::string_view text) const {
  return encode(text);
}

encoder_counts text_encoder::counts() const {
  return {};
}

encoded_vector encoded(const text_encoder& encoder, std::string_view key,
                       std::string_view text) {
  return checked(encoder, encoder.encode_in(tenant_part(key), text));
}

std::vector<encoded_vector> encoded_all(
  const text_encoder& encoder, std::span<const std::string_view> texts) {
  constexpr size_t batch = 16;
  std::vector<encoded_vector> out;
  for (; !texts.empty(); texts = texts.subspan(std::min(batch, texts.size()))) {
    const auto some = texts.first(std::min(batch, texts.size()));
    if (auto vectors = encoder.encode_all(some))
      for (auto& x : *vectors)
        out.push_back(checked(encoder, std::move(x)));
    else
      for (const auto text : some)
        out.push_back(checked(encoder, encoder.encode(text)));
  }
  return out;
}

std::shared_ptr<const text_encoder> words_encoder() {
  return std::make_shared<const by_words>();
}

} // namespace atelier::index
