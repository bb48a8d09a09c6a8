// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/built_in_evaluate.hpp>

namespace atelier::runtime {

core::result<gpu::evaluation> evaluate(
  [[maybe_unused]] const gpu::evaluation_plan& plan,
  [[maybe_unused]] const gpu::evaluation_listener& told) {
#ifdef ATELIER_WITH_TORCH
  return gpu::evaluate(plan, told);
#else
  return core::fail(core::ec::not_found,
                    "evaluation is not built in: configure with "
                    "ATELIER_WITH_TORCH=ON");
#endif
}

} // namespace atelier::runtime
