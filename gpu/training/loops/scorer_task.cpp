// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/weights.hpp>
#include <atelier/gpu/training/draw_scene.hpp>
#include <atelier/gpu/training/loops/batch_queue.hpp>
#include <atelier/gpu/training/loops/checkpoint.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/denoiser_data.hpp>
#include <atelier/gpu/training/loops/drawn_tensors.hpp>
#include <atelier/gpu/training/loops/mixed_precision.hpp>
#include <atelier/gpu/training/loops/scorer_batch.hpp>
#include <atelier/gpu/training/loops/scorer_task.hpp>
#include <atelier/gpu/training/loops/shapes.hpp>
#include <atelier/gpu/training/networks/scorer_net.hpp>
#include <atelier/gpu/training/vocabulary.hpp>
#include <atelier/gpu/training/wrong_caption.hpp>

namespace atelier::gpu {

namespace {

// Of the tower for texts, to the other's rate.
constexpr double text_rate = 0.3;

constexpr size_t batches_ahead = 4;
constexpr size_t distractors = 9;

// Renders of each number of objects that one measurement looks at.
constexpr uint32_t evaluated = 100;

class scorer_task : public training_task {
public:
  scorer_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      network_(std::make_shared<scorer_net>(
        scorer_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))) {
    if (config.scale == training_scale::miniature) {
      shape_.scenes = 6;
      evaluated_ = 4;
    }
    // The projection is not in it.
    named_tensors known;
    for (const auto& x : network_->text().named_parameters())
      if (x.key().starts_with("text_model."))
        known.emplace_back(x.key(), x.value());
    if (auto ok =
          read_tensors(trained_weights(config, training_part::text), known);
        !ok)
      throw model_error{ok.why()};
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 200 : 5;
    out.rate.falls_from = 0.3;
    out.beta2 = 0.98;
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
    batches_ = std::make_unique<batch_queue<scorer_batch>>(
      [seed = config_.seed, shape = shape_](uint64_t n) {
        return draw_scorer_batch(seed, n, shape);
      },
      first, config_.data_threads, batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    const auto batch = batches_->next();
    const auto n = static_cast<int64_t>(shape_.scenes);
    const auto texts = static_cast<int64_t>(shape_.texts);
    pixels_ = draw_scenes(batch.scenes, family_side).to(where_);
    ids_ = torch::tensor(batch.ids, torch::kInt64)
             .view({n, texts, batch.tokens})
             .to(where_);
    also_true_ = torch::tensor(batch.also_true, torch::kUInt8)
                   .view({n, n, texts})
                   .to(where_, torch::kBool);
    return shape_.scenes;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto n = static_cast<int64_t>(shape_.scenes);
    const auto count = static_cast<int64_t>(parts);
    const auto begin = n * static_cast<int64_t>(part) / count;
    const auto end = n * static_cast<int64_t>(part + 1) / count;
    const mixed_precision guard{where_};
    const auto pictures =
      network_->embed_pictures(pixels_.slice(0, begin, end));
    const auto texts =
      network_->embed_texts(ids_.slice(0, begin, end).flatten(0, 1));
    const auto also_true =
      also_true_.slice(0, begin, end).slice(1, begin, end).flatten(1);
    const auto total = network_->contrastive_loss(pictures, texts, also_true);
    return {total, {tell("scale", network_->scale())}};
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    std::map<std::string, std::pair<double, double>> counts;
    const auto note = [&](const std::string& name, bool right) {
      counts[name].first += right ? 1 : 0;
      counts[name].second += 1;
    };
    for (uint32_t objects = 1; objects <= most_objects; ++objects)
      for (uint32_t i = 0; i < evaluated_; ++i) {
        auto from = data_stream(config_.seed, data_use::evaluation,
                                (uint64_t{objects} << 20) + i);
        const auto what = draw_scene(from, {objects, scene_split::held_out});
        const auto says = describe(what, from);
        const auto words = from;
        std::vector<std::string> texts{word(says, from)};
        const auto wrong =
          draw_wrong_captions(says, what, words, from, distractors);
        for (const auto& x : wrong)
          texts.push_back(x.text);
        const auto scores = score(what, texts);
        auto first = true;
        for (size_t k = 0; k < wrong.size(); ++k) {
          const auto below = scores[k + 1] < scores[0];
          first = first && below;
          note("beats_" + std::string{wrong[k].about}, below);
        }
        note("ranked", first);
        note(fmt::format("ranked_{}", objects), first);
      }
    std::map<std::string, double> out;
    for (const auto& [name, x] : counts)
      out[name] = x.first / x.second;
    return out;
  }

private:
  std::vector<float> score(const scene& what,
                           const std::vector<std::string>& texts) {
    std::vector<int64_t> ids;
    for (const auto& x : texts) {
      const auto row = encode_caption(x, family_tokens).ids;
      ids.insert(ids.end(), row.begin(), row.end());
    }
    const auto picture =
      network_->embed_pictures(draw_scenes({&what, 1}, family_side).to(where_));
    const auto said = network_->embed_texts(
      torch::tensor(ids, torch::kInt64).view({-1, family_tokens}).to(where_));
    const auto scores = at::matmul(said, picture.t()).flatten().cpu();
    return {scores.data_ptr<float>(),
            scores.data_ptr<float>() + scores.numel()};
  }

  training_config config_;
  torch::Device where_;
  scorer_batch_shape shape_;
  uint32_t evaluated_ = evaluated;
  std::shared_ptr<scorer_net> network_;
  std::unique_ptr<batch_queue<scorer_batch>> batches_;
  torch::Tensor pixels_;
  torch::Tensor ids_;
  torch::Tensor also_true_;
};

} // namespace

std::unique_ptr<training_task> make_scorer_task(const training_config& config,
                                                torch::Device where) {
  return std::make_unique<scorer_task>(config, where);
}

} // namespace atelier::gpu
