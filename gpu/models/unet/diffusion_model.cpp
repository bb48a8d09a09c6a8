// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/part_checks.hpp>
#include <atelier/gpu/models/files/model_facts.hpp>
#include <atelier/gpu/models/prompt_notes.hpp>
#include <atelier/gpu/models/unet/diffusion_model.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

// Scores that the refiner's pipeline takes where nobody says otherwise.
constexpr float aesthetic_score = 6;
constexpr float negative_aesthetic_score = 2.5;

core::result<std::shared_ptr<const tokenizer>> load_tokenizer(
  const std::optional<tokenizer_files>& from,
  const std::optional<component>& encoder) {
  if (!from)
    return std::shared_ptr<const tokenizer>{};
  return detail::load_words(*from, encoder ? &*encoder : nullptr);
}

core::result<std::unique_ptr<clip_text>> load_text(
  const std::optional<component>& from, const placement& where) {
  if (!from)
    return std::unique_ptr<clip_text>{};
  return clip_text::load(*from, where);
}

core::error without_tokenizer(const model_files& from, std::string_view which) {
  return core::fail(core::ec::not_found, "{}: {} has no tokenizer",
                    from.from.string(), which);
}

struct encoded {
  clip_text_output out;
  uint32_t left_out = 0;
};

encoded encode_with(const clip_text& encoder, const tokenizer& words,
                    std::string_view text, torch::Device device) {
  const auto length =
    std::min(words.max_length(),
             static_cast<uint32_t>(encoder.config().max_position_embeddings));
  const auto tokens = words.encode(text, length);
  auto ids =
    torch::empty({1, static_cast<int64_t>(tokens.ids.size())}, torch::kInt64);
  std::copy(tokens.ids.begin(), tokens.ids.end(), ids.data_ptr<int64_t>());
  return {encoder.forward(ids.to(device)), tokens.left_out};
}

} // namespace

core::result<std::shared_ptr<diffusion_model>> diffusion_model::load(
  const model_files& from, const placement& where) {
  auto out = std::shared_ptr<diffusion_model>(new diffusion_model);
  out->where_ = where;
  out->kind_ = from.kind;
  out->zeros_for_empty_ = from.force_zeros_for_empty_prompt
                       && from.kind != pipeline_kind::stable_diffusion
                       && from.kind != pipeline_kind::latent_consistency;
  out->aesthetic_ = from.requires_aesthetics_score;
  out->words_ = from.words;
  out->traits_ = from.traits;
  auto schedule = parse_scheduler(from.scheduler, from.scheduler_file);
  if (!schedule)
    return schedule.why();
  out->schedule_ = std::move(*schedule);
  auto words = load_tokenizer(from.tokenizer, from.text_encoder);
  if (!words)
    return words.why();
  out->tokenizer_ = std::move(*words);
  auto words_2 = load_tokenizer(from.tokenizer_2, from.text_encoder_2);
  if (!words_2)
    return words_2.why();
  out->tokenizer_2_ = std::move(*words_2);
  auto text = load_text(from.text_encoder, where);
  if (!text)
    return text.why();
  out->text_ = std::move(*text);
  auto text_2 = load_text(from.text_encoder_2, where);
  if (!text_2)
    return text_2.why();
  out->text_2_ = std::move(*text_2);
  if (!out->text_ && !out->text_2_)
    return core::fail(core::ec::not_found, "{}: there is no text encoder",
                      from.from.string());
  if (out->text_ && !out->tokenizer_)
    return without_tokenizer(from, "text_encoder");
  if (out->text_2_ && !out->tokenizer_2_)
    return without_tokenizer(from, "text_encoder_2");
  auto denoiser = unet::load(from.unet, where);
  if (!denoiser)
    return denoiser.why();
  out->unet_ = std::move(*denoiser);
  auto vae = autoencoder::load(from.vae, where);
  if (!vae)
    return vae.why();
  out->vae_ = std::move(*vae);
  out->native_px_ = native_extent(out->unet_->config(), out->vae_->factor());
  if (from.preview) {
    auto small = autoencoder::load(*from.preview, where);
    if (!small)
      return small.why();
    out->preview_vae_ = std::move(*small);
  }
  return out;
}

text_condition diffusion_model::encode(std::string_view asked,
                                       bool negative) const {
  const c10::InferenceMode guard;
  text_condition out;
  const auto side = negative ? prompt_side::negative : prompt_side::positive;
  out.notes = notes_on_text(asked, side, words_, traits_.captions);
  const auto text = text_to_encode(asked, side, words_, traits_.captions);
  if (kind_ == pipeline_kind::stable_diffusion
      || kind_ == pipeline_kind::latent_consistency) {
    auto x = encode_with(*text_, *tokenizer_, text, where_.device);
    out.context = std::move(x.out.last);
    out.left_out = x.left_out;
    return out;
  }
  std::vector<torch::Tensor> contexts;
  if (text_) {
    auto x = encode_with(*text_, *tokenizer_, text, where_.device);
    contexts.push_back(std::move(x.out.penultimate));
    out.left_out = x.left_out;
  }
  if (text_2_) {
    auto x = encode_with(*text_2_, *tokenizer_2_, text, where_.device);
    contexts.push_back(std::move(x.out.penultimate));
    out.pooled = std::move(x.out.pooled);
    out.left_out = std::max(out.left_out, x.left_out);
  }
  out.context = torch::cat(contexts, -1);
  if (negative && text.empty() && zeros_for_empty_) {
    out.context = torch::zeros_like(out.context);
    if (out.pooled.defined())
      out.pooled = torch::zeros_like(out.pooled);
  }
  return out;
}

torch::Tensor diffusion_model::time_ids(core::extent px, bool negative) const {
  if (kind_ != pipeline_kind::stable_diffusion_xl
      && kind_ != pipeline_kind::stable_diffusion_xl_refiner)
    return {};
  const auto h = static_cast<float>(px.height);
  const auto w = static_cast<float>(px.width);
  // Original size, corner of the crop, then target size or score.
  std::vector<float> ids{h, w, 0, 0};
  if (aesthetic_) {
    ids.push_back(negative ? negative_aesthetic_score : aesthetic_score);
  } else {
    ids.push_back(h);
    ids.push_back(w);
  }
  return torch::tensor(ids).unsqueeze(0).to(where_.device, where_.dtype);
}

const latent_preview& diffusion_model::preview() const {
  if (!preview_)
    preview_ =
      std::make_unique<latent_preview>(preview_vae_ ? *preview_vae_ : *vae_);
  return *preview_;
}

bool diffusion_model::embeds_guidance() const {
  return unet_->config().time_cond_proj_dim.has_value();
}

uint64_t diffusion_model::weight_bytes() const {
  return unet_->weight_bytes() + vae_->weight_bytes()
       + (preview_vae_ ? preview_vae_->weight_bytes() : 0)
       + (text_ ? text_->weight_bytes() : 0)
       + (text_2_ ? text_2_->weight_bytes() : 0);
}

} // namespace atelier::gpu
