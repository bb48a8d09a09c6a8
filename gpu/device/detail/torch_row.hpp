// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources of gpu that torch.cmake lists, and no others.

#include <atelier/core/result.hpp>
#include <atelier/gpu/device/detail/prompt_cache.hpp>
#include <atelier/gpu/device/detail/row_noise.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/gpu/models/judge/picture_judge.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/samplers/schedule.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace atelier::gpu::detail {

/// A picture in its slot.
struct decoded_row {
  uint64_t bytes = 0;
  /// What a judge says of it, planning::unjudged where it failed; 0 without
  /// one.
  double score = 0;
};

/// One open row of a device that runs LibTorch. Tensors lie on the model's
/// device; latents are float32, [channels, height, width].
/// Invariant: a sound row has a plan, a latent and a positive condition.
class torch_row {
public:
  /// Reads and encodes everything; `failure` tells whether that went well.
  /// `number`: no other row of the device has it; above 0.
  torch_row(const open_job& job, std::shared_ptr<const gpu::model> model,
            ipc::slot_store& slots, prompt_cache& prompts, uint64_t number);

  const core::recipe& how() const {
    return job_.how;
  }

  const gpu::model& model() const {
    return *model_;
  }

  const std::shared_ptr<const gpu::model>& held_model() const {
    return model_;
  }

  uint64_t number() const {
    return number_;
  }

  const core::error& failure() const {
    return failure_;
  }

  void fail(core::error why) {
    failure_ = std::move(why);
  }

  uint32_t steps_left() const;

  /// The rule of the step that comes next. @pre steps_left() > 0
  const step_rule& rule() const;

  /// Whether the row computes an unguided prediction as well.
  bool guided() const {
    return !negative_.tensors.empty();
  }

  const condition& positive() const {
    return positive_;
  }

  /// @pre guided()
  const condition& negative() const {
    return negative_;
  }

  const torch::Tensor& latent() const {
    return x_;
  }

  /// The x0 of the step before; undefined where no step reads it.
  const torch::Tensor& last() const {
    return last_;
  }

  /// Draws the fresh noise that the next step mixes in.
  torch::Tensor draw();

  /// Takes what a step made, keeps unmasked places, publishes if due, and
  /// writes the captures that are due.
  void accept(const torch::Tensor& next, const torch::Tensor& x0);

  /// Who is to score the picture; empty: nobody.
  const std::string& judge() const {
    return job_.judge;
  }

  /// Does the next part of the picture; the last one writes it into the image
  /// slot and has it scored. `judge` may be null. Returns none before the last.
  std::optional<core::result<decoded_row>> decode_part(
    const picture_judge* judge);

  /// What the client should know is told in the first report alone, and each
  /// capture in one report.
  row_report report();

private:
  void read(prompt_cache& prompts);
  void make_notes();
  void read_source();
  void start();
  void publish(const torch::Tensor& x0);
  /// Keeps the state in a capture slot. What goes wrong is logged.
  void capture(const ipc::slot_ref& into);
  core::latent_shape shape() const;
  /// Returns the bytes of the state as it is now, without a preview.
  size_t state_size() const;
  void write_state(std::span<std::byte> into,
                   const state_preview& preview = {}) const;
  bool due(uint32_t step) const;
  /// What an edit's image keeps in its own size; empty where there is nothing.
  kept_parts kept_source() const;
  decoded_row write(torch::Tensor pixels, const picture_judge* judge);
  /// Returns what a judge says of the picture, or planning::unjudged.
  double scored_by(const picture_judge& judge,
                   const torch::Tensor& pixels) const;

  open_job job_;
  std::shared_ptr<const gpu::model> model_;
  ipc::slot_store& slots_;
  uint64_t number_;
  sampler_plan plan_;
  condition positive_;
  condition negative_;
  std::optional<row_noise> noise_;
  /// What a step's fresh noise crosses to the device from.
  torch::Tensor drawn_;
  torch::Tensor x_;
  torch::Tensor last_;
  /// The clean latent of the source picture, and the request's initial noise;
  /// defined where there is a source.
  torch::Tensor clean_;
  torch::Tensor first_noise_;
  /// [1, height, width] in 0..1, latent and picture; defined where there is a
  /// mask. 1 is repainted.
  torch::Tensor mask_;
  torch::Tensor picture_mask_;
  /// The source's pixels, [3, height, width], 0..255; as the masks.
  torch::Tensor source_;
  uint32_t steps_done_ = 0;
  bool published_ = false;
  /// Steps of the captures that no report has told.
  std::vector<uint32_t> captured_;
  /// What the decoding has come to, and its parts that are done.
  torch::Tensor drawing_;
  size_t parts_done_ = 0;
  std::vector<core::note> notes_;
  core::error failure_;
};

} // namespace atelier::gpu::detail
