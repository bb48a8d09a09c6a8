// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::actors {

/// Checks that another run can continue from a state: its latent has that
/// shape, its history has whole latents of that shape, all numbers are finite,
/// and it is the state after `steps` steps.
/// @pre `state` is aligned to 8 bytes
/// Errors: ec::bad_payload; the text names the fault.
core::result<void> check_state(std::span<const std::byte> state,
                               core::latent_shape latent, uint32_t steps);

/// Removes the preview, which only the state's own client was shown, from a
/// published state, and returns the number of its steps.
/// @pre `state` is aligned to 8 bytes
/// Errors: ec::bad_payload if it is not a state, or if check_state fails.
core::result<uint32_t> make_keepable(std::vector<std::byte>& state,
                                     core::latent_shape latent);

} // namespace atelier::actors
