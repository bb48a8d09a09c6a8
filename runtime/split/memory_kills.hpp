// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime {

/// Counts the processes that the kernel killed for memory in this process's
/// control group, which its children share; without such a group, on the whole
/// host.
/// Threads: one at a time.
class memory_kills {
public:
  /// @param root the root of the file system, for tests
  explicit memory_kills(std::string root = {});

  /// Returns whether the count has risen since the last call or the
  /// construction; false if the kernel counts nothing.
  bool more();

private:
  std::optional<uint64_t> count() const;

  /// Empty if nothing is counted.
  std::string file_;
  uint64_t seen_ = 0;
};

/// Returns the number of the line "oom_kill N" of a kernel's file.
std::optional<uint64_t> parse_memory_kills(std::string_view text);

} // namespace atelier::runtime
