// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/request.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_sampler.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;
using core::sampler;

std::optional<sampler> sampler_of(const std::string& name) {
  if (const auto x = core::parse_webui_sampler(name))
    return x;
  const auto small = core::lower_case(name);
  if (small.empty())
    return std::nullopt;
  for (const auto& row : core::samplers)
    if (std::ranges::find(row.webui_also, small) != row.webui_also.end())
      return row.of;
  return core::parse_sampler(small);
}

std::string sampler_names() {
  std::string all;
  for (const auto x : core::samplers_of_webui)
    all += (all.empty() ? "" : ", ") + std::string{core::webui_name(x)};
  return all;
}

/// The web UI's schedulers that space timesteps evenly, as a model's own
/// schedule does, by name and by label in lower case. They differ from each
/// other by the place of the first and the last step.
/// Source: modules/sd_schedulers.py
constexpr std::string_view even_schedulers[] = {"uniform", "normal", "simple",
                                                "ddim", "ddim_uniform"};

/// Returns the spacing with that name, or with that label in lower case, except
/// for the model's own.
std::optional<std::string> spacing_of(const std::string& scheduler) {
  for (size_t i = 1; i < core::step_spacing_names.size(); ++i)
    if (scheduler == core::step_spacing_names[i]
        || core::same_word(scheduler, core::step_spacing_webui_names[i]))
      return std::string{core::step_spacing_names[i]};
  return std::nullopt;
}

void read_scheduler(field_reader& r, generation& into) {
  const auto name = r.text("scheduler", 100).value_or("");
  const auto scheduler = core::lower_case(name);
  if (scheduler == "karras")
    into.karras = true;
  else if (std::ranges::find(even_schedulers, scheduler)
           != std::end(even_schedulers))
    into.karras = false;
  else if (const auto spacing = spacing_of(scheduler)) {
    into.karras = false;
    into.spacing = *spacing;
  } else if (!scheduler.empty() && scheduler != "automatic")
    r.refuse("scheduler",
             fmt::format("scheduler '{}' is not supported; it can be "
                         "Automatic, Uniform, SGM Uniform, Normal, Simple, "
                         "DDIM, Karras, Leading, Trailing or Linspace",
                         name));
}

/// Checks that the sampler obeys the spacing; drops it where the web UI does.
void settle_spacing(field_reader& r, sampler with, generation& into) {
  const auto& row = row_of(with);
  const auto asked = core::parse_name<core::step_spacing>(into.spacing);
  const auto label = core::step_spacing_webui_names[static_cast<size_t>(
    asked.value_or(core::step_spacing::model))];
  if (!row.has_spacing)
    return r.refuse(
      "scheduler",
      fmt::format("scheduler '{}' is not supported with the sampler {}; {} "
                  "have it",
                  label, row.webui,
                  core::list_samplers(&core::sampler_row::has_spacing,
                                      &core::sampler_row::webui)));
  if (asked != core::step_spacing::sgm_uniform || row.has_sigmas)
    return;
  // In the web UI, DDIM ignores the scheduler.
  into.spacing = "model";
  into.karras.reset();
  note_ignored_fields(
    {fmt::format("scheduler {}: it has no effect on {}", label, row.webui)},
    into);
}

} // namespace

void read_a1111_sampler(field_reader& r, generation& into) {
  constexpr std::string_view karras = " karras";
  const auto index = r.text("sampler_index", 100);
  auto name = r.text("sampler_name", 100);
  const auto* const field =
    name && !name->empty() ? "sampler_name" : "sampler_index";
  if (!name || name->empty())
    name = index;
  if (name && !name->empty()) {
    if (core::lower_case(*name).ends_with(karras)) {
      into.karras = true;
      name->resize(name->size() - karras.size());
    }
    if (const auto x = sampler_of(*name))
      into.sampler = std::string{core::to_string(*x)};
    else
      r.refuse(field,
               fmt::format("{} not found: '{}' (available: {})", field, *name,
                           sampler_names()),
               ec::not_found);
  }
  read_scheduler(r, into);
}

void settle_a1111_scheduler(field_reader& r,
                            const std::vector<variant_status>& known,
                            generation& into) {
  const auto* const v = variant_for(known, into);
  const auto with =
    core::parse_sampler(into.sampler.value_or(v == nullptr ? "" : v->sampler));
  if (!with)
    return;
  if (into.spacing != "model")
    return settle_spacing(r, *with, into);
  if (!into.karras.value_or(false) || core::has_karras_sigmas(*with))
    return;
  const auto name = core::webui_name(*with);
  if (*with != sampler::ddim)
    return r.refuse(
      "scheduler",
      fmt::format("scheduler 'Karras' is not supported with the sampler {}; {} "
                  "have it",
                  name,
                  core::list_samplers(&core::sampler_row::has_sigmas,
                                      &core::sampler_row::webui)));
  // In the web UI, DDIM ignores the scheduler.
  into.karras.reset();
  note_ignored_fields(
    {fmt::format("scheduler Karras: it has no effect on {}", name)}, into);
}

} // namespace atelier::runtime::http::detail
