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

/// Reads the fields that the JSON APIs share, by the names of `generation` and
/// by those of other servers: prompt, negative_prompt, size or width and
/// height, seed, native_only, all of core::parameters, model, variant,
/// priority, deadline_ms, preview_every. Also reads policy and level, at the
/// values that are supported today.
void read_generation(field_reader& r, const api_context& with,
                     generation& into);

/// Reads `model`: a variant's model or a variant's own name. The default names
/// of OpenAI's clients select the first model.
void read_model(field_reader& r, const api_context& with, generation& into);

/// Adds a note to each image that fields of its call had no effect.
void note_ignored_fields(const std::vector<std::string>& texts,
                         generation& into);

/// Returns whether the name is a default of OpenAI's clients, which selects the
/// first model.
bool is_openai_name(std::string_view model);

/// Reads `size`: "auto" or "WIDTHxHEIGHT".
void read_size(field_reader& r, const api_context& with, generation& into);

/// Reads `native_only`: "on", "off" or a flag.
void read_native_only(field_reader& r, generation& into);

/// Returns the variant that draws; null if the name is unknown.
const variant_status* variant_for(const std::vector<variant_status>& known,
                                  const generation& wanted);

/// Returns the number of steps that will run, as far as the API can know it; at
/// least 1.
uint32_t steps_that_run(const std::vector<variant_status>& known,
                        const generation& wanted);

/// Returns n copies with consecutive seeds. Without a seed, the first one is a
/// random number of 32 bits. Rejects the call if the files of all copies are
/// larger than the engine accepts, or the images of its answer have too many
/// pixels.
/// @param answer the size of each of these; 0x0: as `one` asks for
std::vector<generation> spread(field_reader& r, const api_context& with,
                               generation one, uint32_t n,
                               core::extent answer = {});

} // namespace atelier::runtime::http::detail
