// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>
#include <atelier/gpu/models/vae/decoding.hpp>
#include <atelier/gpu/models/vae/detail/kl_coder.hpp>
#include <atelier/gpu/models/vae/detail/tile_canvas.hpp>
#include <atelier/gpu/models/vae/detail/tiny_coder.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

// The range to which diffusers clamps log variances.
constexpr double least_log_variance = -30.0;
constexpr double most_log_variance = 20.0;

// DecoderTiny smoothly limits latents to this magnitude.
constexpr double tiny_limit = 3.0;

// AutoencoderTiny cuts images into tiles of this side, and neighbours share an
// eighth of it; those of AutoencoderKL share a quarter.
constexpr int64_t tiny_tile_pixels = 512;

placement computed_in(placement where, const autoencoder_config& config,
                      bool upcasts) {
  if (config.force_upcast.value_or(upcasts) && where.dtype == torch::kFloat16)
    where.dtype = torch::kFloat32;
  return where;
}

// Returns one value for each channel, [1, c, 1, 1].
torch::Tensor for_channels(const std::vector<double>& values,
                           const torch::Tensor& like) {
  return torch::tensor(values, torch::TensorOptions(torch::kFloat64))
    .to(torch::TensorOptions(torch::kFloat32).device(like.device()))
    .view({1, -1, 1, 1});
}

// Runs `code` over x. A CPU processes row after row, since a single image keeps
// all cores busy: memory does not grow with the batch, and no row depends on
// its neighbours.
template <class Function>
torch::Tensor by_rows(const torch::Tensor& x, const Function& code) {
  if (!x.is_cpu() || x.size(0) <= 1)
    return code(x);
  torch::Tensor out;
  for (int64_t i = 0; i < x.size(0); ++i) {
    const auto row = code(x.narrow(0, i, 1));
    if (i == 0) {
      auto shape = row.sizes().vec();
      shape[0] = x.size(0);
      out = torch::empty(shape, row.options());
    }
    out.narrow(0, i, 1).copy_(row);
  }
  return out;
}

} // namespace

struct autoencoder::impl {
  autoencoder_config config;
  placement location;
  std::optional<detail::kl_encoder> kl_encoder;
  std::optional<detail::kl_decoder> kl_decoder;
  std::optional<detail::tiny_coder> tiny_encoder;
  std::optional<detail::tiny_coder> tiny_decoder;

  impl(weights& from, const autoencoder_config& how)
    : config(how), location(from.where()) {
    if (config.kind == autoencoder_kind::kl) {
      kl_encoder.emplace(from, config);
      kl_decoder.emplace(from, config);
    } else {
      tiny_encoder = detail::tiny_coder::encoder(from, config);
      tiny_decoder = detail::tiny_coder::decoder(from, config);
    }
    from.expect_all_taken();
    // Every image is decoded, but few are encoded, so the encoder is prepared
    // when it is first used.
    if (kl_decoder)
      kl_decoder->prepare();
  }

  uint64_t bytes() const {
    return kl_encoder ? kl_encoder->bytes() + kl_decoder->bytes()
                      : tiny_encoder->bytes() + tiny_decoder->bytes();
  }

  torch::Tensor place(const torch::Tensor& x) const {
    return x.to(torch::TensorOptions(location.dtype).device(location.device))
      .contiguous(at::MemoryFormat::ChannelsLast);
  }

  torch::Tensor encode(const torch::Tensor& pixels) const {
    const auto x = place(pixels);
    const auto y =
      kl_encoder ? (*kl_encoder)(x) : (*tiny_encoder)((x + 1).div_(2));
    return y.to(torch::kFloat32);
  }

  size_t decode_parts() const {
    return kl_decoder ? kl_decoder->parts() : 1;
  }

  // The first part takes an unscaled latent.
  torch::Tensor decode_part(size_t index, torch::Tensor x) const {
    if (index == 0)
      x = place(x);
    if (kl_decoder) {
      x = kl_decoder->part(index, std::move(x));
      return index + 1 < decode_parts() ? x : x.to(torch::kFloat32);
    }
    const auto limited = at::tanh(x / tiny_limit) * tiny_limit;
    return (*tiny_decoder)(limited).to(torch::kFloat32).mul_(2).sub_(1);
  }

  // Decodes an unscaled latent.
  torch::Tensor decode(torch::Tensor x) const {
    for (size_t i = 0; i < decode_parts(); ++i)
      x = decode_part(i, std::move(x));
    return x;
  }

  torch::Tensor to_latent(const torch::Tensor& drawn) const {
    const auto x = drawn.to(torch::kFloat32);
    if (config.latents_mean.empty())
      return (x - config.shift_factor) * config.scaling_factor;
    return (x - for_channels(config.latents_mean, x)) * config.scaling_factor
         / for_channels(config.latents_std, x);
  }

  torch::Tensor from_latent(const torch::Tensor& latent) const {
    const auto x = latent.to(torch::kFloat32);
    if (config.latents_mean.empty())
      return x / config.scaling_factor + config.shift_factor;
    return x * for_channels(config.latents_std, x) / config.scaling_factor
         + for_channels(config.latents_mean, x);
  }
};

core::result<std::unique_ptr<autoencoder>> autoencoder::load(
  const component& from, const placement& where, bool upcasts) {
  auto config = read_autoencoder_config(from);
  if (!config)
    return config.why();
  return with_model_border(from.config_file, [&] {
    const c10::InferenceMode guard;
    weights tensors{from.weights, computed_in(where, *config, upcasts)};
    auto network = std::make_unique<impl>(tensors, *config);
    return std::unique_ptr<autoencoder>{new autoencoder{std::move(network)}};
  });
}

autoencoder::autoencoder(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

autoencoder::~autoencoder() = default;

latent_distribution autoencoder::encode(const torch::Tensor& pixels) const {
  const c10::InferenceMode guard;
  const auto out =
    by_rows(pixels, [&](const torch::Tensor& x) { return impl_->encode(x); });
  if (impl_->config.kind == autoencoder_kind::tiny)
    return {out,
            torch::full_like(out, -std::numeric_limits<float>::infinity())};
  const auto halves = out.chunk(2, 1);
  return {halves[0], halves[1].clamp(least_log_variance, most_log_variance)};
}

torch::Tensor autoencoder::to_latent(const torch::Tensor& drawn) const {
  const c10::InferenceMode guard;
  return impl_->to_latent(drawn);
}

torch::Tensor autoencoder::decode(const torch::Tensor& latent) const {
  const c10::InferenceMode guard;
  return by_rows(impl_->from_latent(latent),
                 [&](const torch::Tensor& x) { return impl_->decode(x); });
}

size_t autoencoder::decode_parts() const {
  return impl_->decode_parts();
}

torch::Tensor autoencoder::decode_part(size_t index, torch::Tensor x) const {
  const c10::InferenceMode guard;
  TORCH_CHECK(index > 0
                || (x.dim() == 4 && x.size(1) == impl_->config.latent_channels),
              "a latent of ", x.sizes(), " for an autoencoder of ",
              impl_->config.latent_channels, " channels");
  return impl_->decode_part(index,
                            index == 0 ? impl_->from_latent(x) : std::move(x));
}

torch::Tensor autoencoder::decode_tiled(const torch::Tensor& latent) const {
  const auto factor = static_cast<int64_t>(impl_->config.factor());
  const auto kl = impl_->config.kind == autoencoder_kind::kl;
  const auto multiple = tile_multiple();
  const auto side = std::max((kl ? impl_->config.sample_size : tiny_tile_pixels)
                               / factor / multiple,
                             int64_t{1})
                  * multiple;
  return by_rows(latent, [&](const torch::Tensor& x) {
    const bool whole = kl && x.size(2) <= side && x.size(3) <= side;
    decoding run{*this, x, whole ? 0 : side};
    for (;;)
      if (auto out = run.next())
        return *out;
  });
}

int64_t autoencoder::tile_multiple() const {
  return impl_->config.kind == autoencoder_kind::kl ? 4 : 8;
}

detail::tiling autoencoder::tiles(int64_t side) const {
  const auto kl = impl_->config.kind == autoencoder_kind::kl;
  TORCH_CHECK(side > 0 && side % tile_multiple() == 0, "a tile of ", side,
              " elements");
  return {side, side / tile_multiple(),
          static_cast<int64_t>(impl_->config.factor()),
          kl ? detail::blending::neighbours : detail::blending::image};
}

coder_placement autoencoder::where() const {
  return {c10::elementSize(impl_->location.dtype),
          impl_->location.device.is_cpu()
            && impl_->location.dtype != torch::kFloat16};
}

const autoencoder_config& autoencoder::config() const {
  return impl_->config;
}

uint32_t autoencoder::factor() const {
  return impl_->config.factor();
}

uint64_t autoencoder::weight_bytes() const {
  return impl_->bytes();
}

} // namespace atelier::gpu
