// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/discriminator_task.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/verdict_store.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

constexpr size_t batches_ahead = 4;

struct discriminator_plan {
  uint32_t batch = 64;
  // Number of groups of images before the first step, and maximum number. One
  // group is added every `steps_a_group` steps.
  uint64_t first_groups = 12;
  uint64_t most_groups = 180;
  uint64_t steps_a_group = 2;
  uint64_t evaluated_groups = 36;
};

// Returns the mean quality of the half with the higher ranks and of the other.
std::pair<double, double> halves(const torch::Tensor& quality,
                                 const torch::Tensor& rank) {
  const auto order = rank.argsort(true, 0, true);
  const auto sorted = quality.index_select(0, order);
  const auto middle = sorted.size(0) / 2;
  return {sorted.slice(0, 0, middle).mean().item<double>(),
          sorted.slice(0, middle).mean().item<double>()};
}

double correlation(const torch::Tensor& x, const torch::Tensor& y) {
  const auto a = x - x.mean();
  const auto b = y - y.mean();
  const auto lengths = (a.norm() * b.norm()).item<double>();
  return lengths > 0 ? (a * b).sum().item<double>() / lengths : 0;
}

class discriminator_task : public training_task {
public:
  discriminator_task(const training_config& config, torch::Device where)
    : config_(config),
      where_(where),
      networks_(load_verdict_networks(config, where)),
      seen_(config, scene_split::training, where, networks_),
      held_out_(config, scene_split::held_out, where, networks_) {
    if (config.scale == training_scale::miniature)
      plan_ = {4, 1, 4, 1, 3};
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = config_.scale == training_scale::full ? 100 : 5;
    out.rate.falls_from = 0.3;
    out.weight_decay = 1e-1;
    out.average_decay = 0.99;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : networks_->judge->named_parameters())
      if (!x.key().starts_with("towers."))
        out.push_back({x.key(), x.value()});
    return out;
  }

  std::vector<std::pair<std::string, torch::Tensor>> other_weights() override {
    std::vector<std::pair<std::string, torch::Tensor>> out;
    for (const auto& x : networks_->judge->named_parameters())
      if (x.key().starts_with("towers."))
        out.emplace_back(x.key(), x.value().detach());
    return out;
  }

  void begin(uint64_t first) override {
    seen_.keep(groups_at(first));
    // At most one thread, because groups are made in order.
    batches_ = std::make_unique<batch_queue<verdicts>>(
      [this](uint64_t step) { return make_batch(step); }, first,
      std::min(config_.data_threads, 1u), batches_ahead);
  }

  uint64_t draw(const step_place&) override {
    batch_ = batches_->next();
    batch_.evidence = batch_.evidence.to(where_);
    batch_.quality = batch_.quality.to(where_);
    return plan_.batch;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto said =
      networks_->judge->judge(part_of(batch_.evidence, part, parts));
    const auto quality = part_of(batch_.quality, part, parts);
    return {(at::softplus(said) - quality * said).mean(), {}};
  }

  std::map<std::string, double> evaluate(
    const step_place&, const std::filesystem::path&) override {
    const torch::NoGradGuard guard;
    held_out_.keep(plan_.evaluated_groups);
    std::vector<uint64_t> drawn;
    for (uint64_t i = 0; i < plan_.evaluated_groups * verdict_store::group; ++i)
      if (verdict_store::is_drawn(i / verdict_store::group))
        drawn.push_back(i);
    const auto all = held_out_.read(drawn);
    const auto said =
      networks_->judge->judge(all.evidence.to(where_)).sigmoid().cpu();
    const auto [high, low] = halves(all.quality, said);
    // The first element of the evidence is the scorer's product.
    const auto score = all.evidence.select(1, 0);
    const auto [score_high, score_low] = halves(all.quality, score);
    return {{"correlation", correlation(said, all.quality)},
            {"drawn_high", high},
            {"drawn_low", low},
            {"score_high", score_high},
            {"score_low", score_low}};
  }

private:
  uint64_t groups_at(uint64_t step) const {
    return std::min(plan_.first_groups + step / plan_.steps_a_group,
                    plan_.most_groups);
  }

  verdicts make_batch(uint64_t step) {
    const auto groups = groups_at(step);
    seen_.keep(groups);
    auto from = data_stream(config_.seed, data_use::verdicts, step);
    std::vector<uint64_t> numbers;
    for (uint32_t i = 0; i < plan_.batch; ++i)
      numbers.push_back(from.below(groups * verdict_store::group));
    return seen_.read(numbers);
  }

  training_config config_;
  torch::Device where_;
  discriminator_plan plan_;
  std::shared_ptr<const verdict_networks> networks_;
  verdict_store seen_;
  verdict_store held_out_;
  std::unique_ptr<batch_queue<verdicts>> batches_;
  verdicts batch_;
};

} // namespace

std::unique_ptr<training_task> make_discriminator_task(
  const training_config& config, torch::Device where) {
  return std::make_unique<discriminator_task>(config, where);
}

} // namespace atelier::gpu
