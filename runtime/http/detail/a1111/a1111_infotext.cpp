// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/parameters.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_infotext.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

void add(json& call, std::string_view name, json value) {
  const auto i = call.find(name);
  if (i == call.end() || i->is_null())
    call[name] = std::move(value);
}

json number_of(std::string_view text) {
  auto value = json::parse(text, nullptr, false);
  return value.is_number() ? value : json();
}

} // namespace

void add_infotext(json& call, std::string_view text) {
  const auto told = image::parse_parameters(text);
  add(call, "prompt", told.prompt);
  add(call, "negative_prompt", told.negative);
  const auto add_number = [&](std::string_view from, std::string_view to) {
    if (const auto value = told.find(from))
      add(call, to, number_of(*value));
  };
  add_number("Seed", "seed");
  core::each_parameter([&](const core::parameter& x, auto at) {
    using type = typename decltype(at)::type;
    if (x.webui.empty() || x.webui_field.empty())
      return;
    if constexpr (core::number<type>)
      add_number(x.webui, x.webui_field);
    else if constexpr (std::is_same_v<type, bool>)
      if (told.find(x.webui) == x.webui_true)
        add(call, x.webui_field, true);
  });
  const auto has_sampler = [&](const char* name) {
    const auto i = call.find(name);
    return i != call.end() && !i->is_null();
  };
  if (!has_sampler("sampler_name") && !has_sampler("sampler_index")) {
    if (const auto value = told.find("Sampler"))
      add(call, "sampler_name", std::string{*value});
    if (const auto value = told.find("Schedule type"))
      add(call, "scheduler", std::string{*value});
  }
  if (const auto size = told.find("Size")) {
    const auto cross = std::min(size->find_first_of("xX"), size->size());
    const auto width = number_of(size->substr(0, cross));
    const auto height =
      cross == size->size() ? json() : number_of(size->substr(cross + 1));
    if (!width.is_null() && !height.is_null()) {
      add(call, "width", width);
      add(call, "height", height);
    }
  }
  if (told.find("RNG") == "Philox")
    add(call, "noise", "philox");
  for (size_t i = 0; i < core::emphasis_rule_names.size(); ++i)
    if (told.find("Emphasis") == core::emphasis_rule_webui_names[i])
      add(call, "emphasis", core::emphasis_rule_names[i]);
  const auto by = told.find("Version");
  const bool is_own = by && by->starts_with("Atelier");
  if (const auto rule = told.find("Strength rule"))
    add(call, "strength_rule", std::string{*rule});
  else if (is_own)
    add(call, "strength_rule", "diffusers");
  if (const auto syntax = told.find("Prompt syntax"))
    add(call, "prompt_syntax", std::string{*syntax});
  // Other programs draw by the web UI's syntax and do not say so.
  else if (is_own)
    add(call, "prompt_syntax", "plain");
}

} // namespace atelier::runtime::http::detail
