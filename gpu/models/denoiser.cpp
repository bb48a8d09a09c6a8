// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/denoiser.hpp>

#include <c10/core/InferenceMode.h>

namespace atelier::gpu {

uint64_t count_weights(const tensor_source& from, torch::Dtype as,
                       std::vector<block_info>& blocks) {
  uint64_t all = 0;
  for (const auto& name : from.names()) {
    const auto found = from.find(name);
    const auto bytes =
      found->bytes.size() / bytes_of(found->type) * c10::elementSize(as);
    all += bytes;
    for (auto& x : blocks)
      if (name.starts_with(x.name + '.'))
        x.weight_bytes += bytes;
  }
  return all;
}

torch::Tensor predict(const denoiser& net, const pass_inputs& x) {
  const c10::InferenceMode guard;
  activations state;
  const auto of = net.begin(x, state);
  const auto blocks = net.blocks().size();
  for (size_t i = 0; i < blocks; ++i)
    net.run(i, of, state);
  return net.end(of, state);
}

} // namespace atelier::gpu
