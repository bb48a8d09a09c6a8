// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/prompt_syntax.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/models/prompt_notes.hpp>

#include <c10/core/InferenceMode.h>

#include <utility>

namespace atelier::gpu {

model::~model() = default;

core::result<void> model::load_common(const model_files& from,
                                      const placement& where) {
  where_ = where;
  words_ = from.words;
  traits_ = from.traits;
  auto schedule = parse_scheduler(from.scheduler, from.scheduler_file);
  if (!schedule)
    return schedule.why();
  schedule_ = std::move(*schedule);
  auto vae = autoencoder::load(from.vae, where, from.pipeline->upcasts_vae);
  if (!vae)
    return vae.why();
  vae_ = std::move(*vae);
  const auto denoiser = facts_by_family(from);
  if (!denoiser)
    return denoiser.why();
  native_px_ = native_extent(*denoiser, vae_->factor());
  if (from.preview) {
    auto small = autoencoder::load(*from.preview, where);
    if (!small)
      return small.why();
    preview_vae_ = std::move(*small);
  }
  return {};
}

pass_inputs model::make_common_inputs(const pass_key& key,
                                      size_t conditions) const {
  const c10::InferenceMode guard;
  const auto options =
    torch::TensorOptions().device(where_.device).dtype(where_.dtype);
  pass_inputs out;
  out.sample =
    torch::empty({key.places, key.channels, key.height, key.width},
                 options.memory_format(torch::MemoryFormat::ChannelsLast));
  out.timestep = torch::empty({key.places}, options.dtype(torch::kFloat32));
  out.conditions.resize(conditions);
  return out;
}

torch::Tensor model::make_condition(torch::IntArrayRef shape) const {
  const c10::InferenceMode guard;
  return torch::empty(
    shape, torch::TensorOptions().device(where_.device).dtype(where_.dtype));
}

const latent_preview& model::preview() const {
  if (!preview_)
    preview_ =
      std::make_unique<latent_preview>(preview_vae_ ? *preview_vae_ : *vae_);
  return *preview_;
}

uint64_t model::weight_bytes() const {
  return net().weight_bytes() + vae_->weight_bytes()
       + (preview_vae_ ? preview_vae_->weight_bytes() : 0);
}

prompt_text model::text_of(const prompt_text& asked,
                           std::vector<core::note>& notes) const {
  const auto side =
    asked.negative ? prompt_side::negative : prompt_side::positive;
  notes = notes_on_text(asked.text, side, words_, traits_.captions);
  auto out = received_text(asked, words_, traits_.captions);
  if (out.syntax != asked.syntax) {
    auto ignored = notes_on_weights(core::read_prompt_syntax(asked.text), side);
    notes.insert(notes.begin(), ignored.begin(), ignored.end());
  }
  return out;
}

} // namespace atelier::gpu
