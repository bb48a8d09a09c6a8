// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::test {

/// How this program's disk answers the calls that read a payload and that wait
/// until something is on the disk. The program is linked so that its calls of
/// pread and fsync come here.
enum class disk_answer : uint8_t {
  at_once,
  /// After 500 ms.
  late,
  /// When it answers otherwise again.
  never,
  /// With EIO, at once.
  with_faults,
};

void disk_reads(disk_answer how);
void disk_writes(disk_answer how);

} // namespace atelier::test
