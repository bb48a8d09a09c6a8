// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/caption.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/image_batch.hpp>
#include <atelier/training/loops/image_loss.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/preview_task.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/networks/tiny_decoder_net.hpp>
#include <atelier/training/quality/caption_score.hpp>

#include <cmath>

namespace atelier::gpu {

namespace {

// Number of held-out images in one measurement, and number that pass through
// the network at once.
constexpr uint32_t evaluated = 96;
constexpr uint32_t chunk = 8;

constexpr size_t batches_ahead = 8;

class preview_task : public training_task {
public:
  preview_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      teacher_(trained_autoencoder(config, where)),
      network_(std::make_shared<tiny_autoencoder_net>(
        preview_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))) {
    if (config.scale == training_scale::miniature) {
      images_.crops = 4;
      evaluated_ = chunk;
    }
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 150 : 5;
    out.rate.falls_from = 0.5;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    return parameters_of(*network_, 1);
  }

  void begin(uint64_t first) override {
    batches_ = std::make_unique<batch_queue<image_batch>>(
      [seed = config_.seed, shape = images_](uint64_t number) {
        return draw_image_batch(seed, number, shape);
      },
      first, config_.data_threads, batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    const auto batch = batches_->next();
    pixels_ = to_tensor(batch).to(where_);
    const torch::NoGradGuard guard;
    const mixed_precision faster{where_};
    latents_ = teacher_->encode(pixels_).mean.to(torch::kFloat32);
    return batch.count;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto pixels = part_of(pixels_, part, parts);
    const auto latents = part_of(latents_, part, parts);
    const mixed_precision guard{where_};
    auto out =
      compare_images(network_->decode(latents).to(torch::kFloat32), pixels);
    const auto code =
      (network_->encode(pixels).to(torch::kFloat32) - latents).square().mean();
    out.total = out.total + code;
    out.told.push_back(tell("code", code));
    return out;
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    caption_score drawn;
    double squared = 0, code = 0;
    for (uint32_t i = 0; i < evaluated_; i += chunk) {
      std::vector<scene> scenes;
      for (uint32_t k = 0; k < chunk; ++k) {
        auto from = data_stream(config_.seed, data_use::evaluation, i + k);
        scenes.push_back(draw_scene(from, {0, scene_split::held_out}));
      }
      const auto pixels = draw_scenes(scenes, images_.side).to(where_);
      const auto latents = teacher_->encode(pixels).mean;
      const auto back = network_->decode(latents).clamp(-1, 1).cpu();
      squared += (back - pixels.cpu()).div(2).square().mean().item<double>();
      code +=
        (network_->encode(pixels) - latents).square().mean().item<double>();
      for (uint32_t k = 0; k < chunk; ++k) {
        const auto image = to_image(back[k]);
        drawn +=
          score_image(check_image(image.view()), describe_all(scenes[k]));
      }
    }
    const auto chunks = evaluated_ / chunk;
    return {{"psnr", -10 * std::log10(squared / chunks)},
            {"objects", drawn.objects.share()},
            {"pictures", drawn.images.share()},
            {"code", code / chunks}};
  }

private:
  training_config config_;
  torch::Device where_;
  image_batch_shape images_;
  uint32_t evaluated_ = evaluated;
  std::shared_ptr<autoencoder_net> teacher_;
  std::shared_ptr<tiny_autoencoder_net> network_;
  std::unique_ptr<batch_queue<image_batch>> batches_;
  torch::Tensor pixels_;
  torch::Tensor latents_;
};

} // namespace

std::unique_ptr<training_task> make_preview_task(const training_config& config,
                                                 torch::Device where) {
  return std::make_unique<preview_task>(config, where);
}

} // namespace atelier::gpu
