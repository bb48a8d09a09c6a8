// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources that torch.cmake lists.

#include <atelier/training/evaluation/detail/drawing_model.hpp>
#include <atelier/training/evaluation/detail/scored_images.hpp>
#include <atelier/training/evaluation/evaluation.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace atelier::gpu::detail {

struct starts_found {
  std::vector<evaluated_start> starts;
  std::vector<start_trend> trends;
};

/// Returns how often measure_starts calls its listener.
size_t measured_starts_work(const evaluation_plan& plan);

/// Draws captions from the latents and from the noised images of other prompts,
/// which are more or less alike, and skips 10 to 50 per cent of the steps.
/// Calls the listener, the last parameter, before each batch.
/// Source: NIRVANA, section 4 (latents at K of 50 steps); MoDM, section 4
///         (images with the noise of step k).
/// Throws model_error and the listener's exceptions.
starts_found measure_starts(
  const evaluation_plan& plan, const drawing_model& model, float guidance,
  const std::shared_ptr<scorer_net>& scorer, torch::Device where,
  const std::function<void(const std::string&)>& told);

} // namespace atelier::gpu::detail
