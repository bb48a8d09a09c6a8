// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/weights.hpp>
#include <atelier/gpu/quality/caption_score.hpp>
#include <atelier/gpu/training/draw_scene.hpp>
#include <atelier/gpu/training/loops/batch_queue.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/denoiser_data.hpp>
#include <atelier/gpu/training/loops/discriminator_task.hpp>
#include <atelier/gpu/training/loops/drawing_store.hpp>
#include <atelier/gpu/training/loops/drawn_tensors.hpp>
#include <atelier/gpu/training/loops/mixed_precision.hpp>
#include <atelier/gpu/training/loops/shapes.hpp>
#include <atelier/gpu/training/networks/discriminator_net.hpp>
#include <atelier/gpu/training/wrong_caption.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

// Of the text encoder, to the others' rate.
constexpr double text_rate = 0.1;

constexpr size_t batches_ahead = 4;

struct discriminator_plan {
  // Of each kind.
  uint32_t batch = 16;
  // Drawings: those before the first step, those that each step adds until
  // there are so many, in groups.
  uint64_t first_groups = 32;
  uint64_t most_groups = 1024;
  // Held-out scenes of each number of objects.
  uint32_t evaluated = 32;
};

// Pictures [n, 3, side, side] and captions [n, tokens] of the three kinds.
struct verdict_batch {
  torch::Tensor real;
  torch::Tensor drawn;
  torch::Tensor right;
  torch::Tensor wrong;
  torch::Tensor drawn_right;
};

// A real scene with its caption, and one that is wrong in a word.
struct spoken_scene {
  scene what;
  caption right;
  std::string wrong;
};

spoken_scene speak(const scene& what, core::philox& from) {
  spoken_scene out{what, {}, {}};
  out.right.says = describe(what, from);
  const auto words = from;
  out.right.text = word(out.right.says, from);
  const auto wrong = draw_wrong_captions(out.right.says, what, words, from, 1);
  // A caption that can be wrong in no word is rare, and the empty one is
  // wrong in all.
  out.wrong = wrong.empty() ? std::string{} : wrong.front().text;
  return out;
}

double share_above(const std::vector<float>& high,
                   const std::vector<float>& low) {
  double sum = 0;
  for (const auto x : high)
    for (const auto y : low)
      sum += x > y ? 1 : x == y ? 0.5 : 0;
  return sum / static_cast<double>(high.size() * low.size());
}

class discriminator_task : public training_task {
public:
  discriminator_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      network_(std::make_shared<discriminator_net>(
        discriminator_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))),
      autoencoder_(trained_autoencoder(config, where)),
      drawings_(config, where) {
    if (config.scale == training_scale::miniature)
      plan_ = {2, 1, 4, 2};
    read_network(network_->text(),
                 trained_weights(config, training_part::text));
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 100 : 5;
    out.rate.falls_from = 0.3;
    out.weight_decay = 1e-2;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : network_->named_parameters())
      out.push_back({x.key(), x.value(),
                     x.key().starts_with("text_model.") ? text_rate : 1});
    return out;
  }

  void begin(uint64_t first) override {
    drawings_.keep(groups_at(first));
    // One thread: drawings are kept in order.
    batches_ = std::make_unique<batch_queue<verdict_batch>>(
      [this](uint64_t step) { return make_batch(step); }, first,
      std::min(config_.data_threads, 1u), batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    batch_ = batches_->next();
    for (auto* x : {&batch_.real, &batch_.drawn, &batch_.right, &batch_.wrong,
                    &batch_.drawn_right})
      *x = x->to(where_);
    return plan_.batch;
  }

  step_loss loss(size_t part, size_t parts) override {
    const mixed_precision guard{where_};
    const auto real = part_of(batch_.real, part, parts);
    const auto drawn = part_of(batch_.drawn, part, parts);
    const auto said =
      network_
        ->forward(torch::cat({real, drawn, real}),
                  torch::cat({part_of(batch_.right, part, parts),
                              part_of(batch_.drawn_right, part, parts),
                              part_of(batch_.wrong, part, parts)}))
        .to(torch::kFloat32)
        .chunk(3);
    // As many good ones as bad ones of either kind.
    const auto good = at::softplus(-said[0]).mean();
    const auto drawing = at::softplus(said[1]).mean();
    const auto wrong = at::softplus(said[2]).mean();
    return {good / 2 + (drawing + wrong) / 4,
            {tell("loss_good", good), tell("loss_drawn", drawing),
             tell("loss_wrong", wrong)}};
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    if (held_out_.empty())
      draw_held_out();
    std::vector<float> real, wrong, drawn;
    for (const auto& x : held_out_) {
      const auto said =
        network_
          ->forward(torch::cat({x.real, x.drawn, x.real}),
                    caption_ids({x.right, x.right, x.wrong}).to(where_))
          .cpu();
      real.push_back(said[0].item<float>());
      drawn.push_back(said[1].item<float>());
      wrong.push_back(said[2].item<float>());
    }
    auto sorted = drawn;
    std::ranges::sort(sorted);
    const auto median = sorted[sorted.size() / 2];
    score_count high, low;
    for (size_t i = 0; i < drawn.size(); ++i)
      (drawn[i] >= median ? high : low) += held_out_[i].objects;
    return {{"real_above_drawn", share_above(real, drawn)},
            {"right_above_wrong", share_above(real, wrong)},
            {"drawn_high", high.share()},
            {"drawn_low", low.share()}};
  }

private:
  struct held_out_scene {
    torch::Tensor real;
    torch::Tensor drawn;
    std::string right;
    std::string wrong;
    score_count objects;
  };

  uint64_t groups_at(uint64_t step) const {
    return std::min(plan_.first_groups + step / 4, plan_.most_groups);
  }

  torch::Tensor passed(const std::vector<scene>& scenes) {
    const auto pixels = draw_scenes(scenes, family_side).to(where_);
    return autoencoder_->decode(autoencoder_->encode(pixels).mean)
      .to(torch::kFloat32);
  }

  torch::Tensor decoded(const torch::Tensor& latents) {
    return autoencoder_->decode(latents.to(where_).to(torch::kFloat32))
      .to(torch::kFloat32);
  }

  verdict_batch make_batch(uint64_t step) {
    const torch::NoGradGuard guard;
    const mixed_precision faster{where_};
    drawings_.keep(groups_at(step));
    auto from = data_stream(config_.seed, data_use::verdicts, step);
    std::vector<scene> scenes;
    std::vector<std::string> right, wrong, drawn_right;
    std::vector<uint64_t> numbers;
    for (uint32_t i = 0; i < plan_.batch; ++i) {
      const auto x = speak(draw_scene(from), from);
      scenes.push_back(x.what);
      right.push_back(x.right.text);
      wrong.push_back(x.wrong);
      numbers.push_back(from.below(groups_at(step) * drawing_store::group));
      drawn_right.push_back(drawings_.caption_of(numbers.back()).says.text);
    }
    return {passed(scenes), decoded(drawings_.read(numbers)),
            caption_ids(right), caption_ids(wrong), caption_ids(drawn_right)};
  }

  void draw_held_out() {
    const mixed_precision faster{where_};
    for (uint32_t i = 0; i < plan_.evaluated * most_objects; ++i) {
      auto from = data_stream(config_.seed, data_use::evaluation,
                              (uint64_t{1} << 30) + i);
      const auto x = speak(draw_scene(from, {1 + i % uint32_t{most_objects},
                                             scene_split::held_out}),
                           from);
      held_out_scene out;
      out.real = passed({x.what});
      out.drawn =
        decoded(drawings_.draw({x.right.text}, {(uint64_t{1} << 30) + i}));
      out.right = x.right.text;
      out.wrong = x.wrong;
      const auto picture = to_picture(out.drawn[0].cpu());
      out.objects =
        score_picture(check_picture(picture.view()), x.right.says).objects;
      held_out_.push_back(std::move(out));
    }
  }

  training_config config_;
  torch::Device where_;
  discriminator_plan plan_;
  std::shared_ptr<discriminator_net> network_;
  std::shared_ptr<autoencoder_net> autoencoder_;
  drawing_store drawings_;
  std::unique_ptr<batch_queue<verdict_batch>> batches_;
  verdict_batch batch_;
  std::vector<held_out_scene> held_out_;
};

} // namespace

std::unique_ptr<training_task> make_discriminator_task(
  const training_config& config, torch::Device where) {
  return std::make_unique<discriminator_task>(config, where);
}

} // namespace atelier::gpu
