// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/markup.hpp>
#include <atelier/core/parameters.hpp>
#include <atelier/runtime/http/detail/parameter_texts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace atelier::runtime::http::detail {

namespace {

using nlohmann::ordered_json;

/// A whole number as one.
template <class T>
ordered_json bound(double x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(x);
  else if (x == static_cast<double>(static_cast<int64_t>(x)))
    return static_cast<int64_t>(x);
  else
    return x;
}

/// `least` is not the row's own where a name has another meaning of 0.
template <class T>
ordered_json schema(const core::parameter& x, double least,
                    std::string_view doc) {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}, {"description", doc}};
  } else if constexpr (std::is_enum_v<T>) {
    const auto names = core::names_of<T>();
    return {{"type", "string"},
            {"description", doc},
            {"enum", ordered_json(
                       std::vector<std::string>(names.begin(), names.end()))}};
  } else {
    ordered_json out{{"type", std::is_integral_v<T> ? "integer" : "number"},
                     {"description", doc},
                     {"minimum", bound<T>(least)}};
    if (x.bound == nullptr)
      out["maximum"] = bound<T>(x.most);
    return out;
  }
}

std::string option(std::string_view name) {
  return fmt::format("<option>{}</option>", name);
}

/// "Guidance rescale".
std::string label_of(std::string_view name) {
  std::string out{name};
  std::ranges::replace(out, '_', ' ');
  if (out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

template <class T>
std::string input(const core::parameter& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return fmt::format(R"(<input name="{}" type="checkbox">)", x.name);
  } else if constexpr (std::is_enum_v<T>) {
    auto out = fmt::format(
      R"(<select name="{}"><option value="">auto</option>)", x.name);
    for (const auto name : core::names_of<T>())
      out += option(name);
    return out + "</select>";
  } else {
    const auto most =
      x.bound == nullptr ? fmt::format(R"( max="{}")", x.most) : std::string{};
    return fmt::format(
      R"(<input name="{}" type="number" min="{}"{} step="{}" placeholder="auto">)",
      x.name, x.least, most, std::is_integral_v<T> ? "1" : "any");
  }
}

void replace(std::string& text, std::string_view mark, std::string_view with) {
  if (const auto at = text.find(mark); at != text.npos)
    text.replace(at, mark.size(), with);
}

} // namespace

nlohmann::ordered_json parameter_schemas() {
  auto all = ordered_json::object();
  core::each_parameter([&](const core::parameter& x, auto at) {
    using type = typename decltype(at)::type;
    all[std::string{x.name}] = schema<type>(x, x.least, x.doc);
    const auto same = fmt::format("The same as {}.", x.name);
    if (!x.also.empty())
      all[std::string{x.also}] = schema<type>(x, x.least, same);
    if (!x.localai.empty())
      all[std::string{x.localai}] = schema<type>(
        x, 0, fmt::format("LocalAI's name for {}; 0: left out.", x.name));
  });
  return all;
}

nlohmann::ordered_json webui_schemas() {
  auto all = ordered_json::object();
  core::each_parameter([&](const core::parameter& x, auto at) {
    if (!x.webui_field.empty())
      all[std::string{x.webui_field}] =
        schema<typename decltype(at)::type>(x, x.least, x.doc);
  });
  return all;
}

std::string with_parameters(std::string_view page) {
  std::string samplers;
  for (const auto name : core::sampler_names)
    samplers += option(name);
  std::string inputs;
  core::each_parameter([&](const core::parameter& x, auto at) {
    if (!x.page_by_hand)
      inputs += fmt::format("<label title=\"{}\">{} {}</label>\n      ",
                            core::escape_html(x.doc), label_of(x.name),
                            input<typename decltype(at)::type>(x));
  });
  std::string out{page};
  replace(out, "<!--samplers-->", samplers);
  replace(out, "<!--parameters-->", inputs);
  return out;
}

} // namespace atelier::runtime::http::detail
