// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/loops/autoencoder_task.hpp>
#include <atelier/training/loops/classifier_task.hpp>
#include <atelier/training/loops/denoiser_task.hpp>
#include <atelier/training/loops/discriminator_task.hpp>
#include <atelier/training/loops/preview_task.hpp>
#include <atelier/training/loops/scorer_task.hpp>
#include <atelier/training/loops/student_task.hpp>
#include <atelier/training/loops/text_task.hpp>
#include <atelier/training/loops/training_loop.hpp>
#include <atelier/training/loops/turbo_task.hpp>

#include <torch/torch.h>

#include <algorithm>
#include <thread>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

std::unique_ptr<training_task> make_task(const training_config& config,
                                         torch::Device where) {
  switch (config.part) {
    case training_part::vae:
      return make_autoencoder_task(config, where);
    case training_part::text:
      return make_text_task(config, where);
    case training_part::base:
      return make_denoiser_task(config, where);
    case training_part::small:
    case training_part::tiny:
      return make_student_task(config, where);
    case training_part::turbo:
      return make_turbo_task(config, where);
    case training_part::scorer:
      return make_scorer_task(config, where);
    case training_part::discriminator:
      return make_discriminator_task(config, where);
    case training_part::classifier:
      return make_classifier_task(config, where);
    case training_part::preview:
      return make_preview_task(config, where);
  }
  throw model_error{fail(ec::internal, "nothing is known of part {}",
                         static_cast<int>(config.part))};
}

} // namespace

core::result<training_outcome> train(const training_config& config,
                                     const training_listener& told) {
  const auto where = device_named(config.device);
  if (!where)
    return where.why();
  // Each thread computes one part of a batch, so that threads wait for each
  // other once a step; threads that share operators wait thousands of times.
  const auto threads =
    !where->is_cpu() ? size_t{1}
    : config.threads > 0
      ? size_t{config.threads}
      : std::max(size_t{std::thread::hardware_concurrency()}, size_t{1});
  if (where->is_cpu())
    at::set_num_threads(1);
  const auto task = with_model_border(
    to_string(config.part), [&] { return make_task(config, *where); });
  if (!task)
    return task.why();
  return run_training(**task, config,
                      config.folder / std::string{to_string(config.part)}, told,
                      threads);
}

} // namespace atelier::gpu
