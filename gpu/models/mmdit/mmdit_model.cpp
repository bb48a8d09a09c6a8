// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/mmdit/mmdit_model.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

namespace {

// Tokens that T5 would have; without it, all of them are zeros.
// Source: diffusers 0.42, StableDiffusion3Pipeline, max_sequence_length.
constexpr int64_t absent_tokens = 256;

} // namespace

core::result<std::shared_ptr<const mmdit_model>> mmdit_model::load(
  const model_files& from, const placement& where) {
  std::shared_ptr<mmdit_model> out{new mmdit_model};
  auto texts = load_text_encoders(from, where);
  if (!texts)
    return texts.why();
  out->text_ = std::move(texts->first);
  out->text_2_ = std::move(texts->second);
  if (!out->text_ || !out->text_2_)
    return core::fail(core::ec::not_found, "{}: {} is missing",
                      from.from.string(),
                      out->text_ ? "text_encoder_2" : "text_encoder");
  auto net = mmdit::load(from.denoiser, where);
  if (!net)
    return net.why();
  out->net_ = std::move(*net);
  if (auto rest = out->load_common(from, where); !rest)
    return rest.why();
  return std::shared_ptr<const mmdit_model>{std::move(out)};
}

condition mmdit_model::encode(const prompt_text& asked) const {
  const c10::InferenceMode guard;
  condition out;
  const clip_encoder* const encoders[] = {text_.get(), text_2_.get()};
  const auto both = encode_by(encoders, text_of(asked, out.notes));
  const auto& first = both[0];
  const auto& second = both[1];
  out.left_out = std::max(first.left_out, second.left_out);
  auto tokens = torch::cat({first.out.penultimate, second.out.penultimate}, -1);
  const auto width = net_->config().text_width;
  tokens = torch::constant_pad_nd(
    tokens, {0, width - tokens.size(2), 0, absent_tokens});
  out.tokens = tokens.size(1);
  out.tensors = {std::move(tokens),
                 torch::cat({first.out.pooled, second.out.pooled}, -1)};
  return out;
}

pass_inputs mmdit_model::make_inputs(const pass_key& key) const {
  const auto& config = net_->config();
  auto out = make_common_inputs(key, mmdit_conditions);
  out.conditions[text_condition] =
    make_condition({key.places, key.tokens, config.text_width});
  out.conditions[pooled_text_condition] =
    make_condition({key.places, config.pooled_width});
  return out;
}

void mmdit_model::write(const condition& from, const core::recipe&, bool,
                        int64_t place, pass_inputs& to) const {
  const c10::InferenceMode guard;
  for (size_t i = 0; i < mmdit_conditions; ++i)
    to.conditions[i].narrow(0, place, 1).copy_(from.tensors[i]);
}

core::result<void> mmdit_model::accepts(core::extent px) const {
  const auto& config = net_->config();
  const auto token = vae().factor() * static_cast<uint32_t>(config.patch_size);
  const auto most = token * static_cast<uint32_t>(config.most_side);
  const auto good = [&](uint32_t side) {
    return side % token == 0 && side <= most;
  };
  if (good(px.width) && good(px.height))
    return {};
  return core::fail(core::ec::invalid_argument,
                    "size {}x{}: this model draws sides of {}..{} pixels, "
                    "multiples of {}",
                    px.width, px.height, token, most, token);
}

uint64_t mmdit_model::weight_bytes() const {
  return model::weight_bytes() + text_->weight_bytes()
       + text_2_->weight_bytes();
}

core::result<std::shared_ptr<const model>> load_mmdit_model(
  const model_files& from, const placement& where) {
  auto out = mmdit_model::load(from, where);
  if (!out)
    return out.why();
  return std::shared_ptr<const model>{std::move(*out)};
}

} // namespace atelier::gpu
