// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/profile.hpp>
#include <atelier/training/evaluation/evaluation.hpp>

#include <string>

namespace atelier::gpu {

/// Returns everything that was found as JSON, {"format": "atelier.evaluation",
/// "version": 1, ...}: shares as 0..1, times in milliseconds. What was not
/// measured is left out.
std::string to_json(const evaluation& x);

/// Returns the measured profile for planning: one variant for each model and
/// number of steps, as its first guidance and sampler ran; its quality is the
/// share of objects that are right, over all difficulties. Its cost of a step
/// is that of a batch of evaluation_plan::batch.
planning::profile measured_profile(const evaluation& x);

/// Returns the table for a terminal.
std::string to_text(const evaluation& x);

/// Returns a page with the tables and plots, with nothing from elsewhere.
std::string to_html(const evaluation& x);

} // namespace atelier::gpu
