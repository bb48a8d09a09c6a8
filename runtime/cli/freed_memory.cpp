// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/freed_memory.hpp>

#include <unistd.h>
#ifdef __GLIBC__
#  include <malloc.h>
#endif

#include <algorithm>
#include <fstream>

namespace atelier::runtime::cli {

bool freed_memory::due(core::time_point now, uint64_t resident_bytes,
                       bool has_work) {
  least_bytes_ =
    least_bytes_ ? std::min(*least_bytes_, resident_bytes) : resident_bytes;
  worked_ = worked_ || has_work;
  if (has_work)
    quiet_since_.reset();
  else if (!quiet_since_)
    quiet_since_ = now;
  if (quiet_since_ && now - *quiet_since_ >= quiet_time) {
    const auto [less, more] = std::minmax(resident_bytes, left_bytes_);
    return worked_ || more - less >= quiet_change_bytes;
  }
  return resident_bytes - *least_bytes_ >= busy_growth_bytes
      && (!last_ || now - *last_ >= busy_pause);
}

void freed_memory::returned(core::time_point now, uint64_t resident_bytes) {
  left_bytes_ = resident_bytes;
  worked_ = false;
  last_ = now;
}

std::optional<uint64_t> own_resident_bytes() {
  std::ifstream from{"/proc/self/statm"};
  uint64_t size = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
  if (!(from >> size >> resident >> shared) || shared > resident)
    return std::nullopt;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

} // namespace atelier::runtime::cli
