// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/loops/turbo_task.hpp>
#include <atelier/training/networks/unet_net.hpp>

namespace atelier::gpu {

namespace {

// Number of the student's steps, and number of the teacher's steps for each.
constexpr int64_t student_steps = 4;
constexpr int64_t teacher_steps = 2;

constexpr double guidance = 2;

constexpr int64_t train_timesteps = 1000;

class turbo_task : public training_task {
public:
  turbo_task(const training_config& config, torch::Device where)
    : data_(config, where),
      where_(where),
      teacher_(config, training_part::base, where),
      student_(teacher_.copy_denoiser()),
      shares_(family_signal_shares().to(torch::kFloat32).to(where)),
      unsaid_(caption_ids({""}).to(where)) {}

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 3e-4;
    out.rate.warm_up_steps = 100;
    out.rate.falls_from = 0.3;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : student_->named_parameters())
      out.push_back({"unet." + x.key(), x.value(), 1});
    return out;
  }

  std::vector<std::pair<std::string, torch::Tensor>> other_weights() override {
    return teacher_.text_weights();
  }

  void begin(uint64_t first) override {
    data_.begin(first);
  }

  uint64_t draw(const step_place& at) override {
    batch_ = data_.draw(at);
    // The samples take the student's steps in turn, so that each step has
    // equally many.
    const auto n = batch_.latents.size(0);
    const auto which =
      torch::arange(n, torch::kInt64).remainder(student_steps).to(where_);
    begins_ = train_timesteps - which * (train_timesteps / student_steps) - 1;
    return static_cast<uint64_t>(n);
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto begin = part_of(begins_, part, parts);
    const auto x0 = part_of(batch_.latents, part, parts);
    const auto eps = part_of(batch_.noise, part, parts);
    const auto x = x0 * signal_at(begin) + eps * blur_at(begin);
    const mixed_precision guard{where_};
    const auto states = teacher_.states(part_of(batch_.ids, part, parts));
    const auto target = teach(x, begin, states);
    const auto v = student_->forward(x, begin, states).to(torch::kFloat32);
    return {(v - target).square().mean(), {}};
  }

  std::map<std::string, double> evaluate(
    const step_place& at, const std::filesystem::path& folder) override {
    measured_denoiser what;
    data_.add_to(what);
    what.context = [&](const torch::Tensor& ids) {
      return teacher_.states(ids);
    };
    what.predict = [&](const torch::Tensor& x, const torch::Tensor& t,
                       const torch::Tensor& context) {
      return student_->forward(x, t, context);
    };
    auto how = data_.measurement(at, folder);
    how.steps = student_steps;
    how.guidance = 1;
    return measure_denoiser(what, how);
  }

private:
  // Returns the shares of signal [n, 1, 1, 1]. After the last timestep (t < 0),
  // only signal is left.
  torch::Tensor share_at(const torch::Tensor& t) const {
    return torch::where(t.lt(0), torch::ones({}, shares_.options()),
                        shares_.index_select(0, t.clamp_min(0)))
      .view({-1, 1, 1, 1});
  }

  torch::Tensor signal_at(const torch::Tensor& t) const {
    return share_at(t).sqrt();
  }

  torch::Tensor blur_at(const torch::Tensor& t) const {
    return (1 - share_at(t)).sqrt();
  }

  // Returns the v with which one DDIM step from `begin` ends where the guided
  // steps of the teacher end.
  torch::Tensor teach(const torch::Tensor& from, const torch::Tensor& begin,
                      const torch::Tensor& states) const {
    const torch::NoGradGuard guard;
    const auto n = from.size(0);
    const auto step = train_timesteps / (student_steps * teacher_steps);
    const auto context =
      torch::cat({teacher_.states(unsaid_).expand_as(states), states});
    auto x = from;
    auto at = begin;
    for (int64_t i = 0; i < teacher_steps; ++i) {
      const auto both =
        teacher_.predict(torch::cat({x, x}), torch::cat({at, at}), context)
          .split(n);
      const auto v = both[0] + guidance * (both[1] - both[0]);
      const auto next = (i + 1 == teacher_steps)
                        ? begin - train_timesteps / student_steps
                        : begin - (i + 1) * step;
      x = signal_at(next) * (signal_at(at) * x - blur_at(at) * v)
        + blur_at(next) * (signal_at(at) * v + blur_at(at) * x);
      at = next;
    }
    const auto of_x =
      signal_at(at) * signal_at(begin) + blur_at(at) * blur_at(begin);
    const auto of_v =
      blur_at(at) * signal_at(begin) - signal_at(at) * blur_at(begin);
    return (x - of_x * from) / of_v;
  }

  denoiser_data data_;
  torch::Device where_;
  trained_variant teacher_;
  std::shared_ptr<unet_net> student_;
  torch::Tensor shares_;
  torch::Tensor unsaid_;
  denoiser_tensors batch_;
  torch::Tensor begins_;
};

} // namespace

std::unique_ptr<training_task> make_turbo_task(const training_config& config,
                                               torch::Device where) {
  return std::make_unique<turbo_task>(config, where);
}

} // namespace atelier::gpu
