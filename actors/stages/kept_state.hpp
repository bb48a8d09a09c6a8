// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atelier::actors {

/// Whether another run can go on from a state: its latent has that shape, its
/// history is as many whole latents, all numbers are finite, and it stands
/// after that many steps.
/// @pre `state` is aligned to 8 bytes
/// Errors: ec::bad_payload; the text says what is wrong.
core::result<void> check_state(std::span<const std::byte> state,
                               core::latent_shape latent, uint32_t steps);

/// Takes from a published state what only its own client was shown, the
/// preview, and returns after how many steps it stands.
/// @pre `state` is aligned to 8 bytes
/// Errors: ec::bad_payload where it is no state, or check_state fails.
core::result<uint32_t> make_keepable(std::vector<std::byte>& state,
                                     core::latent_shape latent);

} // namespace atelier::actors
