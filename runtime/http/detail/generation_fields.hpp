// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/api_context.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::runtime::http::detail {

/// Reads what the JSON APIs share, in the words of `generation` and in those of
/// other servers: prompt, negative_prompt, size or width and height, seed,
/// native_only, all of core::parameters, model, variant, priority, deadline_ms,
/// preview_every; and policy and level, at what they can be today.
void read_generation(field_reader& r, const api_context& with,
                     generation& into);

/// Reads `model`: that of a variant or a variant's own name. The names that
/// OpenAI's clients are born with stand for the first model.
void read_model(field_reader& r, const api_context& with, generation& into);

/// Has each picture say that fields of its call had no effect.
void note_ignored_fields(const std::vector<std::string>& texts,
                         generation& into);

/// Whether clients of OpenAI are born with this name: it stands for the first
/// model.
bool is_openai_name(std::string_view model);

/// Reads `size`: "auto" or "WIDTHxHEIGHT".
void read_size(field_reader& r, const api_context& with, generation& into);

/// Reads `native_only`: on or off, or a flag.
void read_native_only(field_reader& r, generation& into);

/// The variant that draws; null where there is none of that name.
const variant_status* variant_for(const std::vector<variant_status>& known,
                                  const generation& wanted);

/// Returns how many steps will run, as far as is known at the door; at least 1.
uint32_t steps_that_run(const std::vector<variant_status>& known,
                        const generation& wanted);

/// Returns n of it, of consecutive seeds; where it has none, from a fresh one
/// of 32 bits on. Refuses where their files are more than the engine takes.
std::vector<generation> spread(field_reader& r, const api_context& with,
                               generation one, uint32_t n);

} // namespace atelier::runtime::http::detail
