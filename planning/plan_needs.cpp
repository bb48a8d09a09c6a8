// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/plan_needs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace atelier::planning {

namespace {

bool takes(const std::vector<std::vector<double>>& rows, size_t route) {
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
    return route < row.size() && row[route] > 0;
  });
}

bool is_taken(const saved_plan& x, size_t route, const policy* by) {
  return takes(x.share, route)
      || (by != nullptr
          && by->may_take(core::route_id{static_cast<uint32_t>(route)},
                          x.memory));
}

/// The number of steps that a leg skips, and of how many; of its variants, the
/// one with the fewest steps counts.
struct left_out {
  uint64_t skip = 0;
  uint32_t of = 0;
};

left_out skipped(const leg& x, const profile& known) {
  left_out out;
  for (const auto v : x.any_of) {
    const auto steps =
      x.steps != 0 ? x.steps : known.variants.at(v.value).steps;
    const auto skip =
      x.skip_of != 0 ? uint64_t{x.skip} * steps / x.skip_of : x.skip;
    if (out.of == 0 || steps < out.of)
      out = {skip, steps};
  }
  return out;
}

class checker {
public:
  checker(std::string_view where, bool keeps_work)
    : where_(where), keeps_work_(keeps_work) {}

  void check(const saved_plan& x, const leg& s, bool first,
             const std::string& at, const profile& known) {
    switch (s.from) {
      case origin::latent:
      case origin::image:
        if (!keeps_work_)
          complain(at, "from",
                   fmt::format("\"{0}\": this server stores no {0}s "
                               "(cache.memory_mib)",
                               s.from == origin::latent ? "latent" : "image"));
        break;
      case origin::template_image:
        complain(at, "from",
                 "\"template_image\": this server stores no templates");
        break;
      case origin::stage_image:
        if (first)
          complain(at, "from",
                   "\"stage_image\": there is no stage before the first");
        break;
      case origin::noise:
        break;
    }
    const auto most_level = std::max_element(
      x.workers.begin(), x.workers.end(),
      [](const auto& a, const auto& b) { return a.level < b.level; });
    if (s.level_of_worker && most_level != x.workers.end()
        && most_level->level > 0)
      complain(
        at, "level_of_worker",
        fmt::format("true: this server starts no request by the level of "
                    "its worker, so that {} steps cannot be skipped",
                    most_level->level));
    if (s.skip == 0 || s.level_of_worker)
      return;
    const auto left = skipped(s, known);
    if (left.skip >= left.of)
      complain(
        at, "skip",
        fmt::format("{} leaves none of {} steps to run", s.skip, left.of));
    else if (s.from == origin::noise)
      complain(
        at, "skip",
        fmt::format("{}: nothing can be skipped from \"noise\"", s.skip));
  }

  core::result<void> result() const {
    if (faults_.empty())
      return {};
    return core::fail(core::ec::bad_config, "{}", faults_);
  }

private:
  void complain(const std::string& at, std::string_view field,
                const std::string& why) {
    faults_ += fmt::format("{}{}: {}.{}: {}", faults_.empty() ? "" : "\n",
                           where_, at, field, why);
  }

  const std::string where_;
  const bool keeps_work_;
  std::string faults_;
};

// Returns the plan for one worker, which has every variant, and for more
// requests than it could serve.
plan planned_under_load(const policy& by, const profile& known) {
  constexpr uint64_t too_many = 1'000'000;
  cluster_view there;
  worker_view& w = there.workers.emplace_back();
  w.device_kind = known.kinds.empty() ? "cpu" : known.kinds.front().kind;
  for (uint32_t i = 0; i < known.variants.size(); ++i)
    w.hosting.push_back(core::variant_id{i});
  demand asked;
  demand_window& x = asked.windows.emplace_back();
  x.length = std::chrono::minutes{1};
  x.arrived = too_many;
  asked.now = core::after(x.begin, x.length);
  asked.period = x.length;
  return by.replan(asked, known, there, {});
}

} // namespace

std::optional<skipping_route> planned_skip(const policy& by,
                                           const profile& known) {
  if (std::none_of(known.ladders.begin(), known.ladders.end(),
                   [](const ladder_profile& x) {
                     return x.kind == ladder_kind::cached_latents;
                   }))
    return std::nullopt;
  const plan made = planned_under_load(by, known);
  for (size_t i = 0; i < made.routes.size(); ++i) {
    const route& r = made.routes[i];
    if (takes(made.share, i) && !r.legs.empty()
        && r.legs.front().from == origin::latent && r.legs.front().skip > 0)
      return skipping_route{r.name, r.legs.front().level_of_worker};
  }
  return std::nullopt;
}

core::result<void> check_needs(const saved_plan& x, std::string_view where,
                               const profile& known, bool keeps_work,
                               const policy_list& more) {
  const auto by = x.memory ? policy_remembering(x.memory.of(), more) : nullptr;
  checker out{where, keeps_work};
  for (size_t r = 0; r < x.routes.size(); ++r) {
    if (!is_taken(x, r, by.get()))
      continue;
    for (size_t s = 0; s < x.routes[r].legs.size(); ++s)
      out.check(x, x.routes[r].legs[s], s == 0,
                fmt::format("plan.routes[{}].stages[{}]", r, s), known);
  }
  return out.result();
}

} // namespace atelier::planning
