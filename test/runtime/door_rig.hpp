// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/image/codec.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace atelier::test {

/// The time at which requests arrive.
inline const core::time_point entered{std::chrono::seconds{100}};
/// The seed for requests without one.
inline constexpr uint64_t fresh_seed = 77;

/// Returns settings of a device with two models.
inline config::settings two_variants() {
  config::settings x;
  x.devices[0].executor = "test_card";
  x.devices[0].variants = {"card@20", "card@4", "other@8/bf16"};
  return x;
}

/// Submits a request.
inline core::result<core::request> enter(
  const generation& wanted, const config::settings& within = two_variants()) {
  return runtime::to_request(wanted, within, *runtime::know_variants(within),
                             core::request_id{9}, fresh_seed, entered);
}

/// Returns the file of a grey image.
inline std::vector<uint8_t> file_of(core::extent px, uint32_t channels = 3) {
  const std::vector<uint8_t> pixels(image::bytes_of(px, channels), 90);
  return *image::encode({px, channels, pixels}, {});
}

/// Returns the head of a PNG whose header claims that size.
inline std::vector<uint8_t> claim_of(core::extent px) {
  auto file = file_of({8, 8});
  for (size_t i = 0; i < 4; ++i) {
    file[16 + i] = static_cast<uint8_t>(px.width >> (24 - 8 * i));
    file[20 + i] = static_cast<uint8_t>(px.height >> (24 - 8 * i));
  }
  return file;
}

} // namespace atelier::test
