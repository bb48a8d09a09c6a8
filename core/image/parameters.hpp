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

/// The generation parameters of an image, as the AUTOMATIC1111 web UI writes
/// them into the file.
/// Source: modules/infotext_utils.py and modules/processing.py,
///         create_infotext, of the web UI, version 1.9.
struct parameters {
  std::string prompt;
  std::string negative;
  /// Names and values in the order of the text: Steps, Sampler, CFG scale, ...
  std::vector<std::pair<std::string, std::string>> fields;

  /// Returns the value of the last field with that name, if any.
  std::optional<std::string_view> find(std::string_view name) const;

  friend bool operator==(const parameters&, const parameters&) = default;
};

/// Returns the fields of a run with the web UI's names, in its order: the
/// parameters that core::parameters puts before the seed, Seed, Size, Drawn
/// size (if the image was scaled), Model, the other parameters, `more`, and
/// Version.
parameters describe(const core::prompt_pair& text, const core::recipe& how,
                    std::string_view model,
                    std::vector<std::pair<std::string, std::string>> more = {});

/// Returns the text of `what`: the prompt, a line "Negative prompt: ..." if it
/// has one, and a line of the fields. Values with a comma, a colon or a line
/// break are quoted as JSON strings.
std::string to_text(const parameters& what);

/// Maximum number of fields that are read from a text.
inline constexpr size_t most_fields = 256;

/// Parses such a text by the web UI's rules; every text is valid. The last line
/// counts as fields if it holds three or more; otherwise it belongs to the
/// prompts. Fields after the first `most_fields` are dropped, as is white space
/// around lines.
parameters parse_parameters(std::string_view text);

} // namespace atelier::image
