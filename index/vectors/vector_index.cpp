// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/result.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/detail/build_thread.hpp>
#include <atelier/index/vectors/detail/graph.hpp>
#include <atelier/index/vectors/detail/segment.hpp>
#include <atelier/index/vectors/vector_index.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace atelier::index {

namespace {

// A graph is built anew if more than one in `gone_share` of its entries is
// gone.
constexpr size_t gone_share = 4;

// A segment is tidied up if more of its entries are gone than this, and than
// remain.
constexpr size_t gone_at_least = 64;

// If few entries serve, a graph is at first asked for no more than this many
// times the first number of entries: comparing those that serve takes less
// time.
constexpr size_t most_asked = 16;

// The work of a search of a graph.
struct linked_work {
  size_t compared = 0;
  size_t visited = 0;
};

// Returns the number of compared entries.
template <class Entries>
size_t consider_all(const Entries& all, std::span<const float> unit,
                    const planning::needed_work& needs,
                    std::vector<near_vector>& to) {
  const bool all_serve = takes_all(needs);
  size_t compared = 0;
  for (const auto& x : all) {
    if (!all_serve && !serves(x->holds, needs))
      continue;
    ++compared;
    if (const auto likeness = similarity(unit, x->unit);
        likeness > 0 && !x->gone.load(std::memory_order_acquire))
      to.push_back({x->number, likeness});
  }
  return compared;
}

// Returns how many entries a search that needs something may look at in a graph
// of `size`.
size_t most_visited(size_t most, size_t first, size_t size) {
  const auto even =
    std::sqrt(2 * static_cast<double>(most) * static_cast<double>(size));
  return std::max(most_asked * first, static_cast<size_t>(even));
}

size_t count_serving(const detail::graph& in,
                     const planning::needed_work& needs) {
  size_t out = 0;
  for (const auto& x : in.groups())
    if (serves(x.held, needs))
      out += x.entries.size();
  return out;
}

// Adds the nearest entries of a graph. If entries that are gone or do not serve
// take the places of others, requests more entries. If that is not enough,
// compares all entries that serve, or requests once more if they are too many.
linked_work consider_linked(const detail::graph& of,
                            std::span<const float> unit, size_t most,
                            size_t least, size_t cheap,
                            const planning::needed_work& needs,
                            std::vector<near_vector>& to) {
  const auto size = of.entries().size();
  const auto first = std::max(least, 2 * std::min(most, size));
  const bool all_serve = takes_all(needs);
  linked_work done;
  const auto finds_enough = [&](size_t ask) {
    auto linked = of.near(unit.data(), ask);
    if (!linked)
      return false;
    done.compared += linked->size();
    to.clear();
    return detail::add_nearest(*std::move(linked), unit, most, needs, to);
  };
  const auto end =
    all_serve ? size / 4 : std::min(size / 4, most_asked * first + 1);
  for (auto ask = first; ask < end; ask *= 4)
    if (finds_enough(ask))
      return done;
  if (all_serve) {
    to.clear();
    done.visited = size;
    done.compared += consider_all(of.entries(), unit, needs, to);
    return done;
  }
  const auto bound = most_visited(most, first, size);
  const auto serving = count_serving(of, needs);
  // An index without a graph compares `cheap` entries for each search.
  if (serving > std::max(bound, cheap)) {
    finds_enough(bound);
    return done;
  }
  to.clear();
  done.visited = serving;
  for (const auto& x : of.groups())
    if (serves(x.held, needs))
      done.compared += consider_all(x.entries, unit, needs, to);
  return done;
}

} // namespace

struct vector_index::state {
  /// Null if the index has no graph.
  std::shared_ptr<const detail::graph> links;
  detail::segment segment;
};

vector_counts vector_counters::now() const {
  return {builds, failed_builds, refused, checked, agreed, compared, visited};
}

vector_index::vector_index(size_t dimensions, vector_options how,
                           vector_counters& counters,
                           detail::build_thread& builder)
  : dimensions_(dimensions),
    how_(how),
    counters_(counters),
    builder_(builder),
    state_(std::make_shared<state>()) {
  ATELIER_EXPECTS(how.segment > 0 && how.segment_most >= how.segment
                    && how.search > 0 && how.check_every > 0,
                  "the options are in their ranges");
}

vector_index::~vector_index() = default;

vector_index::state_ptr vector_index::snapshot() const {
  const std::lock_guard hold{state_lock_};
  return state_;
}

void vector_index::publish(std::shared_ptr<state> next) {
  // The state before is freed without the lock.
  state_ptr out = std::move(next);
  const std::lock_guard hold{state_lock_};
  std::swap(state_, out);
}

vector_index::entry_ptr vector_index::enter(uint64_t number,
                                            std::vector<float> unit,
                                            held_parts holds) {
  ATELIER_EXPECTS(unit.size() == dimensions_, "a vector has the dimensions");
  auto made = std::make_shared<detail::entry>();
  made->number = number;
  made->sequence = next_sequence_++;
  made->unit = std::move(unit);
  made->holds = holds;
  const bool is_new = by_number_.emplace(number, made).second;
  ATELIER_EXPECTS(is_new, "a number is given once");
  return made;
}

bool vector_index::add(uint64_t number, std::span<const float> unit,
                       held_parts holds) {
  const std::lock_guard hold{lock_};
  if (segment_slots_ - (builds_ ? taken_slots_ : 0) >= how_.segment_most) {
    ++counters_.refused;
    // Otherwise it would stay full after a build that failed.
    if (!builds_)
      start_build();
    return false;
  }
  auto made = enter(number, {unit.begin(), unit.end()}, holds);
  auto next = std::make_shared<state>(*snapshot());
  next->segment.append(std::move(made));
  publish(std::move(next));
  ++segment_slots_;
  ++segment_live_;
  tidy();
  return true;
}

void vector_index::fill(std::vector<loaded_vector> all) {
  const std::lock_guard hold{lock_};
  ATELIER_EXPECTS(next_sequence_ == 0, "an index is filled before others add");
  std::vector<entry_ptr> entries;
  entries.reserve(all.size());
  for (auto& x : all)
    entries.push_back(enter(x.number, std::move(x.unit), x.holds));
  auto next = std::make_shared<state>();
  next->segment.fill(entries);
  publish(std::move(next));
  segment_slots_ = segment_live_ = entries.size();
  tidy();
}

bool vector_index::remove(uint64_t number) {
  const std::lock_guard hold{lock_};
  const auto at = by_number_.find(number);
  if (at == by_number_.end())
    return false;
  at->second->gone.store(true, std::memory_order_release);
  if (at->second->sequence >= segment_begin_)
    --segment_live_;
  by_number_.erase(at);
  tidy();
  return true;
}

bool vector_index::note_held(uint64_t number, held_parts holds) {
  const std::lock_guard hold{lock_};
  const auto at = by_number_.find(number);
  if (at == by_number_.end())
    return false;
  at->second->holds = holds;
  return true;
}

size_t vector_index::gone_but_linked() const {
  const auto links = snapshot()->links;
  return links ? links->entries().size() - (by_number_.size() - segment_live_)
               : 0;
}

// Keeps the data that searches read small, unless a build does so already.
void vector_index::tidy() {
  live_ = by_number_.size();
  if (builds_)
    return;
  const auto now = snapshot();
  if (now->links && by_number_.size() <= how_.segment / 2) {
    std::vector<entry_ptr> all;
    for (const auto& [number, x] : by_number_)
      all.push_back(x);
    auto next = std::make_shared<state>();
    next->segment.fill(all);
    publish(std::move(next));
    segment_begin_ = 0;
    segment_slots_ = segment_live_ = all.size();
  } else if (segment_slots_ - segment_live_
             > std::max(gone_at_least, segment_live_)) {
    auto next = std::make_shared<state>();
    next->links = now->links;
    next->segment.fill(now->segment.live_after(0));
    publish(std::move(next));
    segment_slots_ = segment_live_;
  }
  const bool many_gone =
    now->links && gone_but_linked() * gone_share > now->links->entries().size();
  if (next_sequence_ >= retry_at_
      && (segment_live_ >= how_.segment || many_gone))
    start_build();
}

void vector_index::start_build() {
  const auto now = snapshot();
  const bool afresh =
    !now->links
    || gone_but_linked() * gone_share > now->links->entries().size();
  taken_slots_ = segment_slots_;
  taken_end_ = next_sequence_;
  builds_ = builder_.post(
    [self = shared_from_this(), now, afresh] { self->build(*now, afresh); });
  if (!builds_)
    retry_at_ = next_sequence_ + how_.segment;
}

core::result<std::shared_ptr<const detail::graph>> vector_index::next_graph(
  const state& from, bool afresh) const {
  try {
    std::vector<entry_ptr> added;
    if (afresh && from.links)
      for (const auto& x : from.links->entries())
        if (!x->gone)
          added.push_back(x);
    const auto segment = from.segment.live_after(0);
    added.insert(added.end(), segment.begin(), segment.end());
    return detail::graph::build(
      dimensions_, afresh ? nullptr : from.links.get(), added,
      [&] { return builder_.stopping() || live_ == 0; });
  } catch (const std::bad_alloc&) {
    return core::fail(core::ec::out_of_resources, "memory ran out");
  }
}

void vector_index::build(const state& from, bool afresh) {
  auto made = next_graph(from, afresh);
  const std::lock_guard hold{lock_};
  builds_ = false;
  if (made) {
    const auto rest = snapshot()->segment.live_after(taken_slots_);
    auto next = std::make_shared<state>();
    next->links = *std::move(made);
    next->segment.fill(rest);
    publish(std::move(next));
    segment_begin_ = taken_end_;
    segment_slots_ = segment_live_ = rest.size();
    ++counters_.builds;
  } else if (made.why().code != core::ec::stopping) {
    ++counters_.failed_builds;
    retry_at_ = next_sequence_ + how_.segment;
  }
  if (!builder_.stopping())
    tidy();
}

std::vector<near_vector> vector_index::near(
  std::span<const float> unit, size_t most,
  const planning::needed_work& needs) const {
  ATELIER_EXPECTS(unit.size() == dimensions_, "a vector has the dimensions");
  const auto now = snapshot();
  std::vector<near_vector> out;
  size_t compared = 0;
  if (now->links) {
    const auto did = consider_linked(*now->links, unit, most, how_.search,
                                     how_.segment_most, needs, out);
    compared += did.compared;
    counters_.visited += did.visited;
  }
  compared += now->segment.near(unit, most, needs, out);
  counters_.compared += compared;
  const auto best =
    out.begin() + static_cast<std::ptrdiff_t>(std::min(most, out.size()));
  std::partial_sort(out.begin(), best, out.end(),
                    [](const near_vector& a, const near_vector& b) {
                      return std::pair{a.similarity, a.number}
                           > std::pair{b.similarity, b.number};
                    });
  out.erase(best, out.end());
  if (now->links && most > 0 && ++counters_.searches % how_.check_every == 0) {
    const auto found = out.empty() ? 0 : out.front().similarity;
    builder_.post_if_idle(
      [self = shared_from_this(), now, found, needs,
       wanted = std::vector<float>(unit.begin(), unit.end())] {
        self->check(*now, wanted, needs, found);
      });
  }
  return out;
}

// An entry that left since the search began looks like one that was not found,
// so only the remaining entries are compared. Parts leave and never come.
void vector_index::check(const state& in, std::span<const float> unit,
                         const planning::needed_work& needs,
                         double best) const {
  std::vector<near_vector> all;
  consider_all(in.segment.live_after(0), unit, needs, all);
  consider_all(in.links->entries(), unit, needs, all);
  ++counters_.checked;
  if (std::all_of(all.begin(), all.end(),
                  [&](const near_vector& x) { return x.similarity <= best; }))
    ++counters_.agreed;
}

void vector_index::add_all(std::vector<numbered>& to) const {
  const std::lock_guard hold{lock_};
  for (const auto& [number, x] : by_number_)
    to.push_back({number, {x, &x->unit}});
}

size_t vector_index::size() const {
  return live_;
}

uint64_t vector_index::bytes() const {
  const std::lock_guard hold{lock_};
  const auto links = snapshot()->links;
  const auto linked = links ? links->entries().size() : 0;
  const uint64_t vectors =
    (linked + segment_slots_)
      * (sizeof(detail::entry) + sizeof(entry_ptr)
         + dimensions_ * sizeof(float))
    + detail::segment::bytes_of(segment_slots_, dimensions_);
  const uint64_t graphs = links ? links->bytes() : 0;
  // The number of its entries limits the size of the next graph.
  const uint64_t building =
    builds_ ? detail::graph::most_bytes(linked + taken_slots_, dimensions_) : 0;
  return vectors + graphs + building;
}

uint64_t vector_index::bytes_of_each(size_t dimensions) {
  constexpr uint64_t of_pointers = 2 * sizeof(entry_ptr);
  constexpr uint64_t of_number = 64;
  const uint64_t each = sizeof(detail::entry) + of_pointers + of_number
                      + dimensions * sizeof(float)
                      + detail::segment::bytes_of(1, dimensions)
                      + 2 * detail::graph::most_bytes(1, dimensions);
  // One in `gone_share` of the vectors of a graph may be gone.
  return each + each / (gone_share - 1);
}

} // namespace atelier::index
