// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/training/draw_scene.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/caption_answers.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/text_task.hpp>

#include <utility>

namespace atelier::gpu {

namespace {

constexpr uint32_t batch_size = 64;
constexpr uint32_t evaluated = 512;
constexpr size_t batches_ahead = 8;

struct text_batch {
  std::vector<int64_t> ids;
  std::vector<int64_t> answers;
};

void add_caption(text_batch& to, const scene& what, core::philox& from) {
  const auto said = draw_caption(what, from);
  const auto ids = encode_caption(said.text, family_tokens).ids;
  to.ids.insert(to.ids.end(), ids.begin(), ids.end());
  const auto answers = caption_answers(said.says);
  to.answers.insert(to.answers.end(), answers.begin(), answers.end());
}

text_batch draw_batch(uint64_t seed, uint64_t number) {
  auto from = data_stream(seed, data_use::texts, number);
  text_batch out;
  for (uint32_t i = 0; i < batch_size; ++i)
    add_caption(out, draw_scene(from), from);
  return out;
}

torch::Tensor rows_of(const std::vector<int64_t>& x, int64_t columns) {
  return torch::tensor(x, torch::kInt64).view({-1, columns});
}

class text_task : public training_task {
public:
  text_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      network_(std::make_shared<text_encoder_net>(
        text_encoder_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))) {
    for (const auto& x : caption_questions())
      classes_.push_back(x.classes);
    const auto width = network_->config().hidden_size;
    auto from = data_stream(config.seed, data_use::weights, 0);
    auto all = int64_t{0};
    for (const auto x : classes_)
      all += x;
    weight_ = draw_noise({all, width}, from).mul_(0.02).to(where);
    weight_.set_requires_grad(true);
    bias_ = torch::zeros({all}, weight_.options().requires_grad(true));
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 50 : 5;
    out.weight_decay = 1e-2;
    out.average_decay = 0.99;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : network_->named_parameters())
      out.push_back({x.key(), x.value(), 1});
    out.push_back({"answers.weight", weight_, 1, true});
    out.push_back({"answers.bias", bias_, 1, true});
    return out;
  }

  void begin(uint64_t first) override {
    batches_ = std::make_unique<batch_queue<text_batch>>(
      [seed = config_.seed](uint64_t n) { return draw_batch(seed, n); }, first,
      config_.data_threads, batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    const auto batch = batches_->next();
    ids_ = rows_of(batch.ids, family_tokens).to(where_);
    answers_ = rows_of(batch.answers, questions()).to(where_);
    return batch_size;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto said = replies(part_of(ids_, part, parts));
    const auto answers = part_of(answers_, part, parts);
    auto total = torch::zeros({}, weight_.options().requires_grad(false));
    auto right = torch::zeros({}, total.options());
    for (size_t i = 0; i < said.size(); ++i) {
      const auto answer = answers.select(1, static_cast<int64_t>(i));
      total = total + torch::cross_entropy_loss(said[i], answer);
      right = right + said[i].argmax(1).eq(answer).to(torch::kFloat32).mean();
    }
    const auto count = static_cast<double>(said.size());
    return {total / count, {tell("right", right / count)}};
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    text_batch batch;
    for (uint32_t i = 0; i < evaluated; ++i) {
      auto from = data_stream(config_.seed, data_use::evaluation, i);
      const auto what = draw_scene(from, {0, scene_split::held_out});
      add_caption(batch, what, from);
    }
    const auto said = replies(rows_of(batch.ids, family_tokens).to(where_));
    const auto answers = rows_of(batch.answers, questions());
    std::map<std::string, std::pair<double, double>> counts;
    for (size_t i = 0; i < said.size(); ++i) {
      const auto answer = answers.select(1, static_cast<int64_t>(i));
      const auto right = said[i].argmax(1).cpu().eq(answer);
      const auto given = answer.gt(0);
      auto& [right_given, all_given] =
        counts[std::string{caption_questions()[i].about}];
      right_given += right.logical_and(given).sum().item<double>();
      all_given += given.sum().item<double>();
      auto& [right_open, all_open] = counts["unsaid"];
      right_open += right.logical_and(given.logical_not()).sum().item<double>();
      all_open += given.logical_not().sum().item<double>();
    }
    std::map<std::string, double> out;
    for (const auto& [name, x] : counts)
      out[name] = x.second > 0 ? x.first / x.second : 1;
    return out;
  }

private:
  int64_t questions() const {
    return static_cast<int64_t>(classes_.size());
  }

  // Returns the logits of each question's classes: [n, classes].
  std::vector<torch::Tensor> replies(const torch::Tensor& ids) {
    return torch::linear(network_->forward(ids).pooled, weight_, bias_)
      .split_with_sizes(classes_, 1);
  }

  training_config config_;
  torch::Device where_;
  std::shared_ptr<text_encoder_net> network_;
  std::vector<int64_t> classes_;
  torch::Tensor weight_;
  torch::Tensor bias_;
  std::unique_ptr<batch_queue<text_batch>> batches_;
  torch::Tensor ids_;
  torch::Tensor answers_;
};

} // namespace

std::unique_ptr<training_task> make_text_task(const training_config& config,
                                              torch::Device where) {
  return std::make_unique<text_task>(config, where);
}

} // namespace atelier::gpu
