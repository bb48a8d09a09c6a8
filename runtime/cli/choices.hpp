// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/parameters.hpp>

#include <span>
#include <string>
#include <string_view>

namespace atelier::runtime::cli {

/// Returns the words that an option or argument may have as its value, by its
/// long name ("--sampler") or what it stands for ("SHELL"; "models" for the
/// words behind that command); empty where the value is free.
std::span<const std::string_view> choices_of(std::string_view name);

/// Returns a parameter's option: "--guidance-rescale".
std::string option_of(const core::parameter& x);

/// Returns the words as "a, b or c".
std::string list_choices(std::span<const std::string_view> words);

} // namespace atelier::runtime::cli
