// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/samplers/detail/python_json.hpp>

namespace atelier::gpu {

namespace {

constexpr std::string_view words[] = {"-Infinity", "Infinity", "NaN"};

/// Quotes the words outside of strings.
std::string with_quoted_words(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    size_t taken = 1;
    const auto rest = text.substr(i);
    std::string_view word;
    if (!inside)
      for (auto x : words)
        if (word.empty() && rest.starts_with(x))
          word = x;
    if (!word.empty()) {
      taken = word.size();
      out.append("\"").append(word).append("\"");
    } else {
      if (inside && rest[0] == '\\' && rest.size() > 1)
        taken = 2;
      else if (rest[0] == '"')
        inside = !inside;
      out.append(rest.substr(0, taken));
    }
    i += taken;
  }
  return out;
}

} // namespace

core::result<nlohmann::json> parse_python_object(std::string_view text,
                                                 std::string_view where) {
  return detail::parse_object(with_quoted_words(text), where);
}

std::string shown(const nlohmann::json& value) {
  constexpr size_t most = 60;
  if (value.is_array())
    return "an array";
  if (value.is_object())
    return "an object";
  // Replaces a lone surrogate or an incomplete character instead of throwing.
  const auto replace = nlohmann::json::error_handler_t::replace;
  auto text = value.dump(-1, ' ', true, replace);
  if (text.size() > most)
    text = text.substr(0, most) + "...";
  return text;
}

} // namespace atelier::gpu
