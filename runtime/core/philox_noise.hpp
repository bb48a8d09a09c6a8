// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace atelier::core {

/// Fill `out` with standard normal noise of the counter-based generator, the
/// stream (seed, purpose::noise). Values 16i..16i+15 depend on nothing but the
/// seed and i: a longer span starts with the values of a shorter one.
/// Threads: any.
void philox_randn(uint64_t seed, std::span<float> out);

} // namespace atelier::core
