// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile_file.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace atelier::bench {

/// Writes a profile to a temporary file, which the destructor removes.
class profile_file {
public:
  explicit profile_file(const planning::profile& x) {
    std::ofstream{path} << planning::to_json(x);
  }

  ~profile_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  profile_file(const profile_file&) = delete;
  profile_file& operator=(const profile_file&) = delete;

  const std::filesystem::path path =
    std::filesystem::temp_directory_path()
    / ("atelier-bench-" + std::to_string(getpid()) + ".json");
};

} // namespace atelier::bench
