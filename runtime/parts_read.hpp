// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/result.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/planning/profile.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace atelier::runtime {

/// Returns the part of a prompt that decides an image drawn by a recipe.
using part_reader =
  std::function<std::string(std::string_view prompt, const core::recipe& how)>;

/// Returns a reader that reads as the models of the settings do, whose files it
/// opens. Without a model with files, prompts are read whole.
/// @param known has the variants that recipes name
/// Errors: those of gpu::open_model and gpu::prompt_reader, with the model's
///         name.
core::result<part_reader> part_reader_of(const config::settings& x,
                                         const planning::profile& known);

/// Returns the part of a prompt that decides an image under a key that
/// index::key_of returned; the whole prompt under others.
std::string part_read(const part_reader& read, std::string_view key,
                      std::string_view prompt);

/// Returns kept work that compares only the parts of prompts that are read, so
/// that words which no model reads make no two prompts alike, or different.
/// @pre `kept` and `read` are not null
std::shared_ptr<index::kept_work> compare_parts_read(
  std::shared_ptr<index::kept_work> kept, part_reader read);

} // namespace atelier::runtime
