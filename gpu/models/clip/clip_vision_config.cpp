// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_vision_config.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>

#include <fmt/format.h>

namespace atelier::gpu {

namespace {

// The limit on factors of a shape, so that products of three fit 64 bits.
constexpr int64_t widest_vision = 1 << 20;
constexpr int64_t most_side = 1 << 14;

clip_activation vision_activation_of(std::string_view name) {
  if (name == "quick_gelu")
    return clip_activation::quick_gelu;
  return name == "gelu" ? clip_activation::gelu : clip_activation::gelu_tanh;
}

} // namespace

core::result<clip_vision_config> read_clip_vision_config(
  const component& from) {
  detail::network_fields in{from.config, from.config_file};
  in.text("model_type", "clip", {"clip"});
  if (!in.has("vision_config"))
    in.refuse("vision_config", "an object that describes an image tower");
  clip_vision_config out;
  out.projection_dim =
    in.integer("projection_dim", out.projection_dim, 1, widest_vision);
  in.descend("vision_config");
  in.expect("model_type", "clip_vision_model");
  in.expect("num_channels", 3);
  out.hidden_size =
    in.integer("hidden_size", out.hidden_size, 1, widest_vision);
  out.intermediate_size =
    in.integer("intermediate_size", out.intermediate_size, 1, widest_vision);
  out.layers = in.integer("num_hidden_layers", out.layers, 1, 1024);
  out.heads = in.integer("num_attention_heads", out.heads, 1, widest_vision);
  out.image_size = in.integer("image_size", out.image_size, 1, most_side);
  out.patch_size = in.integer("patch_size", out.patch_size, 1, most_side);
  if (out.patch_size > out.image_size)
    in.refuse("patch_size",
              fmt::format("at most image_size {}", out.image_size));
  out.activation = vision_activation_of(
    in.text("hidden_act", "quick_gelu",
            {"quick_gelu", "gelu", "gelu_new", "gelu_pytorch_tanh"}));
  out.layer_norm_eps =
    in.number("layer_norm_eps", out.layer_norm_eps, 0.0, 1.0);
  if (out.hidden_size % out.heads != 0)
    in.refuse("num_attention_heads",
              fmt::format("a divisor of hidden_size {}", out.hidden_size));
  detail::ignore_records(in);
  in.ignore({"projection_dim"});
  if (const auto fine = in.finish(); !fine)
    return fine.why();
  return out;
}

} // namespace atelier::gpu
