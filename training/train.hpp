// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::gpu {

/// Names the networks that can be trained, in the order in which they need
/// each other.
enum class training_part : uint8_t {
  /// The autoencoder.
  vae,
  /// The text encoder, alone.
  text,
  /// The denoisers, each with a text encoder.
  base,
  small,
  tiny,
  /// A denoiser for four steps, trained from base.
  turbo,
  /// A judge that scores images by their captions.
  scorer,
  /// Distinguishes images of a light variant from good ones.
  discriminator,
  /// Predicts from a prompt how good each variant's image will be.
  classifier,
  /// A small autoencoder for the previews that clients see during drawing.
  preview,
};
inline constexpr size_t training_part_count = 10;

std::string_view to_string(training_part x);

/// Selects between a network for use and one of the same kind that is so small
/// that tests take seconds.
enum class training_scale : uint8_t { full, miniature };

struct training_config {
  training_part part = training_part::vae;
  /// Contains one folder for each part, named after the part.
  std::filesystem::path folder;
  /// Time budget for steps, summed over all runs of the part: above 0.
  double minutes = 30;
  /// Number of steps after which the training ends, in place of `minutes`.
  /// Equal seeds then give equal weights.
  std::optional<uint64_t> steps;
  /// Continues from the last checkpoint, or begins if no checkpoint exists.
  bool resume = false;
  /// Begins anew although checkpoints exist; they are lost.
  bool restart = false;
  uint64_t seed = 1;
  /// "cpu", "cuda" or "cuda:N".
  std::string device = "cpu";
  /// Threads of one operator on the CPU; 0 selects LibTorch's default.
  uint32_t threads = 0;
  /// Threads that prepare data in advance.
  uint32_t data_threads = 1;
  /// Seconds between two reports.
  double report_seconds = 1;
  /// Minutes between two checkpoints.
  double checkpoint_minutes = 5;
  /// Minutes between two measurements on held-out scenes.
  double evaluate_minutes = 5;
  training_scale scale = training_scale::full;
};

/// The progress of a training.
struct training_progress {
  uint64_t step = 0;
  uint64_t samples = 0;
  /// Mean over the steps since the last report.
  double loss = 0;
  double samples_per_second = 0;
  /// Seconds spent in steps, summed over all runs.
  double busy_seconds = 0;
  /// Share of the budget that is spent, 0..1.
  double share = 0;
};

/// Is called every report_seconds, and when figures were measured (otherwise
/// the figures are empty). If it returns false, the training ends and leaves a
/// checkpoint.
using training_listener = std::function<bool(
  const training_progress&, const std::map<std::string, double>& figures)>;

struct training_outcome {
  training_progress last;
  /// True if the budget is spent and the weights are written.
  bool finished = false;
  /// Figures of the last measurement.
  std::map<std::string, double> figures;
  /// The weights if the training is finished, otherwise the checkpoint.
  std::filesystem::path file;
};

/// Trains one network. Leaves in its folder the last two checkpoints as
/// `checkpoint-STEP.safetensors`; `log.jsonl` with a line for each report;
/// sheets of samples; and, once the budget is spent, `weights.safetensors`,
/// averaged over the last steps. An interrupted or killed training continues
/// bit for bit as if it had not been interrupted, provided that the number of
/// threads stays the same and the budget is a number of steps.
/// Errors: ec::not_found (device, or a network that this one needs),
///         ec::invalid_argument (a folder with checkpoints and neither resume
///         nor restart), ec::bad_payload (checkpoint), ec::io_failed,
///         ec::internal (the loss is not a number).
/// Threads: runs in the calling thread and in the data threads; one training at
/// a time.
core::result<training_outcome> train(const training_config& config,
                                     const training_listener& told);

} // namespace atelier::gpu
