// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/autoencoder_task.hpp>
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/image_batch.hpp>
#include <atelier/training/loops/image_loss.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/quality/caption_score.hpp>
#include <atelier/training/render.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

constexpr double divergence_weight = 1e-4;

// Number of reconstructions in one measurement, and number of images on which
// the scale of latents is measured.
constexpr uint32_t evaluated = 96;
constexpr uint32_t scaled_on = 1024;

// Number of images that pass through the network at once outside of training.
constexpr uint32_t chunk = 8;

constexpr size_t batches_ahead = 8;

class autoencoder_task : public training_task {
public:
  autoencoder_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      shape_(autoencoder_shape(config.scale)),
      network_(std::make_shared<autoencoder_net>(shape_)) {
    if (config.scale == training_scale::miniature) {
      images_.crops = 4;
      evaluated_ = chunk;
      scaled_on_ = 2 * chunk;
    }
    network_->draw(config.seed);
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 8e-4;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 150 : 5;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : network_->named_parameters())
      out.push_back({x.key(), x.value(), 1});
    return out;
  }

  void begin(uint64_t first) override {
    batches_ = std::make_unique<batch_queue<image_batch>>(
      [seed = config_.seed, shape = images_](uint64_t number) {
        return draw_image_batch(seed, number, shape);
      },
      first, config_.data_threads, batches_ahead);
  }

  uint64_t draw(const step_place& at) override {
    const auto batch = batches_->next();
    pixels_ = to_tensor(batch).to(where_);
    const auto small = pixels_.size(2) / static_cast<int64_t>(shape_.factor());
    auto from = data_stream(config_.seed, data_use::noise, at.step);
    noise_ =
      draw_noise({batch.count, shape_.latent_channels, small, small}, from);
    noise_ = noise_.to(where_);
    return batch.count;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto pixels = part_of(pixels_, part, parts);
    const auto through = pass(pixels, part_of(noise_, part, parts));
    auto out = compare_images(through.pixels, pixels);
    const auto divergence =
      0.5
      * (through.code.mean.square() + through.code.log_variance.exp() - 1
         - through.code.log_variance)
          .mean();
    out.total = out.total + divergence_weight * divergence;
    out.told.push_back(tell("divergence", divergence));
    return out;
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    caption_score drawn, renders;
    double squared = 0;
    torch::Tensor means, variances;
    for (uint32_t i = 0; i < evaluated_; i += chunk) {
      const auto scenes = held_out_scenes(i);
      const auto pixels = render_scenes(scenes);
      const auto code = network_->encode(pixels);
      const auto back = network_->decode(code.mean).clamp(-1, 1).cpu();
      squared += (back - pixels.cpu()).div(2).square().mean().item<double>();
      means = means.defined() ? torch::cat({means, code.mean}) : code.mean;
      variances = variances.defined()
                  ? torch::cat({variances, code.log_variance})
                  : code.log_variance;
      for (uint32_t k = 0; k < chunk; ++k) {
        const auto said = describe_all(scenes[k]);
        const auto image = to_image(back[k]);
        drawn += score_image(check_image(image.view()), said);
        const auto render_of = render(scenes[k]);
        renders += score_image(check_image(render_of.view()), said);
      }
    }
    const auto noise = (variances.div(2).exp().mean({0, 2, 3})
                        / means.transpose(0, 1).flatten(1).std(1))
                         .mean()
                         .item<double>();
    const auto chunks = evaluated_ / chunk;
    return {{"psnr", -10 * std::log10(squared / chunks)},
            {"objects", drawn.objects.share()},
            {"pictures", drawn.images.share()},
            {"textures", drawn.textures.share()},
            {"shapes", drawn.shapes.share()},
            {"colours", drawn.colours.share()},
            {"render_objects", renders.objects.share()},
            {"render_pictures", renders.images.share()},
            {"noise", noise}};
  }

  void finish() override {
    const torch::NoGradGuard guard;
    std::vector<torch::Tensor> codes;
    for (uint32_t i = 0; i < scaled_on_; i += chunk) {
      std::vector<scene> scenes;
      for (uint32_t k = 0; k < chunk; ++k) {
        auto from = data_stream(config_.seed, data_use::scaling, i + k);
        scenes.push_back(draw_scene(from));
      }
      codes.push_back(network_->encode(render_scenes(scenes)).mean);
    }
    const auto all = torch::cat(codes).transpose(0, 1).flatten(1);
    network_->fold(all.mean(1), all.std(1));
  }

private:
  struct passed {
    encoded_image code;
    torch::Tensor pixels;
  };

  passed pass(const torch::Tensor& pixels, const torch::Tensor& noise) {
    const mixed_precision guard{where_};
    passed out;
    out.code = network_->encode(pixels);
    out.pixels = network_->decode(out.code.mean
                                  + (out.code.log_variance / 2).exp() * noise);
    return out;
  }

  std::vector<scene> held_out_scenes(uint32_t first) const {
    std::vector<scene> out;
    for (uint32_t k = 0; k < chunk; ++k) {
      auto from = data_stream(config_.seed, data_use::evaluation, first + k);
      out.push_back(draw_scene(from, {0, scene_split::held_out}));
    }
    return out;
  }

  torch::Tensor render_scenes(const std::vector<scene>& scenes) const {
    return draw_scenes(scenes, images_.side).to(where_);
  }

  training_config config_;
  torch::Device where_;
  autoencoder_config shape_;
  image_batch_shape images_;
  uint32_t evaluated_ = evaluated;
  uint32_t scaled_on_ = scaled_on;
  std::shared_ptr<autoencoder_net> network_;
  std::unique_ptr<batch_queue<image_batch>> batches_;
  torch::Tensor pixels_;
  torch::Tensor noise_;
};

} // namespace

std::unique_ptr<training_task> make_autoencoder_task(
  const training_config& config, torch::Device where) {
  return std::make_unique<autoencoder_task>(config, where);
}

} // namespace atelier::gpu
