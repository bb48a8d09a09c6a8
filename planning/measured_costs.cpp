// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/measured_costs.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace atelier::planning {

namespace {

constexpr size_t kept = 15;
constexpr size_t least_runs = 5;
/// What differs by less is noise.
constexpr double news_from = 0.2;
/// Of a text that was encoded before, and the like.
constexpr double least_seconds = 1e-3;

bool differs(double a, double b) {
  return std::abs(a - b) > news_from * std::max(a, b);
}

bool differs(core::timespan a, core::timespan b) {
  const double x = core::to_seconds(a);
  const double y = core::to_seconds(b);
  return std::max(x, y) > least_seconds && differs(x, y);
}

bool differs(const variant_cost& a, const variant_cost& b) {
  return differs(a.pace, b.pace) || differs(a.text, b.text)
      || differs(a.decode, b.decode) || differs(a.load, b.load);
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

measured_costs::measured_costs(size_t variants)
  : measured_(variants), told_(variants) {}

void measured_costs::ran(core::variant_id variant, core::timespan predicted,
                         core::timespan took) {
  if (predicted.count() <= 0 || took.count() <= 0)
    return;
  measured_[variant.value].pace.add(core::to_seconds(took)
                                    / core::to_seconds(predicted));
  anew_ = true;
}

void measured_costs::ended(core::variant_id variant, core::timespan text,
                           core::timespan decode) {
  measured_[variant.value].text.add(core::to_seconds(text));
  measured_[variant.value].decode.add(core::to_seconds(decode));
  anew_ = true;
}

void measured_costs::loaded(core::variant_id variant, core::timespan took) {
  measured_[variant.value].load.add(core::to_seconds(took));
  anew_ = true;
}

std::optional<std::vector<variant_cost>> measured_costs::news() {
  if (!std::exchange(anew_, false))
    return std::nullopt;
  std::vector<variant_cost> now;
  now.reserve(measured_.size());
  for (const measured& m : measured_) {
    variant_cost c;
    c.pace = m.pace.median(least_runs);
    c.text = core::from_seconds(m.text.median(least_runs));
    c.decode = core::from_seconds(m.decode.median(least_runs));
    c.load = core::from_seconds(m.load.median(1));
    now.push_back(c);
  }
  if (std::equal(now.begin(), now.end(), told_.begin(),
                 [](const auto& a, const auto& b) { return !differs(a, b); }))
    return std::nullopt;
  told_ = now;
  return now;
}

profile with_costs(profile known, std::span<const variant_cost> measured) {
  const auto n = std::min(known.variants.size(), measured.size());
  for (size_t i = 0; i < n; ++i) {
    variant_profile& v = known.variants[i];
    const variant_cost& c = measured[i];
    if (c.pace > 0) {
      for (step_cost& s : v.step)
        s.took = core::from_seconds(core::to_seconds(s.took) * c.pace);
      v.guessed = false;
    }
    if (c.text.count() > 0)
      v.text = c.text;
    if (c.decode.count() > 0)
      v.decode = c.decode;
    // A distribution is measured already.
    if (c.load.count() > 0 && !v.loads)
      v.load = c.load;
  }
  return known;
}

} // namespace atelier::planning
