// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/runtime/profile_of.hpp>

namespace atelier::runtime {

/// Turns what a client wrote into a request, checked against everything that
/// can be known at the door: the limits, the variants, what the noise schedule
/// of the variant's model can run, the arena's slots. The variant is the one
/// that the client names, else the first. Of images only the headers are read.
/// The seed is the client's, else `fresh_seed`. Errors: ec::invalid_argument,
/// ec::not_found, ec::bad_payload (an image that
///         is none); the text names the field, the value and the range.
core::result<core::request> to_request(const generation& wanted,
                                       const config::settings& within,
                                       const known_variants& known,
                                       core::request_id id, uint64_t fresh_seed,
                                       core::time_point now);

/// Checks that a configuration can draw anything: that the arena's slots hold
/// what one variant at least draws at its own size.
/// Errors: ec::bad_config; the text names the option of the arena, the variant,
///         its size and the bytes.
core::result<void> can_draw(const config::settings& x,
                            const known_variants& known);

/// Reads what an engine before held against a request.
/// Errors: ec::invalid_argument.
core::result<core::suspicion> to_suspicion(const suspicion& x);

/// Returns the public form of an error.
failure to_failure(const core::error& why, core::timespan retry_after = {});

} // namespace atelier::runtime
