// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/hints.hpp>

namespace atelier::runtime::http::detail {

namespace {

using nlohmann::json;

bool is_any(const json& x) {
  return x.is_number() || x.is_string();
}

bool is_flag(const json& x) {
  return x.is_boolean();
}

bool is_false(const json& x) {
  return x == false;
}

constexpr hint all_hints[] = {
  {"openai", "style", "`vivid`, `natural`", "`vivid`",
   "it has no effect, the prompt alone sets the style",
   [](const json& x) { return x == "vivid" || x == "natural"; },
   [](const json& x) { return x == "vivid"; }},
  {"openai", "input_fidelity", "`low`, `high`", "`low`",
   "it has no effect, strength sets how much of the image is kept",
   [](const json& x) { return x == "low" || x == "high"; },
   [](const json& x) { return x == "low"; }},
  {"openai", "mode", "a number or a text", "0",
   "it has no effect, a model has one mode", is_any,
   [](const json& x) { return x == 0; }},
  {"openai", "generator_device", "a number or a text", "`cpu`",
   "it has no effect, noise is drawn on the CPU", is_any,
   [](const json& x) { return x == "cpu"; }},
  {"openai", "enable_teacache", "true, false", "false",
   "it has no effect, every step is computed", is_flag, is_false},
  {"a1111", "restore_faces", "true, false", "false",
   "it has no effect, there is no face restoration", is_flag, is_false},
  {"a1111 options", "randn_source", "`CPU`, `GPU`, `NV`", "`CPU`",
   "it has no effect, noise is drawn on the CPU",
   [](const json& x) { return x == "CPU" || x == "GPU" || x == "NV"; },
   [](const json& x) { return x == "CPU"; }},
};

} // namespace

std::span<const hint> hints() {
  return all_hints;
}

} // namespace atelier::runtime::http::detail
