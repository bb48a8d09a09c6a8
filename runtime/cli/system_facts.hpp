// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace atelier::runtime::cli {

/// What this machine has, as far as the program may use it. An absent value
/// could not be found out.
struct system_facts {
  std::string cpu;
  /// Cores that this process may run on.
  uint32_t cores = 0;
  /// Cores' worth of time that the control group grants.
  std::optional<double> core_quota;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> memory_available_bytes;
  /// Of the control group.
  std::optional<uint64_t> memory_limit_bytes;
  std::optional<uint64_t> shm_bytes;
  std::optional<uint64_t> shm_free_bytes;
  /// Absent: unlimited.
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

/// Looks at this machine and at the data folder. Makes nothing.
system_facts look_around(const std::filesystem::path& data);

} // namespace atelier::runtime::cli
