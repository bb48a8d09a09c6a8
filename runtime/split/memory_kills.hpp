// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::runtime {

/// Counts the processes that the kernel killed for memory in this process's
/// control group, which its children share unless an operator moves them;
/// without such a group, on the whole host.
/// Threads: one at a time.
class memory_kills {
public:
  /// @param root the root of the file system, for tests
  explicit memory_kills(std::string root = {});

  /// Returns the file that counts the kills in a process's control group, if
  /// that is not this process's own; otherwise an empty text.
  /// @param of a child whose end was not collected yet
  std::string other_group(int of) const;

  /// Returns whether the count has risen since the last call or the
  /// construction; false if the kernel counts nothing.
  /// @param group a result of `other_group`, whose count may have risen, too;
  ///        all kills in a new group count as new
  bool more(const std::string& group = {});

private:
  bool has_risen(const std::string& file);

  const std::string root_;
  /// Empty if nothing is counted.
  std::string file_;
  /// The last count of each file that still exists.
  std::map<std::string, uint64_t> seen_;
};

/// Returns the number of the line "oom_kill N" of a kernel's file.
std::optional<uint64_t> parse_memory_kills(std::string_view text);

} // namespace atelier::runtime
