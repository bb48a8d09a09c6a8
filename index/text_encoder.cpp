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

} // namespace

core::result<std::vector<float>> text_encoder::encode_in(
  std::string_view, std::string_view text) const {
  return encode(text);
}

encoder_counts text_encoder::counts() const {
  return {};
}

encoded_text encoded(const text_encoder& encoder, std::string_view key,
                     std::string_view text) {
  auto vector = encoder.encode_in(tenant_part(key), text);
  if (!vector) {
    core::log_warn("the cache's text encoder {}: {}", encoder.name(),
                   vector.why().text);
    return {{}, true};
  }
  if (std::ranges::all_of(*vector, [](float x) { return x == 0; }))
    return {};
  return {std::move(*vector), false};
}

std::shared_ptr<const text_encoder> words_encoder() {
  return std::make_shared<const by_words>();
}

} // namespace atelier::index
