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

/// Returns the pace of steps of a class of batches.
double pace_of_class(const variant_cost& by, size_t of) {
  return of < by.pace_of_batch.size() && by.pace_of_batch[of] > 0
         ? by.pace_of_batch[of]
         : by.pace;
}

// A text takes no time if it was encoded before, and little time otherwise, so
// its time is counted together with the decoding.
bool differs(const variant_cost& a, const variant_cost& b) {
  for (size_t i = 0;
       i < std::max(a.pace_of_batch.size(), b.pace_of_batch.size()); ++i)
    if (differs(pace_of_class(a, i), pace_of_class(b, i)))
      return true;
  return differs(a.pace, b.pace)
      || differs(a.text + a.decode, b.text + b.decode)
      || differs(a.encode, b.encode) || differs(a.load, b.load);
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
      s.took = core::from_seconds(core::to_seconds(s.took)
                                  * pace_of_class(by, batch_class(s.batch)));
    of.guessed = false;
  }
  if (by.text.count() > 0)
    of.text = by.text;
  if (by.decode.count() > 0)
    of.decode = by.decode;
  if (by.encode.count() > 0)
    of.encode = by.encode;
  // A distribution was measured before.
  if (by.load.count() > 0 && !of.loads)
    of.load = by.load;
}

bool has_several_batches(const running_costs& of) {
  return std::any_of(of.step.begin(), of.step.end(), [&](const step_cost& s) {
    return s.batch != of.step.front().batch;
  });
}

/// Returns the middle one of values above 0; the larger one of two.
double middle_of(std::vector<double> values) {
  std::erase(values, 0.0);
  if (values.empty())
    return 0;
  const auto middle =
    values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace

void measured_costs::samples::add(double x) {
  if (last.size() == kept)
    last.pop_front();
  last.push_back(x);
}

double measured_costs::samples::median(size_t least) const {
  return last.size() < least ? 0 : middle_of({last.begin(), last.end()});
}

measured_costs::measured_costs(size_t variants, std::vector<bool> by_batch)
  : by_batch_(std::move(by_batch)), any_(variants) {}

bool measured_costs::is_by_batch(size_t variant) const {
  return variant < by_batch_.size() && by_batch_[variant];
}

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
                         uint32_t batch, core::timespan predicted,
                         core::timespan took) {
  if (predicted.count() <= 0 || took.count() <= 0)
    return;
  const auto pace = core::to_seconds(took) / core::to_seconds(predicted);
  const auto of_batch = batch_class(batch);
  const bool by_batch = is_by_batch(variant.value);
  note(variant, kind, [&](measured& m) {
    m.pace.add(pace);
    if (!by_batch)
      return;
    if (m.pace_of_batch.size() <= of_batch)
      m.pace_of_batch.resize(of_batch + 1);
    m.pace_of_batch[of_batch].add(pace);
  });
}

void measured_costs::ended(core::variant_id variant, std::string_view kind,
                           core::timespan text, core::timespan decode,
                           core::timespan encode) {
  note(variant, kind, [&](measured& m) {
    m.text.add(core::to_seconds(text));
    m.decode.add(core::to_seconds(decode));
    if (encode.count() > 0)
      m.encode.add(core::to_seconds(encode));
  });
}

void measured_costs::loaded(core::variant_id variant, std::string_view kind,
                            core::timespan took) {
  note(variant, kind, [&](measured& m) { m.load.add(core::to_seconds(took)); });
}

std::vector<variant_cost> measured_costs::costs_of(const by_variant& of) const {
  std::vector<variant_cost> out;
  out.reserve(of.size());
  for (const measured& m : of) {
    variant_cost c;
    c.pace = m.pace.median(least_runs);
    for (const auto& x : m.pace_of_batch)
      c.pace_of_batch.push_back(x.median(least_runs));
    // The median of all runs would change with the batches that ran last.
    if (const auto middle = middle_of(c.pace_of_batch); middle > 0)
      c.pace = middle;
    c.text = core::from_seconds(m.text.median(least_runs));
    c.decode = core::from_seconds(m.decode.median(least_runs));
    c.encode = core::from_seconds(m.encode.median(least_runs));
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

std::vector<bool> measured_by_batch(const profile& known) {
  std::vector<bool> out;
  for (const auto& v : known.variants)
    out.push_back(has_several_batches(v));
  for (const auto& kind : known.kinds)
    for (size_t i = 0; i < std::min(kind.variants.size(), out.size()); ++i)
      out[i] =
        out[i] && (!kind.variants[i] || has_several_batches(*kind.variants[i]));
  return out;
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
      fresh.measured_with = known.measured_with;
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
