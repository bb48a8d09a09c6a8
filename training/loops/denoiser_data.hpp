// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <atelier/training/loops/batch_queue.hpp>
#include <atelier/training/loops/denoiser_batch.hpp>
#include <atelier/training/loops/denoiser_figures.hpp>
#include <atelier/training/loops/latent_store.hpp>
#include <atelier/training/loops/training_task.hpp>
#include <atelier/training/networks/autoencoder_net.hpp>
#include <atelier/training/train.hpp>

#include <torch/torch.h>

#include <filesystem>
#include <memory>

namespace atelier::gpu {

/// Returns the path of a trained part's weights.
/// Throws model_error (ec::not_found) if the part is not trained.
std::filesystem::path trained_weights(const training_config& config,
                                      training_part part);

/// Sets a network's parameters to those of a file whose names begin with
/// `prefix`.
/// Throws model_error with the errors of read_tensors.
void read_network(torch::nn::Module& into, const std::filesystem::path& file,
                  const std::string& prefix = {});

/// A step's batch, on the device.
struct denoiser_tensors {
  /// [n, 4, 16, 16], without noise.
  torch::Tensor latents;
  /// Noise to add to the latents, in their shape.
  torch::Tensor noise;
  /// [n, family_tokens].
  torch::Tensor ids;
  /// [n], in 0..999.
  torch::Tensor timesteps;
};

/// Draws batches for denoisers. Encodes images of scenes with the trained
/// autoencoder on the data threads, and keeps their latents in a file that all
/// denoisers of a folder share.
/// Threads: one at a time.
class denoiser_data {
public:
  /// Throws model_error: ec::not_found (no autoencoder), ec::bad_payload,
  /// ec::io_failed.
  denoiser_data(const training_config& config, torch::Device where);

  /// Prepares for the steps from `first` on.
  void begin(uint64_t first);

  denoiser_tensors draw(const step_place& at);

  const denoiser_plan& plan() const {
    return plan_;
  }

  /// Sets the fields of `what` that use the autoencoder.
  void add_to(measured_denoiser& what);

  /// Returns the parameters for measuring a denoiser of this training.
  denoiser_measurement measurement(const step_place& at,
                                   const std::filesystem::path& folder) const;

private:
  latent_store open_store() const;
  void keep_latents(uint64_t group);

  training_config config_;
  torch::Device where_;
  denoiser_plan plan_;
  std::shared_ptr<autoencoder_net> autoencoder_;
  latent_store store_;
  std::unique_ptr<batch_queue<denoiser_batch>> batches_;
};

} // namespace atelier::gpu
