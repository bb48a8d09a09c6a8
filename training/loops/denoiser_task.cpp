// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/text_encoder_net.hpp>
#include <atelier/training/loops/denoiser_data.hpp>
#include <atelier/training/loops/denoiser_task.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/loops/mixed_precision.hpp>
#include <atelier/training/loops/shapes.hpp>
#include <atelier/training/networks/unet_net.hpp>

#include <array>

namespace atelier::gpu {

namespace {

// Learning rate of the text encoder, relative to the denoiser's.
constexpr double text_rate = 0.1;

struct band {
  const char* name;
  int64_t low;
  int64_t high;
};

constexpr std::array<band, 4> bands{{{"loss_0_400", 0, 400},
                                     {"loss_400_700", 400, 700},
                                     {"loss_700_900", 700, 900},
                                     {"loss_900_1000", 900, 1000}}};

class denoiser_task : public training_task {
public:
  denoiser_task(const training_config& config, torch::Device where)
    : data_(config, where),
      where_(where),
      text_(std::make_shared<text_encoder_net>(
        text_encoder_shape(config.scale),
        at::detail::createCPUGenerator(config.seed))),
      unet_(std::make_shared<unet_net>(
        denoiser_shape(config.part, config.scale),
        at::detail::createCPUGenerator(config.seed))),
      shares_(family_signal_shares().to(torch::kFloat32).to(where)) {
    read_network(*text_, trained_weights(config, training_part::text));
    text_->to(where);
    unet_->to(where);
  }

  training_recipe recipe() const override {
    training_recipe out;
    out.rate.highest = 1e-3;
    out.rate.warm_up_steps = 200;
    // Averaging the weights has most of the effect of a falling rate.
    out.rate.falls_from = 0.6;
    out.rate.last_share = 0.05;
    out.weight_decay = 1e-2;
    return out;
  }

  std::vector<trained_parameter> parameters() override {
    std::vector<trained_parameter> out;
    for (const auto& x : unet_->named_parameters())
      out.push_back({"unet." + x.key(), x.value(), 1});
    for (const auto& x : text_->named_parameters())
      out.push_back({"text_encoder." + x.key(), x.value(), text_rate});
    return out;
  }

  void begin(uint64_t first) override {
    data_.begin(first);
  }

  uint64_t draw(const step_place& at) override {
    batch_ = data_.draw(at);
    return data_.plan().batch;
  }

  step_loss loss(size_t part, size_t parts) override {
    const auto x0 = part_of(batch_.latents, part, parts);
    const auto eps = part_of(batch_.noise, part, parts);
    const auto t = part_of(batch_.timesteps, part, parts);
    const auto share = shares_.index_select(0, t).view({-1, 1, 1, 1});
    const auto signal = share.sqrt();
    const auto blur = (1 - share).sqrt();
    const mixed_precision guard{where_};
    const auto states = text_->forward(part_of(batch_.ids, part, parts)).states;
    const auto v =
      unet_->forward(x0 * signal + eps * blur, t, states).to(torch::kFloat32);
    const auto each = (v - (eps * signal - x0 * blur)).square().mean({1, 2, 3});
    step_loss out{each.mean(), {}};
    for (const auto& [name, low, high] : bands) {
      const auto inside = t.ge(low).logical_and(t.lt(high)).to(torch::kFloat32);
      out.told.push_back({name, (each.detach() * inside).sum(), inside.sum()});
    }
    return out;
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
      return unet_->forward(x, t, context);
    };
    return measure_denoiser(what, data_.measurement(at, folder));
  }

private:
  denoiser_data data_;
  torch::Device where_;
  std::shared_ptr<text_encoder_net> text_;
  std::shared_ptr<unet_net> unet_;
  torch::Tensor shares_;
  denoiser_tensors batch_;
};

} // namespace

std::unique_ptr<training_task> make_denoiser_task(const training_config& config,
                                                  torch::Device where) {
  return std::make_unique<denoiser_task>(config, where);
}

} // namespace atelier::gpu
