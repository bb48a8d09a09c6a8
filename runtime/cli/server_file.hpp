// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// Where a running server is, as it says itself in the data folder.
struct server_place {
  std::string url;
  pid_t pid = 0;
};

/// Returns server.json in the data folder.
std::filesystem::path server_file(const std::filesystem::path& data);

/// The right to write server.json of a data folder. One process has it at a
/// time, until it lets go or ends, however it ends.
/// Threads: one.
class server_claim {
public:
  server_claim() = default;
  ~server_claim();

  server_claim(const server_claim&) = delete;
  server_claim& operator=(const server_claim&) = delete;

  /// Takes it; the folder is made.
  /// Errors: ec::unavailable (another server has it, which the text names),
  ///         ec::io_failed.
  core::result<void> take(const std::filesystem::path& data);

private:
  int folder_ = -1;
};

/// Writes the file, whole, for its owner alone; the folder is made.
/// Errors: ec::io_failed.
core::result<void> write_server_file(const std::filesystem::path& file,
                                     const server_place& here);

/// Returns what stands there; none where there is no such file.
/// Errors: ec::io_failed, for one that is no such file.
core::result<std::optional<server_place>> read_server_file(
  const std::filesystem::path& file);

/// Removes the file where it is still that of `pid`.
void remove_server_file(const std::filesystem::path& file, pid_t pid);

/// Whether a process of that number is there and is this program.
bool is_atelier(pid_t pid);

} // namespace atelier::runtime::cli
