// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <cstdint>

namespace atelier::core {

/// The sides of images are multiples of this many pixels, the latent's scale
/// factor.
inline constexpr uint32_t grid_px = 8;

/// Longest name that a caller's own trace may give a request, in bytes.
inline constexpr uint32_t most_trace_bytes = 128;

/// Limits on one request and on the queue; several tenants may reach twice the
/// latter (planning::is_granted). The configuration has the same defaults.
struct limits {
  /// Longest prompt, and longest negative prompt, in bytes of UTF-8.
  uint32_t prompt_bytes = 128 * 1024;
  /// Maximum number of denoising steps of one request.
  uint32_t steps = 150;
  /// Largest guidance scale.
  float guidance = 50;
  /// Longest side of an image, in pixels.
  uint32_t side_px = 2048;
  /// Largest image in pixels.
  uint64_t picture_px = 2048ull * 2048;
  /// Maximum number of requests that are accepted and not yet answered.
  uint32_t requests = 10'000;
  /// Longest predicted time until all of them are answered.
  timespan queue = std::chrono::hours{1};
  /// Maximum size of the texts of those requests, in bytes.
  uint64_t request_bytes = 256ull << 20;
  /// Maximum file size of a source image, and of its mask, in bytes.
  uint64_t source_bytes = 12ull << 20;
  /// Largest source image, and largest mask, in pixels. Limits the cost of
  /// decoding.
  uint64_t source_px = 8192ull * 4096;
  /// Longest time that decoding and scaling the files of one request may take.
  timespan decode = std::chrono::milliseconds{1500};
  /// Maximum size of the files of accepted requests, in bytes.
  uint64_t sources_bytes = 512ull << 20;
};

/// Checks everything that can be wrong with a request by itself, against
/// `within`.
/// Errors: ec::invalid_argument; the text names the field, its value and the
///         range. Only the first fault found is reported.
result<void> validate(const request& wanted, const limits& within);

} // namespace atelier::core
