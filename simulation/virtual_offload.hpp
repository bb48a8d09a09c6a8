// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/offload.hpp>
#include <atelier/core/timers.hpp>

#include <cstdint>
#include <memory>

namespace atelier::runtime {

/// Work that takes only virtual time: it runs in one piece when its duration is
/// over.
/// Threads: those that call it and its timers must be one at a time.
class virtual_offload : public core::offload {
public:
  explicit virtual_offload(std::shared_ptr<core::timers> timers);

  bool run(core::timespan expected, std::function<void()> work) override;

  /// Refuses work from now on, as a full queue does, or accepts it again.
  void refuse(bool all);

  /// Takes this much longer than expected from now on.
  void delay(core::timespan by);

private:
  std::shared_ptr<core::timers> timers_;
  bool refuses_ = false;
  core::timespan late_{0};
};

} // namespace atelier::runtime
