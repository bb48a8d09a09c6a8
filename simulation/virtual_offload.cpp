// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/virtual_offload.hpp>

#include <utility>

namespace atelier::runtime {

virtual_offload::virtual_offload(std::shared_ptr<core::timers> timers)
  : timers_(std::move(timers)) {}

bool virtual_offload::run(core::timespan expected, std::function<void()> work) {
  if (refuses_)
    return false;
  timers_->after(expected + late_, std::move(work));
  return true;
}

void virtual_offload::refuse(bool all) {
  refuses_ = all;
}

void virtual_offload::delay(core::timespan by) {
  late_ = by;
}

} // namespace atelier::runtime
