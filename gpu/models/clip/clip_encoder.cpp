// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_encoder.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

/// Multiplies [chunks, tokens, width] by [chunks, tokens, 1].
/// Source: modules/sd_emphasis.py of the web UI 1.9.
torch::Tensor weigh(const torch::Tensor& states, const torch::Tensor& weights,
                    bool keeps_mean) {
  const auto before = states.to(torch::kFloat32);
  auto out = before * weights;
  if (keeps_mean) {
    const auto mean_of = [](const torch::Tensor& x) {
      return x.mean({1, 2}, true);
    };
    const auto factor = mean_of(before) / mean_of(out);
    const auto changed = weights.ne(1).any(1, true);
    // Weights that cancel each other out leave no mean to scale.
    out = out
        * torch::where(changed & factor.isfinite(), factor,
                       torch::ones_like(factor));
  }
  return out.to(states.scalar_type());
}

} // namespace

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
  auto tokens = load_words(*words, &*encoder);
  if (!tokens)
    return tokens.why();
  out->words_ = std::move(*tokens);
  auto network = clip_text::load(*encoder, where);
  if (!network)
    return network.why();
  out->encoder_ = std::move(*network);
  return out;
}

core::result<text_encoders> load_text_encoders(const model_files& from,
                                               const placement& where) {
  auto first = clip_encoder::load(from, "text_encoder", from.text_encoder,
                                  from.tokenizer, where);
  if (!first)
    return first.why();
  auto second = clip_encoder::load(from, "text_encoder_2", from.text_encoder_2,
                                   from.tokenizer_2, where);
  if (!second)
    return second.why();
  return text_encoders{std::move(*first), std::move(*second)};
}

uint32_t clip_encoder::length() const {
  return std::min(
    words_->max_length(),
    static_cast<uint32_t>(encoder_->config().max_position_embeddings));
}

core::result<chunked_prompt> clip_encoder::split(
  const prompt_text& asked) const {
  return chunk_prompt(*words_, asked, length());
}

encoded_text clip_encoder::encode(const chunked_prompt& from,
                                  const prompt_text& asked,
                                  size_t count) const {
  const c10::InferenceMode guard;
  auto chunks = from.chunks;
  if (chunks.size() < count) {
    auto empty = words_->encode("", length());
    const std::vector<float> weights(empty.ids.size(), 1);
    chunks.resize(count, {std::move(empty.ids), weights});
  }
  const auto rows = static_cast<int64_t>(chunks.size());
  auto ids = torch::empty({rows, int64_t{length()}}, torch::kInt64);
  auto weights = torch::empty({rows, int64_t{length()}, 1}, torch::kFloat32);
  auto* id = ids.data_ptr<int64_t>();
  auto* weight = weights.data_ptr<float>();
  bool weighs = false;
  for (const auto& x : chunks) {
    id = std::copy(x.ids.begin(), x.ids.end(), id);
    weight = std::copy(x.weights.begin(), x.weights.end(), weight);
    weighs =
      weighs || std::ranges::any_of(x.weights, [](float w) { return w != 1; });
  }
  encoded_text out;
  out.left_out = from.left_out;
  out.out = encoder_->forward(ids.to(device_), asked.clip_skip);
  const auto in_one_row = [&](torch::Tensor& x) {
    if (weighs)
      x = weigh(x, weights.to(device_),
                asked.emphasis == core::emphasis_rule::original);
    x = x.reshape({1, rows * x.size(1), x.size(2)});
  };
  in_one_row(out.out.last);
  in_one_row(out.out.penultimate);
  out.out.pooled = out.out.pooled.narrow(0, 0, 1);
  return out;
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

std::vector<encoded_text> encode_by(
  std::span<const clip_encoder* const> encoders, const prompt_text& asked) {
  std::vector<chunked_prompt> split;
  size_t count = 1;
  for (const auto* encoder : encoders) {
    auto one = encoder->split(asked);
    if (!one)
      throw model_error{core::fail(one.why().code, "{}: {}",
                                   asked.negative ? "negative" : "prompt",
                                   one.why().text)};
    count = std::max(count, one->chunks.size());
    split.push_back(std::move(*one));
  }
  std::vector<encoded_text> out;
  for (size_t i = 0; i < encoders.size(); ++i)
    out.push_back(encoders[i]->encode(split[i], asked, count));
  return out;
}

} // namespace atelier::gpu
