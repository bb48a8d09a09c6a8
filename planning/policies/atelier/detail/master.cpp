// SPDX-License-Identifier: Apache-2.0

// This file builds the linear program of a plan: its rows, the columns as they
// are added, and prices. It is long because the rows and the entries of each
// column in them are read together.

#include <atelier/planning/policies/atelier/detail/master.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning::unified {

namespace {

constexpr size_t columns_of_a_round = 3;

// A gain below this is noise.
constexpr double noise = 1e-7;

double sum_of_rates(const problem& asked) {
  double sum = 0;
  for (const request_class& c : asked.classes)
    sum += c.rate;
  return sum;
}

} // namespace

master::master(const problem& asked, std::vector<double> busy)
  : asked_(asked), busy_(std::move(busy)) {
  begin();
  add_devices_in_parts();
  add_mixes();
  first_answer_ = lp_.columns.size();
}

master::master(const problem& asked, std::span<const device_range> ranges)
  : asked_(asked), ranges_(ranges.begin(), ranges.end()) {
  for (const device_range& r : ranges_)
    busy_.push_back(r.busy);
  begin();
  add_devices();
  add_mixes();
  first_answer_ = lp_.columns.size();
}

void master::begin() {
  in_.assign(asked_.columns.size(), 0);
  of_class_.resize(asked_.classes.size());
  scale_ = 1 + sum_of_rates(asked_);
  for (uint32_t i = 0; i < asked_.columns.size(); ++i)
    of_class_[asked_.columns[i].of].push_back(i);
  add_classes();
}

lp_column_id master::plain_column(double most) {
  for (auto& g : gains_)
    g.push_back(0);
  return lp_.add(lp_column{{}, 0, 0, most, false});
}

lp_row_id master::plain_row(lp_relation is, double bound) {
  return lp_.add(lp_row{{}, {}, is, bound});
}

void master::term(lp_row_id row, lp_column_id column, double factor) {
  if (factor != 0)
    lp_.rows[row.value].terms.push_back({column, factor});
}

double master::load_part(uint32_t h) const {
  return std::min(1.0, asked_.hostings[h].load_seconds
                         / std::max(asked_.period, 1e-9));
}

void master::add_classes() {
  double most_weight = 1;
  for (const request_class& c : asked_.classes)
    most_weight = std::max(most_weight, c.weight);
  // The bounds have no effect until the previous phase fixes them.
  cap_[0] = plain_row(lp_relation::at_most, 2 * most_weight * scale_);
  double short_bound = 1;
  for (const request_class& c : asked_.classes)
    short_bound += c.rate * (std::abs(c.floor) + asked_.fresh);
  cap_[1] = plain_row(lp_relation::at_most, 2 * short_bound);
  const auto shortfall = [&](lp_row_id row) {
    const auto s = plain_column(lp_infinity);
    gains_[1][s.value] = -1;
    term(row, s, 1);
    term(*cap_[1], s, 1);
  };
  for (size_t c = 0; c < asked_.classes.size(); ++c) {
    const request_class& k = asked_.classes[c];
    const auto u = plain_column(lp_infinity);
    refused_.push_back(u);
    gains_[0][u.value] = -k.weight;
    term(*cap_[0], u, k.weight);
    class_row_.push_back(plain_row(lp_relation::equal, k.rate));
    term(class_row_.back(), u, 1);
    floor_row_.emplace_back();
    fresh_row_.emplace_back();
    if (k.floor > 0) {
      floor_row_.back() = plain_row(lp_relation::at_least, k.floor * k.rate);
      term(*floor_row_.back(), u, k.floor);
      shortfall(*floor_row_.back());
    }
    const auto is_fresh = [&](uint32_t i) { return asked_.columns[i].fresh; };
    const auto& own = of_class_[c];
    // If all columns or none are fresh, nothing needs deciding.
    if (asked_.fresh > 0 && std::any_of(own.begin(), own.end(), is_fresh)
        && !std::all_of(own.begin(), own.end(), is_fresh)) {
      fresh_row_.back() =
        plain_row(lp_relation::at_least, asked_.fresh * k.rate);
      term(*fresh_row_.back(), u, asked_.fresh);
      shortfall(*fresh_row_.back());
    }
  }
}

void master::add_devices_in_parts() {
  for (const device_kind& k : asked_.kinds)
    kind_row_.push_back(plain_row(lp_relation::at_most, k.alive));
  for (uint32_t h = 0; h < asked_.hostings.size(); ++h) {
    const hosting& x = asked_.hostings[h];
    hosting_row_.push_back(plain_row(lp_relation::at_most, x.now));
    // A load that takes the whole period gains nothing.
    const double part = load_part(h);
    const auto a = plain_column(part < 1 ? lp_infinity : 0);
    load_.push_back(a);
    gains_[2][a.value] = -asked_.load_price * x.load_seconds;
    term(hosting_row_.back(), a, part - 1);
    term(kind_row_[x.kind], a, part);
  }
}

void master::add_devices() {
  std::vector<double> alive;
  for (const device_kind& k : asked_.kinds)
    alive.push_back(k.alive);
  std::vector<double> now;
  for (const hosting& h : asked_.hostings)
    now.push_back(h.now);
  for (size_t p = 0; p < ranges_.size(); ++p)
    if (ranges_[p].least == ranges_[p].most) {
      const uint32_t h = asked_.pools[p].of;
      now[h] -= ranges_[p].least;
      alive[asked_.hostings[h].kind] -= ranges_[p].least;
    }
  for (const double left : alive)
    kind_row_.push_back(plain_row(lp_relation::at_most, std::max(left, 0.0)));
  for (const double left : now)
    hosting_row_.push_back(plain_row(lp_relation::at_most, left));
  for (uint32_t p = 0; p < asked_.pools.size(); ++p) {
    const device_range& r = ranges_[p];
    pool_row_.emplace_back();
    load_.emplace_back();
    if (r.most == 0)
      continue;
    const uint32_t of = asked_.pools[p].of;
    const hosting& h = asked_.hostings[of];
    const bool given = r.least == r.most;
    pool_row_.back() = plain_row(lp_relation::at_most,
                                 given ? r.rise * r.most + r.start : r.start);
    const auto a = plain_column(r.most);
    load_.back() = a;
    gains_[2][a.value] = -asked_.load_price * h.load_seconds;
    term(*pool_row_.back(), a, r.busy * load_part(of));
    term(hosting_row_[of], a, -1);
    if (given)
      continue;
    const auto n = plain_column(r.most);
    lp_.columns[n.value].least = r.least;
    term(*pool_row_.back(), n, -r.rise);
    term(hosting_row_[of], n, 1);
    term(kind_row_[h.kind], n, 1);
  }
}

void master::add_mixes() {
  for (const mix& m : asked_.mixes) {
    const auto z = plain_column(lp_infinity);
    gains_[2][z.value] = 1;
    mix_rows_.emplace_back();
    for (size_t j = 0; j < m.segments.size(); ++j) {
      mix_rows_.back().push_back(plain_row(lp_relation::at_most, 0));
      term(mix_rows_.back().back(), z, 1);
    }
  }
}

template <class Visit>
void master::each_term(const column& c, Visit visit) const {
  visit(class_row_[c.of], 1.0);
  if (const auto row = floor_row_[c.of])
    visit(*row, c.quality);
  if (const auto row = fresh_row_[c.of]; row && c.fresh)
    visit(*row, 1.0);
  for (const pool_work& w : c.works()) {
    if (!ranges_.empty()) {
      visit(*pool_row_[w.pool], w.seconds);
      continue;
    }
    const pool& p = asked_.pools[w.pool];
    const double devices = w.seconds / busy_[w.pool];
    visit(hosting_row_[p.of], devices);
    visit(kind_row_[asked_.hostings[p.of].kind], devices);
  }
  if (c.mix)
    for (size_t j = 0; j < mix_rows_[*c.mix].size(); ++j) {
      const mix_segment& s = asked_.mixes[*c.mix].segments[j];
      visit(mix_rows_[*c.mix][j], -(s.light * c.light + s.all));
    }
}

bool master::add(uint32_t i) {
  if (in_[i] != 0)
    return false;
  const column& c = asked_.columns[i];
  if (!runs(c))
    return false;
  in_[i] = 1;
  answers_.push_back(i);
  const auto x = plain_column(lp_infinity);
  if (!c.mix)
    gains_[2][x.value] = c.quality;
  // Two legs may share a row.
  each_term(c, [&](lp_row_id row, double factor) {
    auto& terms = lp_.rows[row.value].terms;
    if (!terms.empty() && terms.back().column == x)
      terms.back().factor += factor;
    else
      term(row, x, factor);
  });
  return true;
}

bool master::runs(const column& c) const {
  if (ranges_.empty())
    return true;
  const auto works = c.works();
  return std::all_of(works.begin(), works.end(), [&](const pool_work& w) {
    return pool_row_[w.pool].has_value();
  });
}

void master::add_first() {
  std::vector<double> work(asked_.columns.size(), 0.0);
  std::vector<char> there(asked_.columns.size(), 0);
  for (size_t i = 0; i < work.size(); ++i) {
    there[i] = runs(asked_.columns[i]) ? 1 : 0;
    for (const pool_work& w : asked_.columns[i].works())
      work[i] += w.seconds / busy_[w.pool];
  }
  double devices = 0;
  for (const device_kind& k : asked_.kinds)
    devices += k.alive;
  // Returns the best column of a class at a price per second of a device.
  const auto best_at = [&](size_t k, double price) {
    std::optional<uint32_t> best;
    double most = 0;
    for (const uint32_t i : of_class_[k]) {
      const double gain = asked_.columns[i].quality - price * work[i];
      if (there[i] != 0 && (!best || gain > most)) {
        best = i;
        most = gain;
      }
    }
    return best;
  };
  // The search finds the price at which all classes together use all devices.
  double low = 0;
  double high = 1e3;
  for (int step = 0; step < 24; ++step) {
    const double price = step == 0 ? 1 : std::sqrt((low + 1e-3) * high);
    double taken = 0;
    for (size_t k = 0; k < of_class_.size(); ++k)
      if (const auto i = best_at(k, price))
        taken += asked_.classes[k].rate * work[*i];
    (taken > devices ? low : high) = price;
  }
  for (size_t k = 0; k < of_class_.size(); ++k)
    for (const double price :
         {0.0, high / 2, high * 0.8, high, high * 1.25, high * 2, 1e6})
      if (const auto i = best_at(k, price))
        add(*i);
}

uint32_t master::price(const lp_solution& at, size_t phase, size_t most) {
  const auto dual = [&](lp_row_id row) { return at.duals[row.value]; };
  std::vector<double> of_pool(asked_.pools.size(), 0.0);
  std::vector<char> runs(asked_.pools.size(), 1);
  for (size_t p = 0; p < of_pool.size(); ++p) {
    const pool& x = asked_.pools[p];
    if (ranges_.empty())
      of_pool[p] =
        (dual(hosting_row_[x.of]) + dual(kind_row_[asked_.hostings[x.of].kind]))
        / busy_[p];
    else if (pool_row_[p])
      of_pool[p] = dual(*pool_row_[p]);
    else
      runs[p] = 0;
  }
  uint32_t added = 0;
  std::vector<std::pair<double, uint32_t>> good;
  for (size_t k = 0; k < of_class_.size(); ++k) {
    good.clear();
    const double any = dual(class_row_[k]);
    const double floor = floor_row_[k] ? dual(*floor_row_[k]) : 0;
    const double fresh = fresh_row_[k] ? dual(*fresh_row_[k]) : 0;
    for (const uint32_t i : of_class_[k]) {
      if (in_[i] != 0)
        continue;
      const column& c = asked_.columns[i];
      double gain = (phase == 2 && !c.mix ? c.quality : 0) - any
                  - floor * c.quality - (c.fresh ? fresh : 0);
      bool there = true;
      for (const pool_work& w : c.works()) {
        gain -= of_pool[w.pool] * w.seconds;
        there = there && runs[w.pool] != 0;
      }
      if (c.mix)
        for (size_t j = 0; j < mix_rows_[*c.mix].size(); ++j) {
          const mix_segment& s = asked_.mixes[*c.mix].segments[j];
          gain += dual(mix_rows_[*c.mix][j]) * (s.light * c.light + s.all);
        }
      if (there && gain > noise)
        good.emplace_back(-gain, i);
    }
    const size_t n = std::min(most, good.size());
    // A class uses a column at most at its rate.
    if (!good.empty())
      bound_[phase] -= asked_.classes[k].rate
                     * std::min_element(good.begin(), good.end())->first;
    std::partial_sort(
      good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n), good.end());
    for (size_t i = 0; i < n; ++i)
      added += add(good[i].second) ? 1u : 0u;
  }
  return added;
}

core::result<lp_solution> master::solve_phase(size_t phase, uint64_t effort,
                                              const lp_basis* from) {
  lp_limits limits;
  limits.effort = effort;
  for (size_t i = 0; i < lp_.columns.size(); ++i)
    lp_.columns[i].gain = gains_[phase][i];
  ++solves_;
  auto at = planning::solve(lp_, limits, from);
  if (at && at->has_values())
    return at;
  // The previous phases were met only up to rounding: the program is solved
  // again from the start, with slightly more room.
  for (size_t i = 0; i < phase; ++i)
    lp_.rows[cap_[i]->value].bound += 1e-6 * scale_;
  ++solves_;
  at = planning::solve(lp_, limits);
  if (at && !at->has_values())
    return core::fail(core::ec::unavailable,
                      "no plan over {} classes and {} pools: the solver says "
                      "{}",
                      asked_.classes.size(), asked_.pools.size(),
                      to_string(at->status));
  return at;
}

core::result<bool> master::solve(uint32_t rounds, uint64_t effort, double gap,
                                 const phase_values* than, double noisy) {
  std::optional<lp_basis> basis;
  for (size_t phase = 0; phase < 3; ++phase) {
    for (uint32_t round = 0;; ++round) {
      auto at = solve_phase(phase, effort, basis ? &*basis : nullptr);
      if (!at)
        return std::move(at).why();
      value_[phase] = bound_[phase] = at->objective;
      basis = at->basis;
      at_[phase] = std::move(*at);
      // If nothing is refused or missing, no column improves the phase.
      if (phase < 2 && value_[phase] > -noise * scale_) {
        bound_[phase] = 0;
        break;
      }
      // The first call only computes the distance from the bound, the second
      // one adds useful columns.
      const bool last = round >= rounds;
      price(at_[phase], phase, 0);
      if (last
          || bound_[phase] - value_[phase]
               <= gap * std::max(std::abs(value_[phase]), 1e-9))
        break;
      bound_[phase] = value_[phase];
      if (price(at_[phase], phase, columns_of_a_round) == 0)
        break;
    }
    if (phase < 2)
      lp_.rows[cap_[phase]->value].bound =
        std::max(0.0, -value_[phase]) + 1e-8 * scale_;
    if (than == nullptr)
      continue;
    const double gain =
      bound_[phase]
      - std::array{-than->refused, -than->shortfall, than->gain}[phase];
    if (gain < -noisy || (phase == 2 && gain <= noisy))
      return false;
    // The values are ahead whatever the later phases add.
    if (gain > noisy)
      than = nullptr;
  }
  return true;
}

decision master::found() const {
  decision out;
  const auto& x = at_[2].values;
  out.taken.assign(asked_.columns.size(), 0.0);
  // The last round may have added columns that are not part of a solution.
  for (size_t i = 0; i < answers_.size() && first_answer_ + i < x.size(); ++i)
    out.taken[answers_[i]] = std::max(0.0, x[first_answer_ + i]);
  for (const lp_column_id u : refused_)
    out.refused.push_back(std::max(0.0, x[u.value]));
  out.values = {std::max(0.0, -value_[0]), std::max(0.0, -value_[1]),
                value_[2]};
  out.bound = {std::max(0.0, -bound_[0]), std::max(0.0, -bound_[1]), bound_[2]};
  const double noisy = noise * scale_;
  const size_t phase = out.values.refused > noisy   ? 0
                     : out.values.shortfall > noisy ? 1
                                                    : 2;
  for (const lp_row_id row : kind_row_)
    out.worth.push_back(at_[phase].duals[row.value]);
  out.price.assign(asked_.pools.size(), 0.0);
  for (size_t p = 0; p < pool_row_.size(); ++p)
    if (pool_row_[p])
      out.price[p] = std::max(0.0, at_[2].duals[pool_row_[p]->value]);
  out.solves = solves_;
  out.generated = static_cast<uint32_t>(answers_.size());
  return out;
}

std::vector<double> master::devices() const {
  const auto& x = at_[2].values;
  std::vector<double> out(asked_.pools.size(), 0.0);
  for (size_t i = 0; i < answers_.size() && first_answer_ + i < x.size(); ++i)
    for (const pool_work& w : asked_.columns[answers_[i]].works())
      out[w.pool] +=
        std::max(0.0, x[first_answer_ + i]) * w.seconds / busy_[w.pool];
  // Loading devices are divided among the pools of the hosting in proportion.
  std::vector<double> used(asked_.hostings.size(), 0.0);
  for (size_t p = 0; p < out.size(); ++p)
    used[asked_.pools[p].of] += out[p];
  for (size_t p = 0; p < out.size(); ++p) {
    const uint32_t h = asked_.pools[p].of;
    if (used[h] > 0)
      out[p] *= 1 + x[load_[h].value] * load_part(h) / used[h];
  }
  return out;
}

std::vector<double> master::work() const {
  const auto& x = at_[2].values;
  std::vector<double> out(asked_.pools.size(), 0.0);
  for (size_t i = 0; i < answers_.size() && first_answer_ + i < x.size(); ++i)
    for (const pool_work& w : asked_.columns[answers_[i]].works())
      out[w.pool] += std::max(0.0, x[first_answer_ + i]) * w.seconds;
  for (size_t p = 0; p < out.size(); ++p)
    if (pool_row_[p])
      out[p] += x[load_[p].value] * busy_[p] * load_part(asked_.pools[p].of);
  return out;
}

std::vector<double> master::worth_of_pools() const {
  const double noisy = noise * scale_;
  const size_t phase = -value_[0] > noisy ? 0 : -value_[1] > noisy ? 1 : 2;
  const auto& duals = at_[phase].duals;
  std::vector<double> out(asked_.pools.size(), 0.0);
  for (size_t p = 0; p < out.size(); ++p) {
    const uint32_t h = asked_.pools[p].of;
    if (ranges_.empty())
      out[p] = duals[hosting_row_[h].value]
             + duals[kind_row_[asked_.hostings[h].kind].value];
    else if (pool_row_[p])
      out[p] = duals[pool_row_[p]->value] * busy_[p];
  }
  return out;
}

} // namespace atelier::planning::unified
