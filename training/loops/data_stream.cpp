// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/loops/data_stream.hpp>

namespace atelier::gpu {

core::philox data_stream(uint64_t seed, data_use why, uint64_t number) {
  return core::philox{
    seed, core::purpose::training,
    core::request_id{(static_cast<uint64_t>(why) << 56) | number}};
}

} // namespace atelier::gpu
