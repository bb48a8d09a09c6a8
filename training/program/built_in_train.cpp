// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/built_in_train.hpp>

namespace atelier::runtime {

core::result<gpu::training_outcome> train(
  [[maybe_unused]] const gpu::training_config& config,
  [[maybe_unused]] const gpu::training_listener& told) {
#ifdef ATELIER_WITH_TORCH
  return gpu::train(config, told);
#else
  return core::fail(core::ec::not_found,
                    "training is not built in: configure with "
                    "ATELIER_WITH_TORCH=ON");
#endif
}

} // namespace atelier::runtime
