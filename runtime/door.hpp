// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/config/settings.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/core/suspicion.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <optional>

namespace atelier::runtime {

/// Turns a client's parameters into a request and validates everything that is
/// known on submission: the limits, the variants, the range of the model's
/// noise schedule, the arena's slots. The variant is the one that the client
/// names, otherwise the first; others that cannot run the request are listed in
/// it, so that no policy chooses them. Only the headers of images are read. The
/// seed is the client's, otherwise `fresh_seed`, and so is the deadline,
/// otherwise `usual_deadline`.
/// Errors: ec::invalid_argument, ec::not_found, ec::bad_payload (not an image);
/// the text names the field, the value and the range.
core::result<core::request> to_request(const generation& wanted,
                                       const config::settings& within,
                                       const known_variants& known,
                                       core::request_id id, uint64_t fresh_seed,
                                       core::time_point now);

/// Returns the time from arrival to the answer of a request that names no
/// deadline, as `policy.deadline` and `policy.deadline_ms` say; none: it has
/// no deadline.
std::optional<core::timespan> usual_deadline(const config::settings& x,
                                             const planning::profile& known);

/// Checks that the profile has a deadline if `policy.deadline` asks for it.
/// Errors: ec::bad_config; the text names the option and what replaces it.
core::result<void> check_deadline(const config::settings& x,
                                  const planning::profile& known);

/// Checks that a configuration can draw at all: that the arena's slots hold an
/// image of at least one variant at its own size.
/// Errors: ec::bad_config; the text names the option of the arena, the variant,
/// its size and the bytes.
core::result<void> can_draw(const config::settings& x,
                            const known_variants& known);

/// Reads an earlier engine's evidence against a request.
/// Errors: ec::invalid_argument.
core::result<core::suspicion> to_suspicion(const suspicion& x);

/// Returns the public form of an error.
failure to_failure(const core::error& why, core::timespan retry_after = {});

} // namespace atelier::runtime
