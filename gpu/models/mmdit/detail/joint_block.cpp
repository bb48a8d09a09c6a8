// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/activations.hpp>
#include <atelier/gpu/models/layers/attention.hpp>
#include <atelier/gpu/models/mmdit/detail/joint_block.hpp>

#include <utility>

namespace atelier::gpu::detail {

namespace {

// The epsilon of all normalisations of the family.
constexpr double epsilon = 1e-6;

// The order of the parts in a modulation of six.
enum modulation_part : size_t {
  attention_shift,
  attention_scale,
  attention_gate,
  feed_shift,
  feed_scale,
  feed_gate,
  modulation_parts,
};

} // namespace

modulation::modulation(weights& from, const std::string& name, int64_t width,
                       int64_t parts)
  : parts_(parts), linear_(from, name, width, parts * width) {}

std::vector<torch::Tensor> modulation::of(const pass& x) const {
  return linear_(x.embedding).unsqueeze(1).chunk(parts_, 2);
}

torch::Tensor modulated(const torch::Tensor& x, const torch::Tensor& scale,
                        const torch::Tensor& shift) {
  return torch::layer_norm(x, {x.size(-1)}, {}, {}, epsilon)
    .mul(scale + 1)
    .add_(shift);
}

feed_forward::feed_forward(weights& from, const std::string& name,
                           int64_t width)
  : first_(from, name + ".net.0.proj", width, 4 * width),
    second_(from, name + ".net.2", 4 * width, width) {}

torch::Tensor feed_forward::operator()(const torch::Tensor& x) const {
  return second_(gelu_tanh_of(first_(x)));
}

joint_block::joint_block(weights& from, const std::string& name,
                         const mmdit_config& config, bool last)
  : heads_(config.heads),
    image_(from, name + ".norm1.linear", config.width(), modulation_parts),
    text_(from, name + ".norm1_context.linear", config.width(),
          last ? 2 : int64_t{modulation_parts}),
    of_image_{{from, name + ".attn.to_q", config.width(), config.width()},
              {from, name + ".attn.to_k", config.width(), config.width()},
              {from, name + ".attn.to_v", config.width(), config.width()}},
    of_text_{{from, name + ".attn.add_q_proj", config.width(), config.width()},
             {from, name + ".attn.add_k_proj", config.width(), config.width()},
             {from, name + ".attn.add_v_proj", config.width(), config.width()}},
    out_image_(from, name + ".attn.to_out.0", config.width(), config.width()),
    ff_image_(from, name + ".ff", config.width()) {
  if (last)
    return;
  out_text_.emplace(from, name + ".attn.to_add_out", config.width(),
                    config.width());
  ff_text_.emplace(from, name + ".ff_context", config.width());
}

void joint_block::operator()(const pass& of, activations& state) const {
  const auto x = image_.of(of);
  const auto c = text_.of(of);
  const auto image =
    modulated(state.image, x[attention_scale], x[attention_shift]);
  // The last block has its two parts in the opposite order.
  const auto text =
    out_text_ ? modulated(state.text, c[attention_scale], c[attention_shift])
              : modulated(state.text, c[0], c[1]);
  const auto both = [&](const linear& a, const linear& b) {
    return torch::cat({a(image), b(text)}, 1);
  };
  const auto seen =
    attend(both(of_image_.q, of_text_.q), both(of_image_.k, of_text_.k),
           both(of_image_.v, of_text_.v), heads_);
  const auto tokens = image.size(1);
  state.image =
    state.image + x[attention_gate] * out_image_(seen.narrow(1, 0, tokens));
  state.image =
    state.image
    + x[feed_gate]
        * ff_image_(modulated(state.image, x[feed_scale], x[feed_shift]));
  if (!out_text_)
    return;
  state.text =
    state.text
    + c[attention_gate] * (*out_text_)(seen.narrow(1, tokens, text.size(1)));
  state.text =
    state.text
    + c[feed_gate]
        * (*ff_text_)(modulated(state.text, c[feed_scale], c[feed_shift]));
}

} // namespace atelier::gpu::detail
