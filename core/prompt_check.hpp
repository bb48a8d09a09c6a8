// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>

#include <string_view>

namespace atelier::core {

/// Checks that a prompt in the web UI's syntax can be read.
/// @param field the prompt's name in messages
/// Errors: ec::invalid_argument if it names a network; those of
///         read_word_weights.
/// Threads: any.
result<void> check_prompt(std::string_view field, std::string_view prompt);

/// Checks a request's prompts by its syntax and its rule for weights.
/// @param has_rule the client chose that rule
/// Errors: ec::invalid_argument if the chosen rule has no effect; those of
///         check_prompt.
/// Threads: any.
result<void> check_prompts(const request& wanted, bool has_rule);

/// Adds notes on the web UI's syntax that has no effect in the prompts; in
/// plain prompts none of it has. Threads: any.
void note_syntax(request& wanted);

} // namespace atelier::core
