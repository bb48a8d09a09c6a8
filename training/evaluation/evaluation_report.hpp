// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>
#include <atelier/training/evaluation/evaluation.hpp>

#include <string>

namespace atelier::gpu {

/// Returns all results as JSON, {"format": "atelier.evaluation", "version": 1,
/// ...}. Shares are 0..1 and times in milliseconds. Values that were not
/// measured are omitted.
std::string to_json(const evaluation& x);

/// Returns the measured profile for planning. It has one variant for each model
/// and number of steps, from the run with the first guidance and sampler. A
/// variant's quality is the share of right objects over all difficulties, and
/// its cost of a step is that of a batch of evaluation_plan::batch.
planning::profile measured_profile(const evaluation& x);

/// Returns the table for a terminal.
std::string to_text(const evaluation& x);

/// Returns a self-contained page with the tables and plots.
std::string to_html(const evaluation& x);

} // namespace atelier::gpu
