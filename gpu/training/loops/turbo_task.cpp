// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/training/family.hpp>
#include <atelier/gpu/training/loops/data_stream.hpp>
#include <atelier/gpu/training/loops/denoiser_data.hpp>
#include <atelier/gpu/training/loops/drawn_tensors.hpp>
#include <atelier/gpu/training/loops/mixed_precision.hpp>
#include <atelier/gpu/training/loops/shapes.hpp>
#include <atelier/gpu/training/loops/turbo_task.hpp>
#include <atelier/gpu/training/networks/text_encoder_net.hpp>
#include <atelier/gpu/training/networks/unet_net.hpp>
#include <atelier/gpu/training/vocabulary.hpp>

namespace atelier::gpu {

namespace {

// Steps of the student, and of the teacher for each of them.
constexpr int64_t student_steps = 4;
constexpr int64_t teacher_steps = 4;

constexpr double guidance = 3;

constexpr int64_t train_timesteps = 1000;

class turbo_task : public training_task {
public:
  turbo_task(const training_config& config, torch::Device where)
    : config_(config),
      data_(config, where),
      where_(where),
      text_(
        std::make_shared<text_encoder_net>(text_encoder_shape(config.scale))),
      teacher_(std::make_shared<unet_net>(
        denoiser_shape(training_part::base, config.scale))),
      student_(std::make_shared<unet_net>(
        denoiser_shape(training_part::base, config.scale))),
      shares_(family_signal_shares().to(torch::kFloat32).to(where)) {
    const auto base = trained_weights(config, training_part::base);
    read_network(*text_, base, "text_encoder.");
    read_network(*teacher_, base, "unet.");
    read_network(*student_, base, "unet.");
    for (const auto& x :
         {std::static_pointer_cast<torch::nn::Module>(text_),
          std::static_pointer_cast<torch::nn::Module>(teacher_),
          std::static_pointer_cast<torch::nn::Module>(student_)})
      x->to(where);
    for (auto& x : text_->parameters())
      x.set_requires_grad(false);
    const auto nothing = encode_caption("", family_tokens).ids;
    unsaid_ =
      torch::tensor(std::vector<int64_t>{nothing.begin(), nothing.end()},
                    torch::kInt64)
        .view({1, -1})
        .to(where);
  }

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
    std::vector<std::pair<std::string, torch::Tensor>> out;
    for (const auto& x : text_->named_parameters())
      out.emplace_back("text_encoder." + x.key(), x.value());
    return out;
  }

  void begin(uint64_t first) override {
    data_.begin(first);
  }

  uint64_t draw(const step_place& at) override {
    batch_ = data_.draw(at);
    // The student's steps, one after the other: as many samples of each.
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
    const auto states = text_->forward(part_of(batch_.ids, part, parts)).states;
    const auto target = teach(x, begin, states);
    const auto v = student_->forward(x, begin, states).to(torch::kFloat32);
    return {(v - target).square().mean(), {}};
  }

  std::map<std::string, double> evaluate(
    const step_place& at, const std::filesystem::path& folder) override {
    measured_denoiser what;
    data_.add_to(what);
    what.context = [&](const torch::Tensor& ids) {
      return text_->forward(ids).states;
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
  // [n, 1, 1, 1]; behind the last timestep nothing but signal is left.
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

  // The v with which one step of DDIM from `begin` goes where the teacher goes
  // in several guided ones.
  torch::Tensor teach(const torch::Tensor& from, const torch::Tensor& begin,
                      const torch::Tensor& states) const {
    const torch::NoGradGuard guard;
    const auto n = from.size(0);
    const auto step = train_timesteps / (student_steps * teacher_steps);
    const auto context =
      torch::cat({text_->forward(unsaid_).states.expand_as(states), states});
    auto x = from;
    auto at = begin;
    for (int64_t i = 0; i < teacher_steps; ++i) {
      const auto both =
        teacher_->forward(torch::cat({x, x}), torch::cat({at, at}), context)
          .to(torch::kFloat32)
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

  training_config config_;
  denoiser_data data_;
  torch::Device where_;
  std::shared_ptr<text_encoder_net> text_;
  std::shared_ptr<unet_net> teacher_;
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
