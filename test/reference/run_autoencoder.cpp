// SPDX-License-Identifier: Apache-2.0
// Runs an autoencoder in both directions over a file's tensors, for
// autoencoder.py.
#include "tensor_io.hpp"
#include <atelier/gpu/models/vae/autoencoder.hpp>

using namespace atelier;

// usage: run_autoencoder CLASS TYPE FOLDER INPUTS OUTPUTS
int main(int argc, char** argv) {
  if (argc != 6)
    return 2;
  const auto from = reference::open_network(argv[3], argv[1]);
  const auto network = reference::value_of(
    gpu::autoencoder::load(from, {torch::kCPU, reference::type_of(argv[2])}));
  const auto in = reference::value_of(gpu::safetensors_file::open(argv[4]));
  const auto encoded = network->encode(reference::read_tensor(*in, "pixels"));
  const auto latent = reference::read_tensor(*in, "latent");
  reference::write_tensors(
    argv[5], {{"mean", encoded.mean},
              {"log_variance", encoded.log_variance},
              {"scaled", network->to_latent(encoded.mean)},
              {"decoded", network->decode(latent)},
              {"first_row", network->decode(latent.narrow(0, 0, 1))},
              {"tiled", network->decode_tiled(
                          reference::read_tensor(*in, "large_latent"))}});
}
