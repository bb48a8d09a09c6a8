// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// The address of a running server, as it writes it in the data folder.
struct server_place {
  std::string url;
  pid_t pid = 0;
  /// When the process began, as `start_of` returns it; 0: unknown.
  uint64_t started = 0;
};

/// Returns the path of server.json in the data folder.
std::filesystem::path server_file(const std::filesystem::path& data);

/// The right to write server.json of a data folder. One process holds it at a
/// time, until it releases it or ends, however it ends.
/// Threads: one.
class server_claim {
public:
  server_claim() = default;
  ~server_claim();

  server_claim(const server_claim&) = delete;
  server_claim& operator=(const server_claim&) = delete;

  /// Takes the right and creates the folder.
  /// Errors: ec::unavailable (another server holds it, which the text names),
  ///         ec::io_failed.
  core::result<void> take(const std::filesystem::path& data);

private:
  int folder_ = -1;
};

/// Writes the whole file so that only its owner can read it, with the time at
/// which the process began, and creates the folder.
/// Errors: ec::io_failed.
core::result<void> write_server_file(const std::filesystem::path& file,
                                     const server_place& here);

/// Returns the contents of the file; absent if the file does not exist.
/// Errors: ec::io_failed, for a file that does not name a server.
core::result<std::optional<server_place>> read_server_file(
  const std::filesystem::path& file);

/// Removes the file if it is still that of `pid`.
void remove_server_file(const std::filesystem::path& file, pid_t pid);

/// Returns whether a process with that number exists and runs this program.
bool is_atelier(pid_t pid);

/// Returns when a process began. Units: the kernel's clock ticks since the
/// machine started; 0 if there is no such process.
uint64_t start_of(pid_t pid);

/// Returns whether the process of that number is the one that wrote the place:
/// after its end, the number may be that of another process, and the port that
/// of another user's server.
bool is_its_process(const server_place& x);

} // namespace atelier::runtime::cli
