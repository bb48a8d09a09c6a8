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
  /// A denoiser for four steps, from base.
  turbo,
  /// What judges pictures by their captions.
  scorer,
  /// Tells pictures of a light variant from good ones.
  discriminator,
  /// Tells from a prompt how good each variant's picture will be.
  classifier,
  /// A small autoencoder for what clients see while a picture is drawn.
  preview,
};
inline constexpr size_t training_part_count = 10;

std::string_view to_string(training_part x);

/// Says whether a network is trained for use, or one of its kind so small that
/// tests take seconds.
enum class training_scale : uint8_t { full, miniature };

struct training_config {
  training_part part = training_part::vae;
  /// Holds a folder for each part, named as it is.
  std::filesystem::path folder;
  /// Time spent in steps, all runs of the part together: above 0.
  double minutes = 30;
  /// Ends after so many steps instead: then equal seeds give equal weights.
  std::optional<uint64_t> steps;
  /// Continues at the last checkpoint; without one, begins.
  bool resume = false;
  /// Begins where checkpoints are, which are lost.
  bool restart = false;
  uint64_t seed = 1;
  /// "cpu", "cuda" or "cuda:N".
  std::string device = "cpu";
  /// Threads of one operator on the CPU; 0: LibTorch's choice.
  uint32_t threads = 0;
  /// Threads that draw data ahead.
  uint32_t data_threads = 1;
  /// Between two reports.
  double report_seconds = 1;
  /// Between two checkpoints.
  double checkpoint_minutes = 5;
  /// Between two measurements on held-out scenes.
  double evaluate_minutes = 5;
  training_scale scale = training_scale::full;
};

/// How far a training is.
struct training_progress {
  uint64_t step = 0;
  uint64_t samples = 0;
  /// Mean of the steps since the last time.
  double loss = 0;
  double samples_per_second = 0;
  /// Spent in steps, in all runs.
  double busy_seconds = 0;
  /// Of the budget, 0..1.
  double share = 0;
};

/// Told every report_seconds, and when figures were measured (those are empty
/// otherwise); false ends the training, which leaves a checkpoint.
using training_listener = std::function<bool(
  const training_progress&, const std::map<std::string, double>& figures)>;

struct training_outcome {
  training_progress last;
  /// The budget is spent, and the weights are written.
  bool finished = false;
  /// Of the last measurement.
  std::map<std::string, double> figures;
  /// The weights where the training is finished, else the checkpoint.
  std::filesystem::path file;
};

/// Trains one network. Leaves in its folder: `checkpoint-STEP.safetensors`, the
/// last two; `log.jsonl`, a line for each report; sheets of samples; and when
/// the budget is spent `weights.safetensors`, averaged over the last steps.
/// A training that was ended or killed continues bit for bit as if it had not
/// been, as long as the number of threads stays the same and it counts steps.
/// Errors: ec::not_found (device, a network that this one needs),
///         ec::invalid_argument (a folder with checkpoints and neither resume
///         nor restart), ec::bad_payload (checkpoint), ec::io_failed,
///         ec::internal (the loss is not a number).
/// Threads: runs here and in the data threads; one training at a time.
core::result<training_outcome> train(const training_config& config,
                                     const training_listener& told);

} // namespace atelier::gpu
