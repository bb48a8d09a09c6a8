// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/loops/answer_head.hpp>
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/checkpoint.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/scene_answers.hpp>
#include <atelier/training/loops/scorer_batch.hpp>
#include <atelier/training/loops/scorer_task.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/wrong_caption.hpp>

#include <cmath>

namespace atelier::gpu {

namespace {

// Learning rate of the text tower, relative to the image tower's.
constexpr double text_rate = 0.3;

// Share of the training after which captions with a wrong word are used. They
// cost as much as images do, and teach nothing that the questions do not teach
// sooner.
constexpr double wrong_from = 0.4;

// Weights of the questions' losses, before and after that.
constexpr double asked_first = 10;
constexpr double asked_later = 3;

constexpr size_t batches_ahead = 4;
constexpr size_t distractors = 9;

// Number of renders in one measurement for each number of objects.
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
    const auto shape = scorer_shape(config.scale);
    shape_.patches = static_cast<uint32_t>(shape.side / shape.patch);
    auto from = data_stream(config.seed, data_use::weights, 0);
    scene_head_ =
      std::make_unique<answer_head>("scene_answers", scene_questions(),
                                    shape.text.projection_dim, from, where);
    patch_head_ = std::make_unique<answer_head>(
      "patch_answers", patch_questions(), shape.width, from, where);
    // The text encoder's file has no projection.
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
    auto out = parameters_of(*network_, text_rate);
    scene_head_->add_parameters(out);
    patch_head_->add_parameters(out);
    return out;
  }

  void begin(uint64_t first) override {
    batches_ = std::make_unique<batch_queue<scorer_batch>>(
      [seed = config_.seed, shape = shape_](uint64_t n) {
        return draw_scorer_batch(seed, n, shape);
      },
      first, config_.data_threads, batches_ahead);
  }

  uint64_t draw(const step_place& at) override {
    with_wrong_ = at.share >= wrong_from;
    const auto batch = batches_->next();
    const auto n = static_cast<int64_t>(shape_.scenes);
    const auto texts = static_cast<int64_t>(shape_.texts);
    const auto used = with_wrong_ ? texts : 1;
    const auto rows = [&](const std::vector<int64_t>& x) {
      return torch::tensor(x, torch::kInt64).view({n, -1}).to(where_);
    };
    pixels_ = draw_scenes(batch.scenes, family_side).to(where_);
    ids_ = rows(batch.ids)
             .view({n, texts, batch.tokens})
             .slice(1, 0, used)
             .contiguous();
    also_true_ = torch::tensor(batch.also_true, torch::kUInt8)
                   .view({n, n, texts})
                   .slice(2, 0, used)
                   .to(where_, torch::kBool);
    shown_ = rows(batch.shown);
    said_ = rows(batch.said);
    patches_ = rows(batch.patches);
    return shape_.scenes;
  }

  step_loss loss(size_t part, size_t parts) override {
    const mixed_precision guard{where_};
    const auto seen = network_->look(part_of(pixels_, part, parts));
    const auto images = network_->project(seen.pooled);
    const auto ids = part_of(ids_, part, parts);
    const auto texts = network_->embed_texts(ids.flatten(0, 1));
    const auto also_true =
      part_of(part_of(also_true_, part, parts).transpose(0, 1), part, parts)
        .transpose(0, 1);
    const auto pairs =
      network_->contrastive_loss(images, texts, also_true.flatten(1));

    const auto shown = part_of(shown_, part, parts);
    const auto said = part_of(said_, part, parts);
    const auto patches = part_of(patches_, part, parts).view({-1, 4});
    const auto own = texts.view({ids.size(0), ids.size(1), -1}).select(1, 0);
    const auto of_image = replies(images);
    const auto of_text = replies(own);
    const auto of_patches = patch_head_->replies(seen.patches).flatten(0, 1);
    const auto asked = answer_loss(of_image, shown)
                     + answer_loss(of_text, said) / 2
                     + answer_loss(of_patches, patches) / 2;
    return {pairs + asked * (with_wrong_ ? asked_later : asked_first),
            {tell("pairs", pairs), tell("asked", asked),
             tell("scale", network_->scale()),
             tell_right("shown", of_image, shown),
             tell_right("said", of_text, said),
             tell_right("patches", of_patches, patches)}};
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
        const auto image = look(what);
        note_seen(what, image, note);
        const auto scores = score(image, texts);
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
  // Returns the logits of unit vectors' answers. The vectors are made longer,
  // because the weights would otherwise have to grow far before answers differ.
  torch::Tensor replies(const torch::Tensor& embedded) const {
    return scene_head_->replies(
      embedded * std::sqrt(static_cast<double>(embedded.size(-1))));
  }

  torch::Tensor look(const scene& what) {
    return network_->embed_images(
      draw_scenes({&what, 1}, family_side).to(where_));
  }

  // Counts for each attribute that the scene has whether the answer is right.
  template <class Note>
  void note_seen(const scene& what, const torch::Tensor& image,
                 const Note& note) const {
    const auto told = replies(image).argmax(-1).flatten().cpu();
    const auto answers = scene_answers(what);
    for (size_t k = 0; k < answers.size(); ++k)
      if (answers[k] > 0)
        note("sees_" + std::string{scene_questions()[k].about},
             told[static_cast<int64_t>(k)].item<int64_t>() == answers[k]);
  }

  std::vector<float> score(const torch::Tensor& image,
                           const std::vector<std::string>& texts) {
    const auto said = network_->embed_texts(caption_ids(texts).to(where_));
    const auto scores = at::matmul(said, image.t()).flatten().cpu();
    return {scores.data_ptr<float>(),
            scores.data_ptr<float>() + scores.numel()};
  }

  training_config config_;
  torch::Device where_;
  scorer_batch_shape shape_;
  uint32_t evaluated_ = evaluated;
  std::shared_ptr<scorer_net> network_;
  std::unique_ptr<answer_head> scene_head_;
  std::unique_ptr<answer_head> patch_head_;
  std::unique_ptr<batch_queue<scorer_batch>> batches_;
  torch::Tensor pixels_;
  torch::Tensor ids_;
  torch::Tensor also_true_;
  torch::Tensor shown_;
  torch::Tensor said_;
  torch::Tensor patches_;
  bool with_wrong_ = false;
};

} // namespace

std::unique_ptr<training_task> make_scorer_task(const training_config& config,
                                                torch::Device where) {
  return std::make_unique<scorer_task>(config, where);
}

} // namespace atelier::gpu
