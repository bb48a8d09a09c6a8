// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/step_batch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace atelier::planning {

namespace {

// How much the last run changes what a step is taken to cost.
constexpr double newest_share = 0.25;

} // namespace

step_batch::step_batch(uint32_t max_batch, joining join, uint32_t turn_steps)
  : max_batch_(join == joining::single ? 1 : std::max(max_batch, 1u)),
    join_(join),
    turn_steps_(std::max(turn_steps, 1u)) {}

void step_batch::change(uint32_t max_batch, joining join) {
  max_batch_ = join == joining::single ? 1 : std::max(max_batch, 1u);
  join_ = join;
}

bool step_batch::add(const batch_row& row) {
  if (row.steps_left == 0 || find(row.who) != nullptr)
    return false;
  entries_.push_back({row});
  if (std::none_of(turns_.begin(), turns_.end(),
                   [&](const turn& x) { return x.shape == row.shape; })) {
    turns_.push_back({row.shape});
    if (turns_.size() == 1)
      turns_.front().credit = quantum();
  }
  return true;
}

bool step_batch::remove(core::ticket who) {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(),
                 [&](const entry& e) { return e.row.who == who; });
  if (at == entries_.end())
    return false;
  // Rows that leave between steps use up their turn too: else a stream of
  // cancelled ones could keep it.
  if (at->joined != 0 && at->row.shape == turns_.front().shape)
    charge(turns_.front(), 1, {});
  take_out(at);
  return true;
}

step_choice step_batch::next() {
  take_turns();
  step_choice chosen;
  if (turns_.empty())
    return chosen;
  std::vector<entry*> rows = running();
  if (join_ == joining::step || rows.empty()) {
    const auto seats = max_batch_ - std::min<size_t>(rows.size(), max_batch_);
    for (entry* e : let_join(seats)) {
      chosen.joining.push_back(e->row.who);
      rows.push_back(e);
    }
  }
  chosen.steps = rows.front()->row.steps_left;
  for (const entry* e : rows) {
    chosen.rows.push_back(e->row.who);
    chosen.steps = std::min(chosen.steps, e->row.steps_left);
  }
  ends_with_turn_ = turns_.size() > 1;
  if (ends_with_turn_ && join_ == joining::step) {
    const auto& now = turns_.front();
    // Beside measured ones one step is enough to find out.
    const bool unlike = now.cost == 0
                     && std::any_of(turns_.begin(), turns_.end(),
                                    [](const turn& x) { return x.cost > 0; });
    const auto left = unlike ? 1 : std::ceil(now.credit / cost_of(now));
    if (left < chosen.steps)
      chosen.steps = std::max(1u, static_cast<uint32_t>(std::max(left, 0.0)));
  }
  return chosen;
}

std::vector<core::ticket> step_batch::ran(const std::vector<core::ticket>& rows,
                                          uint32_t steps, core::timespan took) {
  std::vector<core::ticket> ended;
  bool of_turn = false;
  for (const core::ticket& who : rows) {
    const auto at =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const entry& e) { return e.row.who == who; });
    if (at == entries_.end() || at->joined == 0)
      continue;
    if (!of_turn && at->row.shape == turns_.front().shape) {
      of_turn = true;
      charge(turns_.front(), steps, took);
    }
    at->row.steps_left -= std::min(at->row.steps_left, steps);
    if (at->row.steps_left == 0) {
      ended.push_back(who);
      take_out(at);
    }
  }
  return ended;
}

bool step_batch::wants_boundary() const {
  if (turns_.empty())
    return false;
  if (!anything_runs())
    return true;
  if (join_ != joining::step)
    return false;
  if (turns_.size() > 1 && !ends_with_turn_)
    return true;
  size_t run = 0;
  bool waits = false;
  for (const entry& e : entries_) {
    if (e.row.shape != turns_.front().shape)
      continue;
    run += e.joined != 0 ? 1 : 0;
    waits = waits || e.joined == 0;
  }
  return waits && run < max_batch_;
}

size_t step_batch::size() const {
  return entries_.size();
}

const batch_row* step_batch::find(core::ticket who) const {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(),
                 [&](const entry& e) { return e.row.who == who; });
  return at == entries_.end() ? nullptr : &at->row;
}

// Arrival decides where this does not: callers sort stably.
bool step_batch::goes_before(const entry& a, const entry& b) {
  const bool a_first = a.overtaken >= most_overtaken;
  const bool b_first = b.overtaken >= most_overtaken;
  if (a_first || b_first)
    return a_first && !b_first;
  if (a.row.prio != b.row.prio)
    return a.row.prio > b.row.prio;
  return a.row.deadline < b.row.deadline;
}

bool step_batch::anything_runs() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const entry& e) { return e.joined != 0; });
}

void step_batch::take_out(std::vector<entry>::iterator at) {
  const batch_shape shape = at->row.shape;
  entries_.erase(at);
  for (const entry& e : entries_)
    if (e.row.shape == shape)
      return;
  const bool had_turn = turns_.front().shape == shape;
  std::erase_if(turns_, [&](const turn& x) { return x.shape == shape; });
  // The next shape starts a turn of its own.
  if (had_turn && !turns_.empty())
    turns_.front().credit += quantum();
}

double step_batch::cheapest() const {
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& x : turns_)
    if (x.cost > 0)
      least = std::min(least, x.cost);
  return std::isfinite(least) ? least : 1;
}

double step_batch::cost_of(const turn& x) const {
  return x.cost > 0 ? x.cost : cheapest();
}

double step_batch::quantum() const {
  return turn_steps_ * cheapest();
}

void step_batch::charge(turn& x, uint32_t steps, core::timespan took) {
  const auto spent = static_cast<double>(took.count());
  if (spent > 0 && steps > 0) {
    const auto each = spent / steps;
    x.cost = x.cost > 0 ? x.cost + newest_share * (each - x.cost) : each;
  }
  x.credit -= spent > 0 ? spent : steps * cost_of(x);
  if (join_ != joining::step)
    x.credit = std::min(x.credit, 0.0);
  // Alone it takes nothing from anybody.
  if (turns_.size() == 1)
    x.credit = std::max(x.credit, 0.0);
}

// Gives the turn to the next shape where that of the first one is used up. A
// shape alone may go on; its turn counts as used up when another one comes.
void step_batch::take_turns() {
  if (turns_.size() < 2 || turns_.front().credit > 0)
    return;
  if (join_ != joining::step && anything_runs())
    return;
  // Whole rounds in which all only pay what they owe.
  auto rounds = std::numeric_limits<double>::infinity();
  for (const auto& x : turns_)
    rounds = std::min(rounds, std::floor(-x.credit / quantum()));
  if (rounds > 0)
    for (auto& x : turns_)
      x.credit += rounds * quantum();
  do {
    std::rotate(turns_.begin(), turns_.begin() + 1, turns_.end());
    turns_.front().credit += quantum();
  } while (turns_.front().credit <= 0);
}

// Those of the shape whose turn it is, in order of joining.
std::vector<step_batch::entry*> step_batch::running() {
  std::vector<entry*> rows;
  for (entry& e : entries_)
    if (e.joined != 0 && e.row.shape == turns_.front().shape)
      rows.push_back(&e);
  std::sort(rows.begin(), rows.end(), [](const entry* a, const entry* b) {
    return a->joined < b->joined;
  });
  return rows;
}

// Lets the first of those that wait take the seats, and counts for the others
// how many that came later did.
std::vector<step_batch::entry*> step_batch::let_join(size_t seats) {
  std::vector<entry*> waits;
  for (entry& e : entries_)
    if (e.joined == 0 && e.row.shape == turns_.front().shape)
      waits.push_back(&e);
  std::stable_sort(
    waits.begin(), waits.end(),
    [](const entry* a, const entry* b) { return goes_before(*a, *b); });
  const size_t joining = std::min(seats, waits.size());
  for (size_t i = 0; i < joining; ++i)
    waits[i]->joined = ++joins_;
  for (size_t i = joining; i < waits.size(); ++i)
    for (size_t j = 0; j < joining; ++j)
      // Entries lie in order of arrival.
      if (waits[j] > waits[i])
        ++waits[i]->overtaken;
  waits.resize(joining);
  return waits;
}

} // namespace atelier::planning
