// SPDX-License-Identifier: Apache-2.0

// This file is long because turns, passengers and bounds share one table of
// rows.

#include <atelier/planning/step_batch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace atelier::planning {

namespace {

// The weight of the last run in the estimated cost of a step.
constexpr double newest_share = 0.25;

// The fraction of a step's time that others' rows may add and still ride along.
constexpr double next_to_nothing = 0.25;

// The fraction by which a row's time may exceed the least, to keep batches
// small.
constexpr double as_good = 0.1;

// The numbers of tenants and of owners without rows that are remembered.
constexpr size_t most_departed = 256;

// The number of shapes whose times by number of rows are remembered.
constexpr size_t most_shapes = 64;

double followed(double before, double newest) {
  return before > 0 ? before + newest_share * (newest - before) : newest;
}

} // namespace

step_batch::step_batch(uint32_t max_batch, joining join, uint32_t turn_steps)
  : max_batch_(join == joining::single ? 1 : std::max(max_batch, 1u)),
    join_(join),
    turn_steps_(std::max(turn_steps, 1u)) {}

void step_batch::change(uint32_t max_batch, joining join) {
  max_batch_ = join == joining::single ? 1 : std::max(max_batch, 1u);
  const bool others = (join == joining::step) != (join_ == joining::step);
  join_ = join;
  if (!others)
    return;
  turns_.clear();
  accounts_.clear();
  departed_.clear();
  floor_ = 0;
  for (const entry& e : entries_)
    enter(e.row);
  left_ = quantum();
}

bool step_batch::add(const batch_row& row) {
  if (row.steps_left == 0 || find(row.ticket) != nullptr)
    return false;
  entries_.push_back({row});
  const bool first = turns_.empty();
  enter(row);
  if (first)
    left_ = quantum();
  return true;
}

// Makes the row's owner take turns, and its tenant have an account.
void step_batch::enter(const batch_row& row) {
  const auto of = owner_of(row);
  raise_floors();
  const bool comes = !has_rows(of.tenant);
  account& own = account_of(of.tenant);
  if (comes)
    own.used = std::max(own.used, floor_);
  // A batch of all tenants has no share.
  if (join_ == joining::step)
    own.share = std::max(row.share, 1u);
  if (turn_of(of) != nullptr)
    return;
  double used = own.floor;
  for (const departure& x : departed_)
    if (x.of == of)
      used = std::max(used, x.used);
  std::erase_if(departed_, [&](const departure& x) { return x.of == of; });
  turns_.push_back({of, used, step_of(row.shape, 1)});
}

// Raises the times with which tenants and shapes begin that arrive at half the
// speed at which those with rows rise on average. Otherwise new ones that come
// without a break would all begin before one that had more time.
void step_batch::advance(double nanoseconds, core::tenant_id whose) {
  double shares = 0;
  double shapes = 0;
  for (const account& x : accounts_)
    shares += has_rows(x.whose) ? x.share : 0;
  for (const turn& x : turns_)
    shapes += x.of.tenant == whose ? 1 : 0;
  floor_ += nanoseconds / (2 * shares);
  account_of(whose).floor += nanoseconds / (2 * shapes);
}

// Raises these times to the least of those with rows.
void step_batch::raise_floors() {
  auto least = std::numeric_limits<double>::infinity();
  for (account& own : accounts_) {
    auto least_shape = std::numeric_limits<double>::infinity();
    for (const turn& x : turns_)
      if (x.of.tenant == own.whose)
        least_shape = std::min(least_shape, x.used);
    if (std::isinf(least_shape))
      continue;
    own.floor = std::max(own.floor, least_shape);
    least = std::min(least, own.used);
  }
  if (std::isfinite(least))
    floor_ = std::max(floor_, least);
}

// Forgets owners and tenants without rows that had no more than those that
// arrive begin with, and those that had least if there are too many.
void step_batch::forget_departures() {
  raise_floors();
  std::erase_if(departed_, [&](const departure& gone) {
    return !has_rows(gone.of.tenant)
        || gone.used <= account_of(gone.of.tenant).floor;
  });
  std::erase_if(accounts_, [&](const account& x) {
    return !has_rows(x.whose) && (turns_.empty() || x.used <= floor_);
  });
  if (turns_.empty())
    floor_ = 0;
  if (departed_.size() > most_departed)
    departed_.erase(std::min_element(
      departed_.begin(), departed_.end(),
      [](const auto& a, const auto& b) { return a.used < b.used; }));
  const auto gone = static_cast<size_t>(
    std::count_if(accounts_.begin(), accounts_.end(),
                  [&](const account& x) { return !has_rows(x.whose); }));
  if (gone > most_departed)
    accounts_.erase(
      std::min_element(accounts_.begin(), accounts_.end(),
                       [&](const account& a, const account& b) {
                         return std::pair{has_rows(a.whose), a.used}
                              < std::pair{has_rows(b.whose), b.used};
                       }));
}

bool step_batch::has_rows(core::tenant_id whose) const {
  return std::any_of(turns_.begin(), turns_.end(),
                     [&](const turn& x) { return x.of.tenant == whose; });
}

step_batch::account& step_batch::account_of(core::tenant_id whose) {
  const auto at =
    std::find_if(accounts_.begin(), accounts_.end(),
                 [&](const account& x) { return x.whose == whose; });
  return at == accounts_.end() ? accounts_.emplace_back(account{whose}) : *at;
}

const step_batch::account& step_batch::account_of(core::tenant_id whose) const {
  return *std::find_if(accounts_.begin(), accounts_.end(),
                       [&](const account& x) { return x.whose == whose; });
}

bool step_batch::remove(core::ticket who) {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(),
                 [&](const entry& e) { return e.row.ticket == who; });
  if (at == entries_.end())
    return false;
  // Rows that leave between steps also use up their turn: otherwise a stream of
  // cancelled rows could keep it.
  if (at->joined != 0 && owner_of(at->row) == turns_.front().of)
    charge(turns_.front(), 1, {});
  take_out(at);
  return true;
}

step_choice step_batch::next() {
  take_turns();
  step_choice chosen;
  if (turns_.empty())
    return chosen;
  if (has_company())
    company_ = company_choices;
  else if (company_ > 0)
    --company_;
  note_favour();
  const owner& first = turns_.front().of;
  count_choice(first);
  std::vector<entry*> rows = running(first);
  const auto there = rows_of(first);
  const auto bound = std::min(row_bound(first.shape, there),
                              favoured_bound(first.shape, first.tenant, there));
  rows.resize(std::min(rows.size(), bound));
  if (join_ == joining::step || rows.empty())
    add_rows(first, bound, chosen, rows);
  if (join_ == joining::step)
    add_passengers(chosen, rows);
  chosen.steps = rows.front()->row.steps_left;
  for (const entry* e : rows) {
    chosen.rows.push_back(e->row.ticket);
    chosen.steps = std::min(chosen.steps, e->row.steps_left);
  }
  ends_with_turn_ = turns_.size() > 1;
  ends_at_ = std::min(left_, until_overtaken());
  if (ends_with_turn_ && join_ == joining::step) {
    const auto& now = turns_.front();
    // If other turns are measured, one step is enough to measure this one.
    const bool unlike = now.cost == 0
                     && std::any_of(turns_.begin(), turns_.end(),
                                    [](const turn& x) { return x.cost > 0; });
    const auto left = unlike ? 1 : std::ceil(ends_at_ / cost_of(now));
    if (left < chosen.steps)
      chosen.steps = std::max(1u, static_cast<uint32_t>(std::max(left, 0.0)));
  }
  return chosen;
}

bool step_batch::set_left(core::ticket who, uint32_t steps) {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(),
                 [&](const entry& e) { return e.row.ticket == who; });
  if (at == entries_.end())
    return false;
  at->row.steps_left = std::max(1u, steps);
  return true;
}

std::vector<core::ticket> step_batch::ran(const std::vector<core::ticket>& rows,
                                          uint32_t steps, core::timespan took) {
  std::vector<core::ticket> ended;
  std::vector<std::pair<owner, size_t>> of_owner;
  for (const core::ticket& who : rows) {
    const auto at =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const entry& e) { return e.row.ticket == who; });
    if (at == entries_.end() || at->joined == 0)
      continue;
    const auto of = owner_of(at->row);
    const auto its = std::find_if(of_owner.begin(), of_owner.end(),
                                  [&](const auto& x) { return x.first == of; });
    if (its == of_owner.end())
      of_owner.emplace_back(of, 1);
    else
      ++its->second;
  }
  size_t ran = 0;
  for (const auto& x : of_owner)
    ran += x.second;
  if (!of_owner.empty())
    learn(of_owner.front().first.shape, ran, steps, took);
  for (const auto& [of, n] : of_owner)
    charge(*turn_of(of), steps,
           core::timespan{took.count() * static_cast<int64_t>(n)
                          / static_cast<int64_t>(ran)});
  for (const core::ticket& who : rows) {
    const auto at =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const entry& e) { return e.row.ticket == who; });
    if (at == entries_.end() || at->joined == 0)
      continue;
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
  if (turns_.size() > 1 && (!ends_with_turn_ || until_overtaken() < ends_at_))
    return true;
  size_t run = 0;
  bool waits = false;
  for (const entry& e : entries_) {
    if (owner_of(e.row) != turns_.front().of)
      continue;
    run += e.joined != 0 ? 1 : 0;
    waits = waits || e.joined == 0;
  }
  const owner& first = turns_.front().of;
  const auto there = rows_of(first);
  return waits
      && run < std::min(row_bound(first.shape, there),
                        favoured_bound(first.shape, first.tenant, there));
}

size_t step_batch::size() const {
  return entries_.size();
}

const batch_row* step_batch::find(core::ticket who) const {
  const auto at =
    std::find_if(entries_.begin(), entries_.end(),
                 [&](const entry& e) { return e.row.ticket == who; });
  return at == entries_.end() ? nullptr : &at->row;
}

// Arrival decides between rows that this ranks as equal: callers sort stably.
bool step_batch::goes_before(const entry& a, const entry& b) {
  const bool a_first = a.overtaken >= most_overtaken;
  const bool b_first = b.overtaken >= most_overtaken;
  if (a_first || b_first)
    return a_first && !b_first;
  if (a.row.prio != b.row.prio)
    return a.row.prio > b.row.prio;
  return a.row.deadline < b.row.deadline;
}

step_batch::owner step_batch::owner_of(const batch_row& x) const {
  if (join_ == joining::step)
    return {x.shape, {}, x.tenant};
  return {x.shape, x.variant, {}};
}

step_batch::turn* step_batch::turn_of(const owner& x) {
  const auto at = std::find_if(turns_.begin(), turns_.end(),
                               [&](const turn& t) { return t.of == x; });
  return at == turns_.end() ? nullptr : &*at;
}

bool step_batch::anything_runs() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const entry& e) { return e.joined != 0; });
}

void step_batch::take_out(std::vector<entry>::iterator at) {
  const owner of = owner_of(at->row);
  entries_.erase(at);
  for (const entry& e : entries_)
    if (owner_of(e.row) == of)
      return;
  const bool had_turn = turns_.front().of == of;
  departed_.push_back({of, turn_of(of)->used});
  std::erase_if(turns_, [&](const turn& x) { return x.of == of; });
  forget_departures();
  if (!turns_.empty() && had_turn)
    begin_turn();
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

share_lead step_batch::lead() const {
  auto least = std::numeric_limits<double>::infinity();
  for (const turn& x : turns_)
    least = std::min(least, account_of(x.of.tenant).share);
  return {quantum(), least};
}

// The nanoseconds after which a tenant with a larger share than that of the
// turn has the better standing; infinity without such a tenant.
double step_batch::until_overtaken() const {
  auto least = std::numeric_limits<double>::infinity();
  const account& first = account_of(turns_.front().of.tenant);
  const share_lead led = lead();
  const double own = led.standing(first.used, first.share);
  for (const turn& x : turns_)
    if (const account& other = account_of(x.of.tenant);
        other.share > first.share)
      least = std::min(least, (led.standing(other.used, other.share) - own)
                                * first.share);
  return std::max(least, 0.0);
}

void step_batch::charge(turn& x, uint32_t steps, core::timespan took) {
  const auto spent = static_cast<double>(took.count());
  if (spent > 0 && steps > 0) {
    x.cost = followed(x.cost, spent / steps);
  }
  const double more = spent > 0 ? spent : steps * cost_of(x);
  x.used += more;
  account& own = account_of(x.of.tenant);
  own.used += more / own.share;
  advance(more, x.of.tenant);
  if (x.of == turns_.front().of)
    left_ = join_ == joining::step ? left_ - more : 0;
}

// Gives the turn to the next owner if the turn of the first one is used up. An
// owner that is the only one may continue; its turn counts as used up when
// another one arrives.
void step_batch::take_turns() {
  if (turns_.size() < 2 || (left_ > 0 && until_overtaken() > 0))
    return;
  if (join_ != joining::step && !running(turns_.front().of).empty())
    return;
  std::rotate(turns_.begin(), turns_.begin() + 1, turns_.end());
  forget_departures();
  begin_turn();
}

// Moves the owner with the best standing to the front; of equals, the one whose
// last turn is the longest ago.
void step_batch::begin_turn() {
  const share_lead led = lead();
  const auto standing = [&](const turn& x) {
    const account& own = account_of(x.of.tenant);
    return led.standing(own.used, own.share);
  };
  const auto next = std::min_element(
    turns_.begin(), turns_.end(), [&](const turn& a, const turn& b) {
      const double one = standing(a);
      const double other = standing(b);
      if (one != other)
        return one < other;
      return a.of.tenant == b.of.tenant && a.used < b.used;
    });
  std::rotate(turns_.begin(), next, next + 1);
  left_ = led.turn;
}

// Returns the running rows of the owner, in order of joining.
std::vector<step_batch::entry*> step_batch::running(const owner& of) {
  std::vector<entry*> rows;
  for (entry& e : entries_)
    if (e.joined != 0 && owner_of(e.row) == of)
      rows.push_back(&e);
  std::sort(rows.begin(), rows.end(), [](const entry* a, const entry* b) {
    return a->joined < b->joined;
  });
  return rows;
}

// Lets the first waiting rows take the seats, and counts for each of the others
// how many later rows overtook it.
std::vector<step_batch::entry*> step_batch::let_join(const owner& of,
                                                     size_t seats) {
  std::vector<entry*> waits;
  for (entry& e : entries_)
    if (e.joined == 0 && owner_of(e.row) == of)
      waits.push_back(&e);
  std::stable_sort(
    waits.begin(), waits.end(),
    [](const entry* a, const entry* b) { return goes_before(*a, *b); });
  const size_t joining = std::min(seats, waits.size());
  for (size_t i = 0; i < joining; ++i)
    waits[i]->joined = ++joins_;
  for (size_t i = joining; i < waits.size(); ++i)
    for (size_t j = 0; j < joining; ++j)
      // Entries are in order of arrival.
      if (waits[j] > waits[i])
        ++waits[i]->overtaken;
  waits.resize(joining);
  return waits;
}

// Lets waiting rows take the seats that are left of `most`.
void step_batch::add_rows(const owner& of, size_t most, step_choice& to,
                          std::vector<entry*>& rows) {
  const auto seats = most - std::min(rows.size(), most);
  for (entry* e : let_join(of, seats)) {
    to.joining.push_back(e->row.ticket);
    rows.push_back(e);
  }
}

// Adds others' rows of the shape in the seats that the turn's owner leaves
// free.
void step_batch::add_passengers(step_choice& to, std::vector<entry*>& rows) {
  const auto own = rows.size();
  const owner& first = turns_.front().of;
  std::vector<owner> few;
  std::vector<owner> many;
  size_t of_few = 0;
  size_t of_many = 0;
  for (const turn& x : turns_) {
    if (x.of.shape != first.shape || x.of == first)
      continue;
    const auto n = rows_of(x.of);
    const bool as_few =
      static_cast<double>(n) * account_of(first.tenant).share
      <= static_cast<double>(own) * account_of(x.of.tenant).share;
    (as_few ? few : many).push_back(x.of);
    (as_few ? of_few : of_many) += n;
  }
  const auto most =
    favoured_bound(first.shape, first.tenant, own + of_few + of_many);
  const auto with_few = std::min<size_t>(own + of_few, most);
  const auto with_all = std::min<size_t>(with_few + of_many, most);
  if (rides_free(first.shape, with_few, with_all))
    few.insert(few.end(), many.begin(), many.end());
  for (const owner& x : few) {
    for (entry* e : running(x))
      if (rows.size() < most)
        rows.push_back(e);
    add_rows(x, most, to, rows);
  }
}

// Batch sizes that were never tried are tried, the smaller one first.
bool step_batch::rides_free(const batch_shape& of, size_t own,
                            size_t all) const {
  if (all <= own)
    return false;
  const double alone = step_of(of, own);
  // It is 0 if that size was never tried.
  return alone > 0 && step_of(of, all) <= (1 + next_to_nothing) * alone;
}

bool step_batch::has_company() const {
  return std::any_of(turns_.begin(), turns_.end(), [&](const turn& x) {
    return x.of.tenant != turns_.front().of.tenant;
  });
}

void step_batch::note_favour() {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const turn& x : turns_) {
    const double share = account_of(x.of.tenant).share;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  if (most > least) {
    favour_ = company_choices;
    favoured_share_ = most;
  } else if (favour_ > 0) {
    --favour_;
  }
}

size_t step_batch::rows_of(const owner& of) const {
  return static_cast<size_t>(
    std::count_if(entries_.begin(), entries_.end(),
                  [&](const entry& e) { return owner_of(e.row) == of; }));
}

// Sizes are halved, starting with the largest. A size that was not tried lately
// is tried, so that all of them are measured after a few choices; passengers
// may enlarge the batch.
size_t step_batch::row_bound(const batch_shape& of, size_t there) const {
  if (join_ != joining::step || company_ == 0)
    return max_batch_;
  auto least = std::numeric_limits<double>::infinity();
  std::vector<std::pair<size_t, double>> by_size;
  for (size_t n = std::min<size_t>(max_batch_, there); n > 0; n /= 2) {
    const double each = time_per_row(of, n);
    if (each == 0)
      return n;
    by_size.emplace_back(n, each);
    least = std::min(least, each);
  }
  for (auto x = by_size.rbegin(); x != by_size.rend(); ++x)
    if (x->second <= (1 + as_good) * least)
      return x->first;
  return max_batch_;
}

// Sizes are doubled, and tried as in row_bound, the single row first.
size_t step_batch::favoured_bound(const batch_shape& of, core::tenant_id whose,
                                  size_t there) const {
  if (join_ != joining::step || favour_ == 0
      || account_of(whose).share >= favoured_share_)
    return max_batch_;
  const double one = time_per_row(of, 1);
  const auto most = std::min<size_t>(max_batch_, there);
  size_t bound = 1;
  while (one > 0 && bound < most) {
    const auto next = std::min(2 * bound, most);
    const double each = time_per_row(of, next);
    if (each == 0)
      return next;
    if (static_cast<double>(next) * each > 2 * one)
      break;
    bound = next;
  }
  return bound;
}

void step_batch::count_choice(const owner& of) {
  if (favour_ > 0 && account_of(of.tenant).share >= favoured_share_)
    return;
  if (const auto at = step_of_.find(of.shape); at != step_of_.end())
    ++at->second.choices;
}

double step_batch::time_per_row(const batch_shape& of, size_t rows) const {
  const auto at = step_of_.find(of);
  if (at == step_of_.end())
    return 0;
  const shape_times& known = at->second;
  for (auto found = known.by_rows.lower_bound(rows);
       found != known.by_rows.end() && found->first < 2 * rows; ++found)
    if (known.choices - found->second.at <= measured_choices)
      return found->second.took / static_cast<double>(found->first);
  return 0;
}

double step_batch::step_of(const batch_shape& of, size_t rows) const {
  const auto at = step_of_.find(of);
  if (at == step_of_.end())
    return 0;
  const auto found = at->second.by_rows.find(rows);
  return found == at->second.by_rows.end() ? 0 : found->second.took;
}

void step_batch::learn(const batch_shape& of, size_t rows, uint32_t steps,
                       core::timespan took) {
  if (took.count() <= 0 || steps == 0 || rows == 0)
    return;
  if (step_of_.size() >= most_shapes && !step_of_.contains(of))
    step_of_.clear();
  shape_times& known = step_of_[of];
  measured& x = known.by_rows[rows];
  const bool recent = known.choices - x.at <= measured_choices;
  x.took =
    followed(recent ? x.took : 0, static_cast<double>(took.count()) / steps);
  x.at = known.choices;
}

} // namespace atelier::planning
