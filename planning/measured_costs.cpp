// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/measured_costs.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace atelier::planning {

namespace {

constexpr size_t kept = 15;
constexpr size_t least_runs = 5;
/// Smaller relative differences are noise.
constexpr double news_from = 0.2;
/// Shorter times are ignored, such as that of a text that was encoded before.
constexpr double least_seconds = 1e-3;

bool differs(double a, double b) {
  return std::abs(a - b) > news_from * std::max(a, b);
}

bool differs(core::timespan a, core::timespan b) {
  const double x = core::to_seconds(a);
  const double y = core::to_seconds(b);
  return std::max(x, y) > least_seconds && differs(x, y);
}

// A text takes no time if it was encoded before, and little time otherwise, so
// its time is counted together with the decoding.
bool differs(const variant_cost& a, const variant_cost& b) {
  return differs(a.pace, b.pace)
      || differs(a.text + a.decode, b.text + b.decode)
      || differs(a.load, b.load);
}

// Costs are 0 for a variant that was never reported.
bool same_as(std::span<const variant_cost> now,
             std::span<const variant_cost> told) {
  for (size_t i = 0; i < now.size(); ++i)
    if (differs(now[i], i < told.size() ? told[i] : variant_cost{}))
      return false;
  return true;
}

std::span<const variant_cost> costs_for(std::span<const kind_costs> all,
                                        std::string_view kind) {
  for (const kind_costs& x : all)
    if (x.kind == kind)
      return x.costs;
  return {};
}

void correct(running_costs& of, const variant_cost& by) {
  if (by.pace > 0) {
    for (step_cost& s : of.step)
      s.took = core::from_seconds(core::to_seconds(s.took) * by.pace);
    of.guessed = false;
  }
  if (by.text.count() > 0)
    of.text = by.text;
  if (by.decode.count() > 0)
    of.decode = by.decode;
  // A distribution was measured before.
  if (by.load.count() > 0 && !of.loads)
    of.load = by.load;
}

} // namespace

void measured_costs::samples::add(double x) {
  if (last.size() == kept)
    last.pop_front();
  last.push_back(x);
}

double measured_costs::samples::median(size_t least) const {
  if (last.size() < least)
    return 0;
  std::vector<double> all{last.begin(), last.end()};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

measured_costs::measured_costs(size_t variants) : any_(variants) {}

template <class Note>
void measured_costs::note(core::variant_id variant, std::string_view kind,
                          Note note) {
  note(any_[variant.value]);
  auto at = kinds_.find(kind);
  if (at == kinds_.end())
    at = kinds_.emplace(std::string{kind}, by_variant(any_.size())).first;
  note(at->second[variant.value]);
  anew_ = true;
}

void measured_costs::ran(core::variant_id variant, std::string_view kind,
                         core::timespan predicted, core::timespan took) {
  if (predicted.count() <= 0 || took.count() <= 0)
    return;
  note(variant, kind, [&](measured& m) {
    m.pace.add(core::to_seconds(took) / core::to_seconds(predicted));
  });
}

void measured_costs::ended(core::variant_id variant, std::string_view kind,
                           core::timespan text, core::timespan decode) {
  note(variant, kind, [&](measured& m) {
    m.text.add(core::to_seconds(text));
    m.decode.add(core::to_seconds(decode));
  });
}

void measured_costs::loaded(core::variant_id variant, std::string_view kind,
                            core::timespan took) {
  note(variant, kind, [&](measured& m) { m.load.add(core::to_seconds(took)); });
}

std::vector<variant_cost> measured_costs::costs_of(const by_variant& of) {
  std::vector<variant_cost> out;
  out.reserve(of.size());
  for (const measured& m : of) {
    variant_cost c;
    c.pace = m.pace.median(least_runs);
    c.text = core::from_seconds(m.text.median(least_runs));
    c.decode = core::from_seconds(m.decode.median(least_runs));
    c.load = core::from_seconds(m.load.median(1));
    out.push_back(c);
  }
  return out;
}

std::optional<std::vector<kind_costs>> measured_costs::news() {
  if (!std::exchange(anew_, false))
    return std::nullopt;
  std::vector<kind_costs> now{{{}, costs_of(any_)}};
  const bool several = kinds_.size() > 1;
  if (several)
    for (const auto& [kind, of] : kinds_)
      if (!kind.empty())
        now.push_back({kind, costs_of(of)});
  // With several kinds, the costs of any kind vary between those of the kinds:
  // a change of them alone is not reported.
  const bool same = std::all_of(
    now.begin() + (several ? 1 : 0), now.end(), [&](const kind_costs& x) {
      return same_as(x.costs, costs_for(told_, x.kind));
    });
  if (same)
    return std::nullopt;
  told_ = now;
  return now;
}

profile with_costs(profile known, std::span<const kind_costs> measured) {
  const profile profiled = known;
  for (const kind_costs& x : measured) {
    if (x.kind.empty()) {
      for (size_t i = 0; i < std::min(x.costs.size(), known.variants.size());
           ++i)
        correct(known.variants[i], x.costs[i]);
      continue;
    }
    auto at =
      std::find_if(known.kinds.begin(), known.kinds.end(),
                   [&](const kind_profile& k) { return k.kind == x.kind; });
    if (at == known.kinds.end()) {
      if (std::all_of(x.costs.begin(), x.costs.end(),
                      [](const auto& c) { return c == variant_cost{}; }))
        continue;
      kind_profile fresh;
      fresh.kind = x.kind;
      fresh.idle_watts = known.idle_watts;
      // Costs that were not measured on this kind are those of the profile for
      // any kind.
      fresh.variants.assign(profiled.variants.begin(), profiled.variants.end());
      at = known.kinds.insert(at, std::move(fresh));
    }
    at->variants.resize(known.variants.size());
    for (size_t i = 0; i < std::min(x.costs.size(), known.variants.size());
         ++i) {
      if (x.costs[i] == variant_cost{})
        continue;
      auto& own = at->variants[i];
      if (!own)
        own =
          on_kind(profiled, core::variant_id{static_cast<uint32_t>(i)}, x.kind);
      correct(*own, x.costs[i]);
    }
  }
  return known;
}

} // namespace atelier::planning
