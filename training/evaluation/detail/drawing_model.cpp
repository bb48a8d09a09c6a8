// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox_noise.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/evaluation/detail/drawing_model.hpp>
#include <atelier/training/family.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>

#include <chrono>

namespace atelier::gpu::detail {

namespace {

using clock = std::chrono::steady_clock;

double ms_since(clock::time_point then) {
  return std::chrono::duration<double, std::milli>(clock::now() - then).count();
}

} // namespace

core::result<drawing_model> drawing_model::load(
  const std::filesystem::path& folder, torch::Device where) {
  const auto files = open_model(folder, {});
  if (!files)
    return files.why();
  placement at;
  at.device = where;
  auto model = unet_model::load(*files, at);
  if (!model)
    return model.why();
  if ((*model)->takes_more_than_text())
    return core::fail(
      core::ec::invalid_argument,
      "{}: its denoiser takes more than a text, so that it does "
      "not belong to the family",
      folder.string());
  return drawing_model{std::move(*model), where};
}

core::result<sampler_plan> drawing_model::plan(uint32_t steps,
                                               core::sampler with) const {
  return plan_sampler(model_->schedule(), {.sampler = with, .steps = steps});
}

std::vector<int64_t> drawing_model::latent_shape() const {
  const auto side = family_side / static_cast<int64_t>(model_->vae().factor());
  return {1, model_->vae().config().latent_channels, side, side};
}

torch::Tensor drawing_model::draw(const drawn_batch& what, const drawn_how& how,
                                  image_times& took) const {
  const c10::InferenceMode guard;
  auto begun = clock::now();
  auto planned = plan(how.steps, how.sampler);
  if (!planned)
    throw model_error{planned.why()};
  std::vector<torch::Tensor> contexts;
  for (const auto& x : what.prompts) {
    const auto said = model_->encode({x});
    contexts.push_back(said.tensors.front());
  }
  const auto unsaid = model_->encode({"", true});
  sampler_run run;
  run.plan = std::move(*planned);
  run.context = torch::cat(contexts);
  run.unsaid = unsaid.tensors.front();
  run.guidance = how.guidance;
  run.first = how.first;
  run.told = how.told;
  run.noise = [&](size_t step) {
    std::vector<torch::Tensor> rows;
    for (const auto number : what.numbers) {
      auto from = data_stream(number, data_use::noise, step);
      rows.push_back(draw_noise(latent_shape(), from));
    }
    return torch::cat(rows).to(where_);
  };
  took.text += ms_since(begun);
  begun = clock::now();
  const auto scale = how.first == 0 ? run.plan.start_noise : 1.f;
  const auto out = run_sampler(
    [&](const torch::Tensor& x, const torch::Tensor& t,
        const torch::Tensor& context) {
      unet_input in;
      in.sample = x;
      in.timestep = t;
      in.context = context;
      return model_->net().forward(in);
    },
    what.noise.to(where_) * scale, run);
  // A device only queues the steps; copying the result waits for them.
  auto done = out.cpu().to(where_);
  took.denoise += ms_since(begun);
  return done;
}

torch::Tensor drawing_model::decode(const torch::Tensor& latents,
                                    image_times& took) const {
  const auto begun = clock::now();
  const c10::InferenceMode guard;
  auto out = model_->vae().decode(latents).to(torch::kFloat32).cpu();
  took.decode += ms_since(begun);
  return out;
}

} // namespace atelier::gpu::detail
