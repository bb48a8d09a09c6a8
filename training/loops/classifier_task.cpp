// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/prompt_classifier_net.hpp>
#include <atelier/planning/policies/argus/labels.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/classifier_task.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/level_store.hpp>
#include <atelier/training/loops/shapes.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace atelier::gpu {

namespace {

using planning::argus::tolerated_level;

// Learning rate of the text encoder, relative to the matrix's.
constexpr double text_rate = 0.3;

constexpr size_t batches_ahead = 2;

struct classifier_plan {
  uint32_t batch = 64;
  // Number of groups of prompts before the first step. Each step adds one, up
  // to the maximum.
  uint64_t first_groups = 8;
  uint64_t most_groups = 256;
  uint64_t evaluated_groups = 9;
};

// Prompts [n, tokens] and their qualities [n, levels].
struct level_batch {
  torch::Tensor ids;
  torch::Tensor quality;
};

class classifier_task : public training_task {
public:
  classifier_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      network_(std::make_shared<prompt_classifier_net>(
        prompt_classifier_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))),
      ladder_(load_ladder(config, where)),
      seen_(config, scene_split::training, where, ladder_),
      held_out_(config, scene_split::held_out, where, ladder_) {
    if (config.scale == training_scale::miniature)
      plan_ = {4, 1, 2, 1};
    read_network(network_->text(),
                 trained_weights(config, training_part::text));
    network_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 20 : 2;
    out.rate.falls_from = 0.3;
    out.weight_decay = 1e-1;
    out.average_decay = 0.99;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    return parameters_of(*network_, text_rate);
  }

  void begin(uint64_t first) override {
    for (uint64_t i = 0; i < groups_at(first); ++i)
      seen_.keep(i);
    // At most one thread, because a step draws from the groups that the steps
    // before it added.
    batches_ = std::make_unique<batch_queue<level_batch>>(
      [this](uint64_t step) { return make_batch(step); }, first,
      std::min(config_.data_threads, 1u), batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    const auto batch = batches_->next();
    ids_ = batch.ids.to(where_);
    quality_ = batch.quality.to(where_);
    return plan_.batch;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto said = network_->forward(part_of(ids_, part, parts));
    const auto quality = part_of(quality_, part, parts);
    const auto known = quality.isnan().logical_not().to(torch::kFloat32);
    const auto wanted = quality.nan_to_num(0);
    const auto each = (at::softplus(said) - wanted * said) * known;
    return {each.sum() / known.sum(), {}};
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    std::vector<uint64_t> numbers;
    std::vector<std::string> prompts;
    for (uint64_t i = 0; i < plan_.evaluated_groups * level_store::group; ++i) {
      if (i % level_store::group == 0)
        held_out_.keep(i / level_store::group);
      numbers.push_back(i);
      prompts.push_back(held_out_.prompt(i).text);
    }
    const auto measured = held_out_.read(numbers);
    const auto expected =
      network_->forward(caption_ids(prompts).to(where_)).sigmoid().cpu();
    return figures(measured, expected);
  }

private:
  using table = std::vector<std::vector<double>>;

  // Returns the rows of `x`, with NaN at the levels that were not measured.
  static table rows_of(const torch::Tensor& x, const torch::Tensor& measured) {
    table out;
    for (int64_t i = 0; i < x.size(0); ++i) {
      std::vector<double> row;
      for (int64_t k = 0; k < x.size(1); ++k)
        row.push_back(std::isnan(measured[i][k].item<float>())
                        ? std::nan("")
                        : x[i][k].item<double>());
      out.push_back(std::move(row));
    }
    return out;
  }

  static std::map<std::string, double> figures(const torch::Tensor& measured,
                                               const torch::Tensor& expected) {
    const auto is = rows_of(measured, measured);
    const auto said = rows_of(expected, measured);
    const auto n = static_cast<double>(is.size());
    std::map<std::string, double> out;
    size_t slowest = level_ladder.size();
    for (size_t k = 0; k < level_ladder.size(); ++k) {
      if (std::isnan(is.front()[k]))
        continue;
      slowest = std::min(slowest, k);
      double sum = 0, error = 0;
      for (size_t i = 0; i < is.size(); ++i) {
        sum += is[i][k];
        error += std::abs(said[i][k] - is[i][k]);
      }
      out["quality_" + name_of(level_ladder[k])] = sum / n;
      out["error_" + name_of(level_ladder[k])] = error / n;
    }
    std::vector<size_t> levels;
    for (const auto& row : said)
      levels.push_back(tolerated_level(row));
    for (size_t i = 0; i < is.size(); ++i) {
      out["same_level"] += levels[i] == tolerated_level(is[i]) ? 1 / n : 0;
      out["routed"] += is[i][levels[i]] / n;
      for (const auto level : levels)
        out["shuffled"] += is[i][level] / (n * n);
      out["routed_cost"] +=
        level_ladder[levels[i]].cost() / (level_ladder[slowest].cost() * n);
    }
    return out;
  }

  uint64_t groups_at(uint64_t step) const {
    return std::min(plan_.first_groups + step, plan_.most_groups);
  }

  level_batch make_batch(uint64_t step) {
    const auto groups = groups_at(step);
    seen_.keep(groups - 1);
    auto from = data_stream(config_.seed, data_use::levels, step);
    std::vector<uint64_t> numbers;
    std::vector<std::string> prompts;
    for (uint32_t i = 0; i < plan_.batch; ++i) {
      numbers.push_back(from.below(groups * level_store::group));
      prompts.push_back(seen_.prompt(numbers.back()).text);
    }
    return {caption_ids(prompts), seen_.read(numbers)};
  }

  training_config config_;
  torch::Device where_;
  classifier_plan plan_;
  std::shared_ptr<prompt_classifier_net> network_;
  std::shared_ptr<const ladder_networks> ladder_;
  level_store seen_;
  level_store held_out_;
  std::unique_ptr<batch_queue<level_batch>> batches_;
  torch::Tensor ids_;
  torch::Tensor quality_;
};

} // namespace

std::unique_ptr<training_task> make_classifier_task(
  const training_config& config, torch::Device where) {
  return std::make_unique<classifier_task>(config, where);
}

} // namespace atelier::gpu
