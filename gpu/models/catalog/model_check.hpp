// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

struct check_options {
  model_file_options open;
  /// Read every number and count those that are infinite or NaN.
  bool scan = false;
  /// Compute the SHA-256 digest of every file.
  bool checksums = false;
  /// Called with the bytes read so far and in total; false ends the check.
  std::function<bool(uint64_t done, uint64_t all)> proceed;
};

/// One result of a check.
struct model_finding {
  enum class grade : uint8_t {
    /// The model works, but parts of it are not used, or not as the model says.
    note,
    /// The model cannot be used in this form.
    problem,
  };

  grade severity = grade::problem;
  /// Names the file, and the key or tensor.
  std::string text;
};

struct checked_file {
  std::filesystem::path path;
  uint64_t bytes = 0;
  /// 64 hexadecimal digits; empty if not requested.
  std::string sha256;
};

/// The results of a check.
struct model_check {
  /// Absent if the model cannot be opened.
  std::optional<model_files> model;
  std::vector<checked_file> files;
  std::vector<model_finding> findings;
  /// Counts over the parts that are used.
  uint64_t tensors = 0;
  uint64_t parameters = 0;
  /// Counted by a scan.
  uint64_t non_finite = 0;

  bool sound() const;
};

/// Checks a model as far as possible without running it: every file can be
/// read, an index agrees with its parts, no part is missing, the
/// configurations, the vocabulary and the schedule are supported, and the
/// tensors are those that the configurations require.
/// Errors: ec::not_found (no such path), ec::io_failed, ec::cancelled. Any
///         other problem is a finding.
/// Threads: any.
core::result<model_check> check_model(const std::filesystem::path& from,
                                      const check_options& options);

} // namespace atelier::gpu
