// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace atelier::core {

/// A file that is open for reading while this lives. To open a pipe does not
/// wait for its writer.
/// Threads: one at a time.
class opened_file {
public:
  explicit opened_file(const std::string& path);

  ~opened_file();

  opened_file(const opened_file&) = delete;
  opened_file& operator=(const opened_file&) = delete;

  /// The descriptor. Negative: the file could not be opened, and errno says
  /// why.
  const int number;
};

/// What was read of a file.
struct file_bytes {
  std::string text;
  /// The file has more than the limit; `text` is a part of it, or empty.
  bool longer = false;
  /// The errno of a read that failed, or 0.
  int fault = 0;
};

/// Reads an open file to its end, and keeps at most `most_bytes` and one part
/// of it in memory.
/// Threads: one at a time for each file; blocks.
file_bytes read_bytes(const opened_file& from, size_t most_bytes);

/// Checks, without reading, that a file can be read to its end. It must be a
/// regular file that the kernel does not generate while it is read (/proc,
/// /sys, a trace). Pipes, devices and sockets are refused without waiting.
/// @param shown how the file is named in errors
/// Errors: ec::io_failed, "cannot read SHOWN: REASON".
/// Threads: any.
result<void> check_input_file(const std::string& path, std::string_view shown);

} // namespace atelier::core
