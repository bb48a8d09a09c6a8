// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace atelier::runtime::cli {

/// The address of a running server, as it writes it in the data folder.
struct server_place {
  std::string url;
  pid_t pid = 0;
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

/// Writes the whole file so that only its owner can read it, and creates the
/// folder.
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

} // namespace atelier::runtime::cli
