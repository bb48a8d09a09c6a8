// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/judge/prompt_classifier.hpp>

#include <memory>

namespace atelier::runtime {

/// Opens the classifier of prompts that the settings name.
/// Errors: ec::not_found if they name none, or it is not built in; those of
/// gpu::load_prompt_classifier; the text names the option.
core::result<std::shared_ptr<const gpu::prompt_classifier>> make_classifier(
  const config::settings& settings);

/// Checks that folder before a server starts, without loading its network. If
/// the settings name none, it succeeds.
/// Errors: those of make_classifier.
core::result<void> check_classifier(const config::settings& settings);

} // namespace atelier::runtime
