// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

// What a host of the tests adds: its engine has it, and its worker program
// (host_worker.cpp).

namespace atelier::test {

/// What the host's stage "safety", which looks at each image before it is
/// encoded, does with requests of some seeds.
namespace safety {
inline constexpr uint64_t refuses = 5;
inline constexpr uint64_t throws_in_run = 6;
inline constexpr uint64_t throws_in_begin = 7;
inline constexpr uint64_t throws_in_end = 8;
/// Which is a prediction alone.
inline constexpr uint64_t throws_in_takes = 9;
} // namespace safety

host_stage safety_check();

/// A stage in the background after the answer: counts where it runs.
host_stage ledger(std::atomic<uint32_t>& counted);

/// What the host's executor "painter", which paints every image in one colour,
/// does with requests of some seeds.
namespace painter {
inline constexpr std::string_view name = "painter";
inline constexpr uint8_t colour = 77;
inline constexpr uint64_t throws_in_open = 21;
inline constexpr uint64_t throws_in_run = 22;
inline constexpr uint64_t throws_in_decode = 23;
/// Where it says nothing of its row.
inline constexpr uint64_t forgets = 24;
} // namespace painter

host_executor painting();

/// An executor "broken" whose factory throws.
host_executor broken();

/// What the worker program has.
extensions worker_code();

} // namespace atelier::test
