// SPDX-License-Identifier: Apache-2.0
// Runs a text encoder over prompts from a file, for clip_text.py.
#include "tensor_io.hpp"
#include <atelier/gpu/models/clip/clip_text.hpp>

using namespace atelier;

// usage: run_clip_text CLASS TYPE FOLDER INPUTS OUTPUTS
int main(int argc, char** argv) {
  if (argc != 6)
    return 2;
  const auto from = reference::open_network(argv[3], argv[1]);
  const auto network = reference::value_of(
    gpu::clip_text::load(from, {torch::kCPU, reference::type_of(argv[2])}));
  const auto in = reference::value_of(gpu::safetensors_file::open(argv[4]));
  const auto out = network->forward(reference::read_tensor(*in, "ids"));
  reference::write_tensors(argv[5], {{"last", out.last},
                                     {"penultimate", out.penultimate},
                                     {"pooled", out.pooled}});
}
