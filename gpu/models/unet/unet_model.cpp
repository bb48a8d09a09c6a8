// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/unet/unet_model.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

// Default scores of the refiner's pipeline.
constexpr float aesthetic_score = 6;
constexpr float negative_aesthetic_score = 2.5;

// Indices of a condition's tensors.
constexpr size_t context_tensor = 0;
constexpr size_t pooled_tensor = 1;

} // namespace

core::result<std::shared_ptr<const unet_model>> unet_model::load(
  const model_files& from, const placement& where) {
  std::shared_ptr<unet_model> out{new unet_model};
  out->pipeline_ = from.pipeline;
  out->zeros_for_empty_ = setting_of(from, zeros_for_empty_setting)
                       && has_size_vectors(*from.pipeline);
  out->aesthetic_ = setting_of(from, aesthetic_score_setting);
  auto texts = load_text_encoders(from, where);
  if (!texts)
    return texts.why();
  out->text_ = std::move(texts->first);
  out->text_2_ = std::move(texts->second);
  if (!out->text_ && !out->text_2_)
    return core::fail(core::ec::not_found, "{}: no text encoder was found",
                      from.from.string());
  auto net = unet::load(from.denoiser, where);
  if (!net)
    return net.why();
  out->unet_ = std::move(*net);
  if (auto rest = out->load_common(from, where); !rest)
    return rest.why();
  return std::shared_ptr<const unet_model>{std::move(out)};
}

condition unet_model::encode(const prompt_text& asked) const {
  const c10::InferenceMode guard;
  condition out;
  const auto text = text_of(asked, out.notes);
  const bool both = has_size_vectors(*pipeline_);
  std::vector<const clip_encoder*> encoders;
  if (text_)
    encoders.push_back(text_.get());
  if (both && text_2_)
    encoders.push_back(text_2_.get());
  torch::Tensor pooled;
  std::vector<torch::Tensor> contexts;
  for (auto& x : encode_by(encoders, text)) {
    contexts.push_back(both ? std::move(x.out.penultimate)
                            : std::move(x.out.last));
    if (both && contexts.size() == encoders.size() && text_2_)
      pooled = std::move(x.out.pooled);
    out.left_out = std::max(out.left_out, x.left_out);
  }
  auto context =
    contexts.size() == 1 ? contexts.front() : torch::cat(contexts, -1);
  if (text.negative && text.text.empty() && zeros_for_empty_) {
    context = torch::zeros_like(context);
    if (pooled.defined())
      pooled = torch::zeros_like(pooled);
  }
  out.tokens = context.size(1);
  out.tensors = {std::move(context)};
  if (pooled.defined())
    out.tensors.push_back(std::move(pooled));
  return out;
}

pass_inputs unet_model::make_inputs(const pass_key& key) const {
  const auto& config = unet_->config();
  const auto n = key.places;
  auto out = make_common_inputs(key, unet_conditions);
  const auto add = [&](unet_condition which, std::vector<int64_t> shape) {
    out.conditions[which] = make_condition(shape);
  };
  // The width is that of the encoders' output: a denoiser without attention
  // does not specify it.
  const bool both = has_size_vectors(*pipeline_);
  int64_t width = text_ ? text_->config().hidden_size : 0;
  if (both && text_2_)
    width += text_2_->config().hidden_size;
  add(context_condition, {n, key.tokens, width});
  if (config.addition == unet_addition::text_time && text_2_) {
    const auto& second = text_2_->config();
    add(pooled_condition, {n, second.projection_dim > 0 ? second.projection_dim
                                                        : second.hidden_size});
    add(time_ids_condition, {n, aesthetic_ ? 5 : 6});
  }
  if (config.time_cond_proj_dim)
    add(guidance_condition, {n, *config.time_cond_proj_dim});
  return out;
}

void unet_model::write(const condition& from, const core::recipe& how,
                       bool negative, int64_t place, pass_inputs& to) const {
  const c10::InferenceMode guard;
  const auto row = [&](unet_condition which) {
    return to.conditions[which].defined()
           ? to.conditions[which].narrow(0, place, 1)
           : torch::Tensor{};
  };
  row(context_condition).copy_(from.tensors[context_tensor]);
  if (auto into = row(pooled_condition); into.defined())
    into.copy_(from.tensors.at(pooled_tensor));
  if (auto into = row(time_ids_condition); into.defined())
    into.copy_(torch::tensor(time_ids(how.px, negative)).unsqueeze(0));
  if (auto into = row(guidance_condition); into.defined())
    into.copy_(embed_guidance(torch::tensor({how.guidance}).to(where().device),
                              into.size(1)));
}

std::vector<float> unet_model::time_ids(core::extent px, bool negative) const {
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
  return ids;
}

bool unet_model::embeds_guidance() const {
  return unet_->config().time_cond_proj_dim.has_value();
}

bool unet_model::takes_more_than_text() const {
  return has_size_vectors(*pipeline_) || embeds_guidance();
}

uint64_t unet_model::weight_bytes() const {
  return model::weight_bytes() + (text_ ? text_->weight_bytes() : 0)
       + (text_2_ ? text_2_->weight_bytes() : 0);
}

core::result<std::shared_ptr<const model>> load_unet_model(
  const model_files& from, const placement& where) {
  auto out = unet_model::load(from, where);
  if (!out)
    return out.why();
  return std::shared_ptr<const model>{std::move(*out)};
}

} // namespace atelier::gpu
