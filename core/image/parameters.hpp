// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::image {

/// What made a picture, as the AUTOMATIC1111 web UI writes it into the file.
/// Source: modules/infotext_utils.py and modules/processing.py,
///         create_infotext, of the web UI, version 1.9.
struct parameters {
  std::string prompt;
  std::string negative;
  /// Names and values in the order of the text: Steps, Sampler, CFG scale, ...
  std::vector<std::pair<std::string, std::string>> fields;

  /// Returns the value of the last field of that name, if there is one.
  std::optional<std::string_view> find(std::string_view name) const;

  friend bool operator==(const parameters&, const parameters&) = default;
};

/// Returns the fields of a run in the web UI's names and order: the parameters
/// that core::parameters puts before the seed, Seed, Size, Drawn size (where
/// the image was scaled), Model, the other parameters, then `more`, then
/// Version.
parameters describe(const core::prompt_pair& text, const core::recipe& how,
                    std::string_view model,
                    std::vector<std::pair<std::string, std::string>> more = {});

/// Returns the text of `what`: the prompt, a line "Negative prompt: ..." if
/// there is one, and a line of the fields. Values with a comma, a colon or a
/// line break are quoted as JSON strings.
std::string to_text(const parameters& what);

/// Most fields that are read out of a text.
inline constexpr size_t most_fields = 256;

/// Reads such a text by the web UI's own rules; every text has a meaning. The
/// last line counts as fields if it holds three or more, and else belongs to
/// the prompts. Those beyond `most_fields` are dropped. White space around
/// lines is dropped.
parameters parse_parameters(std::string_view text);

} // namespace atelier::image
