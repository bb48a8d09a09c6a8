// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>
#include <atelier/planning/stage.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

// The extensions of the tests' host. Both its engine and its worker program
// (host_worker.cpp) have them.

namespace atelier::test {

/// The seeds for which the host's stage "safety" refuses or throws. The stage
/// checks each image before it is encoded.
namespace safety {
inline constexpr uint64_t refuses = 5;
inline constexpr uint64_t throws_in_run = 6;
inline constexpr uint64_t throws_in_begin = 7;
inline constexpr uint64_t throws_in_end = 8;
/// This function only predicts.
inline constexpr uint64_t throws_in_takes = 9;
/// Its order, or its outcome, has 2 MiB: more than the ring of a process takes.
inline constexpr uint64_t orders_too_much = 13;
inline constexpr uint64_t tells_too_much = 14;
} // namespace safety

host_stage safety_check();

/// A stage that replaces each image by its negative.
host_stage negative();

/// A stage that makes each image twice as wide and high: each pixel becomes
/// four. On a device it notes where it ran.
host_stage doubling(planning::place where = planning::place::cpu_pool);

/// While it exists, worker programs have the stage "doubling" in place of
/// "safety".
class doubling_workers {
public:
  explicit doubling_workers(planning::place where = planning::place::cpu_pool);
  ~doubling_workers();
  doubling_workers(const doubling_workers&) = delete;
  doubling_workers& operator=(const doubling_workers&) = delete;
};

/// A background stage after the answer, which counts its runs.
host_stage ledger(std::atomic<uint32_t>& counted);

/// The seeds for which the host's executor "painter" misbehaves. It paints
/// every image in one colour.
namespace painter {
inline constexpr std::string_view name = "painter";
inline constexpr uint8_t colour = 77;
inline constexpr uint64_t throws_in_open = 21;
inline constexpr uint64_t throws_in_run = 22;
inline constexpr uint64_t throws_in_decode = 23;
/// It never reports the row.
inline constexpr uint64_t forgets = 24;
} // namespace painter

host_executor painting();

/// An executor "broken" whose factory throws.
host_executor broken();

/// The extensions of the worker program.
extensions worker_code();

} // namespace atelier::test
