// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/loops/checkpoint.hpp>
#include <atelier/training/loops/lanes.hpp>
#include <atelier/training/loops/optimiser.hpp>
#include <atelier/training/loops/training_log.hpp>
#include <atelier/training/loops/training_loop.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace atelier::gpu {

namespace {

using clock = std::chrono::steady_clock;
using core::ec;
using core::fail;

constexpr double log_seconds = 15;

double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

// Sums the values that steps return. The sums stay on the device until `take`,
// because reading a number from the device waits for its work.
class running_means {
public:
  void add(const told_value& x) {
    const auto sum = x.sum.to(torch::kFloat64);
    const auto count = x.count.to(torch::kFloat64);
    const auto [at, fresh] = sums_.try_emplace(x.name, sum, count);
    if (!fresh)
      at->second = {at->second.first + sum, at->second.second + count};
  }

  // Returns the means and starts anew. Leaves out values with a count of zero.
  std::map<std::string, double> take() {
    std::map<std::string, double> out;
    for (const auto& [name, x] : sums_)
      if (const auto count = x.second.item<double>(); count > 0)
        out[name] = x.first.item<double>() / count;
    sums_.clear();
    return out;
  }

private:
  std::map<std::string, std::pair<torch::Tensor, torch::Tensor>> sums_;
};

// Averages the reports between two lines of the log, weighted by their steps.
class log_means {
public:
  void add(const std::map<std::string, double>& means, uint64_t steps) {
    const auto weight = static_cast<double>(steps);
    for (const auto& [name, x] : means) {
      auto& [sum, count] = sums_[name];
      sum += x * weight;
      count += weight;
    }
  }

  std::map<std::string, double> take() {
    std::map<std::string, double> out;
    for (const auto& [name, x] : sums_)
      out[name] = x.first / x.second;
    sums_.clear();
    return out;
  }

private:
  std::map<std::string, std::pair<double, double>> sums_;
};

class training_run {
public:
  training_run(training_task& task, const training_config& config,
               const std::filesystem::path& folder,
               const training_listener& told, training_log& log, size_t threads)
    : task_(task),
      config_(config),
      folder_(folder),
      told_(told),
      log_(log),
      recipe_(task.recipe()),
      optimiser_(task.parameters(), recipe_),
      lanes_(threads) {
    for (const auto& x : optimiser_.parameters())
      values_.push_back(x.value);
  }

  core::result<training_outcome> run() {
    if (auto ok = continue_last(); !ok)
      return ok.why();
    task_.begin(facts_.steps);
    checkpoint_at_ = facts_.busy_seconds + config_.checkpoint_minutes * 60;
    evaluate_at_ = facts_.busy_seconds + config_.evaluate_minutes * 60;
    auto going = true;
    while (going && share() < 1) {
      const auto length = take_step();
      if (seconds_since(reported_) < config_.report_seconds && share() < 1)
        continue;
      if (auto ok = report(length); !ok)
        return ok.why();
      going = told_(progress_, {});
      if (auto ok = keep_up(going); !ok)
        return ok.why();
    }
    return end();
  }

private:
  double share() const {
    if (config_.steps)
      return *config_.steps == 0 ? 1
                                 : static_cast<double>(facts_.steps)
                                     / static_cast<double>(*config_.steps);
    return clock_.seconds() / (config_.minutes * 60);
  }

  step_place place() const {
    return {facts_.steps, std::min(share(), 1.0)};
  }

  core::result<void> continue_last() {
    facts_.part = to_string(config_.part);
    facts_.seed = config_.seed;
    const auto last = checkpoints_in(folder_);
    if (last.empty() || !config_.resume)
      return {};
    auto read = read_checkpoint(last.front(), optimiser_.state());
    if (!read)
      return read.why();
    if (read->part != facts_.part || read->seed != facts_.seed)
      return fail(ec::invalid_argument,
                  "{} is of {} with seed {}, not of {} with seed {}",
                  last.front().string(), read->part, read->seed, facts_.part,
                  facts_.seed);
    facts_ = *read;
    clock_ = busy_clock{facts_.busy_seconds};
    progress_.step = facts_.steps;
    progress_.samples = facts_.samples;
    progress_.busy_seconds = facts_.busy_seconds;
    progress_.share = std::min(share(), 1.0);
    return {};
  }

  // Loss and gradients of one part of the batch.
  struct part_result {
    step_loss loss;
    std::vector<torch::Tensor> gradients;
  };

  torch::Tensor take_step() {
    const auto begun = clock::now();
    const auto at = place();
    const auto samples = task_.draw(at);
    std::vector<part_result> parts(std::min(lanes_.count(), samples));
    lanes_.run([&](size_t i) {
      if (i >= parts.size())
        return;
      parts[i].loss = task_.loss(i, parts.size());
      parts[i].gradients = torch::autograd::grad({parts[i].loss.total}, values_,
                                                 {}, std::nullopt, false, true);
    });
    auto length = optimiser_.step(
      at.step, rate_at(recipe_.rate, at.step, at.share), sum_of(parts));
    for (const auto& x : parts) {
      means_.add(tell("loss", x.loss.total));
      for (const auto& told : x.loss.told)
        means_.add(told);
    }
    means_.add(tell("gradient", length));
    ++facts_.steps;
    ++steps_since_;
    facts_.samples += samples;
    samples_since_ += samples;
    const auto took = seconds_since(begun);
    seconds_since_ += took;
    clock_.add(took);
    facts_.busy_seconds = clock_.seconds();
    return length;
  }

  // Returns the mean of the parts' gradients, added in the order of the parts.
  std::vector<torch::Tensor> sum_of(std::vector<part_result>& parts) const {
    const torch::NoGradGuard guard;
    std::vector<torch::Tensor> out;
    for (size_t k = 0; k < values_.size(); ++k) {
      auto sum = torch::zeros_like(values_[k]);
      for (const auto& x : parts)
        if (x.gradients[k].defined())
          sum.add_(x.gradients[k], 1.0 / static_cast<double>(parts.size()));
      out.push_back(std::move(sum));
    }
    return out;
  }

  core::result<void> report(const torch::Tensor& length) {
    auto means = means_.take();
    if (!std::isfinite(means["loss"]) || !std::isfinite(length.item<double>()))
      return fail(ec::internal,
                  "the loss is not a number at step {}; the last checkpoint is "
                  "older",
                  facts_.steps);
    progress_ = {facts_.steps,
                 facts_.samples,
                 means["loss"],
                 static_cast<double>(samples_since_)
                   / std::max(seconds_since_, 1e-9),
                 facts_.busy_seconds,
                 std::min(share(), 1.0)};
    logged_means_.add(means, steps_since_);
    samples_since_ = 0;
    steps_since_ = 0;
    seconds_since_ = 0;
    reported_ = clock::now();
    if (seconds_since(logged_) >= log_seconds || share() >= 1)
      write_line();
    return {};
  }

  void write_line() {
    auto more = logged_means_.take();
    more["rate"] = rate_at(recipe_.rate, facts_.steps, progress_.share);
    auto line = progress_;
    line.loss = more["loss"];
    log_.write(line, more);
    logged_ = clock::now();
  }

  core::result<void> keep_up(bool& going) {
    if (!going || facts_.busy_seconds >= checkpoint_at_ || share() >= 1) {
      checkpoint_at_ = facts_.busy_seconds + config_.checkpoint_minutes * 60;
      if (auto file = write_checkpoint(folder_, optimiser_.state(), facts_);
          !file)
        return file.why();
      else
        checkpoint_ = *file;
    }
    if (going && share() < 1 && facts_.busy_seconds >= evaluate_at_) {
      evaluate_at_ = facts_.busy_seconds + config_.evaluate_minutes * 60;
      optimiser_.exchange_averages();
      going = measure();
      optimiser_.exchange_averages();
    }
    return {};
  }

  bool measure() {
    figures_ = task_.evaluate(place(), folder_);
    log_.write(progress_, figures_);
    return told_(progress_, figures_);
  }

  core::result<training_outcome> end() {
    training_outcome out{progress_, share() >= 1, figures_, checkpoint_};
    if (!out.finished)
      return out;
    optimiser_.exchange_averages();
    task_.finish();
    measure();
    out.figures = figures_;
    out.file = folder_ / "weights.safetensors";
    auto weights = task_.other_weights();
    for (const auto& x : optimiser_.parameters())
      if (!x.helper)
        weights.emplace_back(x.name, x.value);
    const auto written =
      write_tensors(out.file, weights,
                    {{"part", facts_.part},
                     {"seed", fmt::format("{}", facts_.seed)},
                     {"steps", fmt::format("{}", facts_.steps)},
                     {"samples", fmt::format("{}", facts_.samples)},
                     {"busy_seconds", fmt::format("{}", facts_.busy_seconds)}});
    if (!written)
      return written.why();
    return out;
  }

  training_task& task_;
  const training_config& config_;
  const std::filesystem::path& folder_;
  const training_listener& told_;
  training_log& log_;
  training_recipe recipe_;
  optimiser optimiser_;
  std::vector<torch::Tensor> values_;
  lanes lanes_;
  checkpoint_facts facts_;
  busy_clock clock_;
  running_means means_;
  log_means logged_means_;
  training_progress progress_;
  std::map<std::string, double> figures_;
  std::filesystem::path checkpoint_;
  clock::time_point reported_ = clock::now();
  clock::time_point logged_ = clock::now();
  uint64_t samples_since_ = 0;
  uint64_t steps_since_ = 0;
  double seconds_since_ = 0;
  double checkpoint_at_ = 0;
  double evaluate_at_ = 0;
};

} // namespace

core::result<training_outcome> run_training(training_task& task,
                                            const training_config& config,
                                            const std::filesystem::path& folder,
                                            const training_listener& told,
                                            size_t threads) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault)
    return fail(ec::io_failed, "cannot make the folder {}: {}", folder.string(),
                fault.message());
  const auto before = checkpoints_in(folder);
  if (!before.empty() && !config.resume && !config.restart)
    return fail(ec::invalid_argument,
                "{} exists already: continue it, or begin anew and lose it",
                before.front().string());
  if (config.restart)
    for (const auto& x : before)
      std::filesystem::remove(x, fault);
  auto log = training_log::open(folder / "log.jsonl");
  if (!log)
    return log.why();
  auto done = with_model_border(to_string(config.part), [&] {
    return training_run{task, config, folder, told, *log, threads}.run();
  });
  return done ? std::move(*done) : std::move(done).why();
}

} // namespace atelier::gpu
