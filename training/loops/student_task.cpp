// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/loops/student_task.hpp>
#include <atelier/training/loops/trained_variant.hpp>
#include <atelier/training/networks/unet_net.hpp>

namespace atelier::gpu {

namespace {

class student_task : public training_task {
public:
  student_task(const training_config& config, torch::Device where)
    : data_(config, where),
      where_(where),
      teacher_(config, training_part::base, where),
      student_(std::make_shared<unet_net>(
        denoiser_shape(config.part, config.scale),
        at::detail::createCPUGenerator(config.seed))),
      shares_(family_signal_shares().to(torch::kFloat32).to(where)) {
    student_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = 200;
    out.rate.falls_from = 0.6;
    out.rate.last_share = 0.05;
    out.weight_decay = 1e-2;
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
    return data_.plan().batch;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto t = part_of(batch_.timesteps, part, parts);
    const auto share = shares_.index_select(0, t).view({-1, 1, 1, 1});
    const auto x = part_of(batch_.latents, part, parts) * share.sqrt()
                 + part_of(batch_.noise, part, parts) * (1 - share).sqrt();
    const auto states = teacher_.states(part_of(batch_.ids, part, parts));
    const auto target = teacher_.predict(x, t, states);
    const mixed_precision guard{where_};
    const auto v = student_->forward(x, t, states).to(torch::kFloat32);
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
    return measure_denoiser(what, data_.measurement(at, folder));
  }

private:
  denoiser_data data_;
  torch::Device where_;
  trained_variant teacher_;
  std::shared_ptr<unet_net> student_;
  torch::Tensor shares_;
  denoiser_tensors batch_;
};

} // namespace

std::unique_ptr<training_task> make_student_task(const training_config& config,
                                                 torch::Device where) {
  return std::make_unique<student_task>(config, where);
}

} // namespace atelier::gpu
