// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// The resources of this machine that the program may use. A value is absent if
/// it could not be determined.
struct system_facts {
  std::string cpu;
  /// Cores that this process may run on.
  uint32_t cores = 0;
  /// As core::available_instruction_sets.
  std::vector<core::instruction_set> instruction_sets = {
    core::instruction_set::portable};
  /// CPU time that the control group grants, in cores.
  std::optional<double> core_quota;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> memory_available_bytes;
  /// Memory limit of the control group.
  std::optional<uint64_t> memory_limit_bytes;
  /// What the engine's processes may still share (ipc::free_memory).
  std::optional<uint64_t> memory_free_bytes;
  /// The soft limits of the process; absent if unlimited.
  std::optional<uint64_t> open_files;
  std::optional<uint64_t> locked_bytes;
  std::optional<uint64_t> file_bytes;
  /// Names of the NVIDIA devices.
  std::vector<std::string> gpus;
  std::filesystem::path data;
  bool data_exists = false;
  bool data_writable = false;
  std::optional<uint64_t> data_free_bytes;
};

/// Examines this machine and the data folder. Creates nothing.
system_facts look_around(const std::filesystem::path& data);

} // namespace atelier::runtime::cli
