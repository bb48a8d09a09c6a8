// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>

#include <cstddef>

namespace atelier::core::detail {

/// The transformation of box_muller.hpp, compiled for one instruction set.
struct box_muller_code {
  instruction_set set;
  void (*transform)(float* data, size_t chunks);
};

} // namespace atelier::core::detail
