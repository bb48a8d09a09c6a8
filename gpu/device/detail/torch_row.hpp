// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/philox_noise.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/torch_generator.hpp>
#include <atelier/gpu/batching/tile_size.hpp>
#include <atelier/gpu/device/detail/free_memory.hpp>
#include <atelier/gpu/device/detail/prompt_cache.hpp>
#include <atelier/gpu/device/detail/source_cache.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/gpu/models/judge/image_judge.hpp>
#include <atelier/gpu/models/model.hpp>
#include <atelier/gpu/models/vae/decoding.hpp>
#include <atelier/gpu/samplers/schedule.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/ipc/slot_store.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace atelier::gpu::detail {

/// A request's own generator, of the requested kind, which can continue from
/// the position of an earlier attempt.
class row_noise {
public:
  row_noise(core::noise_source kind, uint64_t seed, uint64_t position = 0)
    : from_(make(kind, seed, position)) {}

  /// Fills `out` with the next standard normal values.
  void draw(std::span<float> out) {
    std::visit([&](auto& g) { g.fill(out); }, from_);
  }

  /// Returns the position from which another generator of this seed continues.
  uint64_t position() const {
    return std::visit([](const auto& g) { return g.position(); }, from_);
  }

private:
  using any = std::variant<core::torch_generator, core::philox_generator>;

  static any make(core::noise_source kind, uint64_t seed, uint64_t position) {
    if (kind == core::noise_source::torch_cpu)
      return core::torch_generator{seed, position};
    return core::philox_generator{seed, position};
  }

  any from_;
};

/// An image in its slot.
struct decoded_row {
  uint64_t bytes = 0;
  /// A judge's score of the image; planning::unjudged if it failed, 0 without a
  /// judge.
  double score = 0;
};

/// The memory of an image that is being decoded.
struct open_decoding {
  /// The bytes that it needs at its peak.
  uint64_t bytes = 0;
  /// The bytes that were free before it began; nothing if that is not known.
  std::optional<uint64_t> free_before;
};

/// One open row of a device that runs LibTorch. Tensors are on the model's
/// device; latents are float32, [channels, height, width].
/// Invariant: a sound row has a plan, a latent and a positive condition.
class torch_row {
public:
  /// Reads and encodes the inputs; `failure` returns the error, if any.
  /// @param free what the device has left for the row's source and its image;
  ///        nothing if that is not known
  /// @param number above 0, unique among the device's rows
  torch_row(const open_job& job, std::shared_ptr<const gpu::model> model,
            ipc::slot_store& slots, prompt_cache& prompts,
            source_cache& sources, const memory_probe& memory,
            std::optional<uint64_t> free, uint64_t number);

  const core::recipe& how() const {
    return job_.recipe;
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

  /// Returns the rule of the next step. @pre steps_left() > 0
  const step_rule& rule() const;

  /// Returns whether the row also computes an unguided prediction.
  bool guided() const {
    return !negative_.tensors.empty();
  }

  /// Returns whether its two predictions need a pass each, as their texts have
  /// different numbers of tokens. Without padding, as in the web UI, neither
  /// text attends to tokens that it does not have.
  /// Source: modules/sd_samplers_cfg_denoiser.py of the web UI 1.10, where
  ///         pad_cond_uncond is off by default.
  bool predicts_apart() const {
    return guided() && negative_.tokens != positive_.tokens;
  }

  /// Returns its places in a pass.
  int64_t places() const {
    return guided() ? 2 : 1;
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

  /// Returns the x0 of the previous step; undefined if no step reads it.
  const torch::Tensor& last() const {
    return last_;
  }

  /// Returns the noise that the next step mixes in. A step that is tried again
  /// receives the same.
  torch::Tensor draw();

  /// Accepts the results of a step, restores unmasked places, and publishes and
  /// captures the state if due.
  void accept(const torch::Tensor& next, const torch::Tensor& x0);

  /// Returns the judge that scores the image; empty: no judge.
  const std::string& judge() const {
    return job_.judge;
  }

  /// Returns what decoding the image needs.
  decode_need need() const;

  /// Returns what its decoding takes; null if none is in progress.
  const open_decoding* decoding_memory() const {
    return taking_ ? &*taking_ : nullptr;
  }

  /// Decodes the next part of the image, in tiles if the memory does not hold
  /// it whole. A deterministic row's image is decoded whole or not at all:
  /// another cut would change its bits. The last part writes it into the image
  /// slot and has it scored. `judge` may be null. Returns nothing before the
  /// last part.
  std::optional<core::result<decoded_row>> decode_part(
    const image_judge* judge);

  /// Returns the row's progress. The notes for the client are in the first
  /// report only, and each capture is reported once.
  row_report report();

private:
  void read(prompt_cache& prompts, source_cache& sources,
            std::optional<uint64_t> free);
  void make_notes();
  void encode_texts(prompt_cache& prompts);
  void read_source(source_cache& sources);
  void start();
  /// Throws model_error.
  [[noreturn]] void refuse(const char* what, uint64_t bytes,
                           uint64_t free) const;
  /// Returns the side of the image's tiles. Throws model_error if not even the
  /// smallest fit, or the whole image if that is all that is allowed.
  uint64_t expect_decoding(uint64_t free) const;
  /// Throws model_error if the memory does not hold the source's encoding or
  /// the image's decoding.
  void expect_memory(uint64_t free) const;
  void begin_decoding();
  /// Notes that the decoding is to begin anew in smaller tiles; returns false
  /// if it cannot.
  bool shrink_tiles();
  void end_decoding();
  void publish(const torch::Tensor& x0);
  /// Writes the state into a capture slot. Errors are logged.
  void capture(const ipc::slot_ref& into);
  core::latent_shape shape() const;
  /// Returns the size of the current state in bytes, without a preview.
  size_t state_size() const;
  void write_state(std::span<std::byte> into,
                   const state_preview& preview = {}) const;
  bool due(uint32_t step) const;
  /// Returns the parts that an edit keeps in its image's own size; they may be
  /// empty.
  kept_parts kept_source() const;
  decoded_row write(torch::Tensor pixels, const image_judge* judge);
  /// Returns the judge's score of the image, or planning::unjudged.
  double scored_by(const image_judge& judge, const torch::Tensor& pixels) const;

  open_job job_;
  std::shared_ptr<const gpu::model> model_;
  ipc::slot_store& slots_;
  uint64_t number_;
  sampler_plan plan_;
  condition positive_;
  condition negative_;
  std::optional<row_noise> noise_;
  /// The host copy of a step's noise, from which it is sent to the device.
  torch::Tensor drawn_;
  /// The step that `drawn_` is for.
  std::optional<uint32_t> drawn_for_;
  torch::Tensor x_;
  torch::Tensor last_;
  /// The clean latent of the source image, and the request's initial noise;
  /// defined if the row has a source.
  torch::Tensor clean_;
  torch::Tensor first_noise_;
  /// Masks of latent and image, [1, height, width] in 0..1; defined if the row
  /// has a mask. Places with 1 are repainted.
  torch::Tensor mask_;
  torch::Tensor image_mask_;
  /// The source's pixels, [3, height, width], 0..255; defined if the row has a
  /// source.
  torch::Tensor source_;
  uint32_t steps_done_ = 0;
  bool published_ = false;
  /// Steps of the captures that have not been reported yet.
  std::vector<uint32_t> captured_;
  /// The time of encoding its source, until it is reported.
  core::timespan encoding_{0};
  const memory_probe& memory_;
  /// The decoding in progress; nothing before it begins, also anew.
  std::optional<decoding> drawing_;
  /// The side of its tiles; 0: whole.
  uint64_t tile_ = 0;
  /// Defined while a decoding is in progress.
  std::optional<open_decoding> taking_;
  std::vector<core::note> notes_;
  core::error failure_;
};

} // namespace atelier::gpu::detail
