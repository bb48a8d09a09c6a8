// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_encoder.hpp>
#include <atelier/gpu/models/files/detail/part_checks.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

core::result<std::unique_ptr<clip_encoder>> clip_encoder::load(
  const model_files& from, std::string_view part,
  const std::optional<component>& encoder,
  const std::optional<tokenizer_files>& words, const placement& where) {
  if (!encoder)
    return std::unique_ptr<clip_encoder>{};
  if (!words)
    return core::fail(core::ec::not_found, "{}: {} has no tokenizer",
                      from.from.string(), part);
  std::unique_ptr<clip_encoder> out{new clip_encoder};
  out->device_ = where.device;
  auto tokens = detail::load_words(*words, &*encoder);
  if (!tokens)
    return tokens.why();
  out->words_ = std::move(*tokens);
  auto network = clip_text::load(*encoder, where);
  if (!network)
    return network.why();
  out->encoder_ = std::move(*network);
  return out;
}

uint32_t clip_encoder::length() const {
  return std::min(
    words_->max_length(),
    static_cast<uint32_t>(encoder_->config().max_position_embeddings));
}

encoded_text clip_encoder::operator()(std::string_view text) const {
  const c10::InferenceMode guard;
  const auto tokens = words_->encode(text, length());
  auto ids =
    torch::empty({1, static_cast<int64_t>(tokens.ids.size())}, torch::kInt64);
  std::copy(tokens.ids.begin(), tokens.ids.end(), ids.data_ptr<int64_t>());
  return {encoder_->forward(ids.to(device_)), tokens.left_out};
}

clip_text_output clip_encoder::encode_all(
  std::span<const std::string_view> texts) const {
  const c10::InferenceMode guard;
  auto ids = torch::empty(
    {static_cast<int64_t>(texts.size()), int64_t{length()}}, torch::kInt64);
  auto* to = ids.data_ptr<int64_t>();
  for (const auto text : texts) {
    const auto tokens = words_->encode(text, length());
    to = std::copy(tokens.ids.begin(), tokens.ids.end(), to);
  }
  return encoder_->forward(ids.to(device_));
}

} // namespace atelier::gpu
