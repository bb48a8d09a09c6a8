// SPDX-License-Identifier: Apache-2.0

// Searches schedules, words the findings, and checks the stages at startup.
// Long, because the search and the text share the types of a route and its
// steps.
#include <atelier/planning/schedule_search.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

// The search considers only grants: a stage ends as soon as it has begun, a
// file is taken as soon as it exists, and the stages after the answer run at
// once. This omits no schedule that gets stuck. An end only releases slots, and
// whatever can be granted can also be granted with more free slots. In a
// schedule that gets stuck, each end can therefore be moved to right after its
// beginning. All grants stay possible, and because everything has ended where
// the schedule is stuck, it gets stuck in the same state. The search in the
// test treats all these events separately.

namespace atelier::planning {

namespace {

constexpr auto state_kind = static_cast<size_t>(ipc::slot_kind::state);
constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);
constexpr auto capture_kind = static_cast<size_t>(ipc::slot_kind::capture);

constexpr size_t index_of(held x) {
  return static_cast<size_t>(x);
}

using held_counts = std::array<uint16_t, held_names>;

// A stage that needs slots, in a leg of a request or before its answer.
struct way_step {
  std::string_view name;
  size_t leg = 0;
  bool reads_files = false;
  // Counts by name.
  held_counts writes = {};
  std::array<bool, held_names> replaces = {};
  // Number of states that it may keep for later requests.
  uint16_t captures = 0;
  // Slots by kind: those it is granted, and those that must stay free then.
  slot_counts takes = {};
  slot_counts leaves = {};
  bool ends_leg = false;
  // Whether its leg's image may be the answer.
  bool gated = false;

  bool waits_for_slots() const {
    return reads_files || takes != slot_counts{};
  }
};

struct way {
  std::vector<way_step> steps;
  // Index of the first step of the answer.
  size_t answer = 0;
};

// The state of a request that waits for its next step, or is done.
struct row_state {
  uint16_t step = 0;
  held_counts holds = {};

  friend auto operator<=>(const row_state&, const row_state&) = default;
};

struct event {
  uint16_t row = 0;
  uint16_t step = 0;
  uint16_t captures = 0;
  bool passes = false;
};

struct node {
  std::vector<row_state> rows;
  size_t parent = 0;
  event cause;
};

way_step step_of(const pipeline& stages, const searched_row& row,
                 pipeline::position at, const search_rules& rules) {
  const auto& along = row.route;
  const auto* in = at.leg < along.legs.size() ? &along.legs[at.leg] : nullptr;
  way_step out;
  out.name = stages.at(at.stage).row().name;
  out.leg = at.leg;
  for (const auto& use : stages.at(at.stage).row().slots) {
    if (!use.applies(in, row.brings_image))
      continue;
    const auto x = stages.counted(use, at);
    if (x.mode == access::reads)
      out.reads_files = out.reads_files || x.name == held::files;
    else if (x.name == held::capture)
      out.captures = static_cast<uint16_t>(
        std::max<size_t>(1, in == nullptr ? 0 : in->capture.size()));
    else if (x.mode == access::writes)
      ++out.writes[index_of(x.name)];
    else
      out.replaces[index_of(x.name)] = true;
  }
  out.takes = stages.granted(along, at, row.brings_image);
  out.leaves = rules.reserve ? rules.reserve(along, at, row.brings_image)
                             : stages.reserve(along, at, row.brings_image);
  if (rules.waits_for_captures)
    out.takes[capture_kind] = out.captures;
  return out;
}

way way_of(const pipeline& stages, const searched_row& row,
           const search_rules& rules) {
  way out;
  const auto legs = row.route.legs.size();
  const auto append = [&](size_t leg, hook at) {
    std::vector<size_t> due;
    for (size_t i = 0; i < stages.size(); ++i)
      if (const auto& x = stages.at(i).row();
          x.hook == at && (leg < legs || x.place != place::batch))
        due.push_back(i);
    const bool gated = leg < legs && row.route.legs[leg].check.has_value();
    const auto first = out.steps.size();
    for (const auto i : due) {
      auto x = step_of(stages, row, {leg, i}, rules);
      x.gated = gated && i == due.back();
      if (x.waits_for_slots() || x.captures > 0 || x.gated)
        out.steps.push_back(x);
    }
    if (leg < legs && out.steps.size() > first)
      out.steps.back().ends_leg = true;
  };
  for (size_t leg = 0; leg < legs; ++leg)
    append(leg, hook::each_leg);
  if (legs == 0)
    append(0, hook::each_leg);
  out.answer = out.steps.size();
  append(legs, hook::before_answer);
  return out;
}

// Searches all schedules, shorter ones first.
class search {
public:
  search(const pipeline& stages, const std::vector<searched_row>& rows,
         const slot_counts& there, const search_rules& rules)
    : rows_(rows), there_(there), rules_(rules) {
    for (const auto& row : rows)
      ways_.push_back(way_of(stages, row, rules));
    alike_.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      alike_[i] = i;
      for (size_t j = 0; j < i && alike_[i] == i; ++j)
        if (rows[j].brings_image == rows[i].brings_image
            && rows[j].route == rows[i].route)
          alike_[i] = j;
    }
  }

  std::optional<std::string> run() {
    visit({std::vector<row_state>(rows_.size()), 0, {}});
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_.size() > rules_.most_states)
        return std::nullopt;
      bool waits = false;
      bool goes_on = false;
      const auto free = free_in(nodes_[i].rows);
      for (size_t row = 0; row < rows_.size(); ++row) {
        if (done(nodes_[i], row))
          continue;
        waits = true;
        goes_on = grant(i, row, free) || goes_on;
      }
      if (waits && !goes_on)
        return text_of(i);
    }
    return std::nullopt;
  }

private:
  bool done(const node& x, size_t row) const {
    return x.rows[row].step == ways_[row].steps.size();
  }

  slot_counts free_in(const std::vector<row_state>& rows) const {
    auto out = there_;
    for (const auto& row : rows)
      for (size_t name = 0; name < held_names; ++name)
        out[static_cast<size_t>(kind_of(static_cast<held>(name)))] -=
          row.holds[name];
    return out;
  }

  // Returns how many slots of a kind must be free for a step.
  uint32_t wanted(const way_step& x, size_t kind) const {
    const bool files = kind == image_kind && x.reads_files;
    if (x.takes[kind] == 0 && !files
        && (rules_.kinds_apart || !x.waits_for_slots()))
      return 0;
    return x.takes[kind] + std::max(x.leaves[kind], files ? 1u : 0u);
  }

  // Adds the states that follow if a request is granted its next step. Returns
  // false if that step cannot be granted.
  bool grant(size_t from, size_t row, const slot_counts& free) {
    const auto& along = ways_[row];
    const auto step = nodes_[from].rows[row].step;
    const auto& x = along.steps[step];
    for (size_t kind = 0; kind < free.size(); ++kind)
      if (free[kind] < wanted(x, kind))
        return false;
    const auto most =
      static_cast<uint16_t>(std::min<uint32_t>(x.captures, free[capture_kind]));
    const uint16_t least = rules_.waits_for_captures ? most : uint16_t{0};
    for (uint16_t captures = least; captures <= most; ++captures)
      for (const bool passes : {false, true}) {
        if (passes && !x.gated)
          continue;
        const auto next = passes ? along.answer : step + size_t{1};
        node to{nodes_[from].rows,
                from,
                {static_cast<uint16_t>(row), step, captures, passes}};
        to.rows[row] = after(nodes_[from].rows[row], x, captures);
        to.rows[row].step = static_cast<uint16_t>(next);
        if (next == along.steps.size())
          to.rows[row].holds = {};
        visit(std::move(to));
      }
    return true;
  }

  static row_state after(row_state row, const way_step& x, uint16_t captures) {
    for (size_t name = 0; name < held_names; ++name) {
      auto& n = row.holds[name];
      if (x.replaces[name])
        n = std::max<uint16_t>(n, 1);
      n = static_cast<uint16_t>(n + x.writes[name]);
    }
    row.holds[index_of(held::capture)] =
      static_cast<uint16_t>(row.holds[index_of(held::capture)] + captures);
    if (x.ends_leg)
      row.holds[index_of(held::state)] = row.holds[index_of(held::source)] = 0;
    return row;
  }

  void visit(node x) {
    if (seen_.insert(key_of(x)).second)
      nodes_.push_back(std::move(x));
  }

  // Returns a key that is equal for states that differ only in the order of
  // requests that are alike.
  std::u16string key_of(const node& x) const {
    std::vector<std::pair<size_t, row_state>> sorted;
    for (size_t i = 0; i < rows_.size(); ++i)
      sorted.emplace_back(alike_[i], x.rows[i]);
    std::sort(sorted.begin(), sorted.end());
    std::u16string out;
    for (const auto& [first, row] : sorted) {
      out += static_cast<char16_t>(row.step);
      for (const auto n : row.holds)
        out += static_cast<char16_t>(n);
    }
    return out;
  }

  std::string place_of(size_t row, const way_step& x) const {
    const auto legs = rows_[row].route.legs.size();
    return x.leg < legs && legs > 1
           ? fmt::format("{} of leg {}", x.name, x.leg + 1)
           : std::string{x.name};
  }

  std::string text_of(size_t last) const {
    std::vector<size_t> path;
    for (auto i = last; i > 0; i = nodes_[i].parent)
      path.push_back(i);
    std::string out;
    for (auto i = path.rbegin(); i != path.rend(); ++i) {
      const auto& how = nodes_[*i].cause;
      out += fmt::format("row {}: {}", how.row + 1,
                         place_of(how.row, ways_[how.row].steps[how.step]));
      if (how.captures > 0)
        out += fmt::format(", keeps {}", how.captures);
      if (how.passes)
        out += ", passes the gate";
      out += '\n';
    }
    for (size_t row = 0; row < rows_.size(); ++row)
      if (!done(nodes_[last], row))
        out += waiting(nodes_[last], row);
    return out;
  }

  std::string waiting(const node& x, size_t row) const {
    const auto free = free_in(x.rows);
    const auto& step = ways_[row].steps[x.rows[row].step];
    std::string out = fmt::format(
      "row {} (route '{}'{}) waits forever for {}, which needs", row + 1,
      rows_[row].route.name, rows_[row].brings_image ? ", with an image" : "",
      place_of(row, step));
    std::string_view between = " ";
    for (size_t kind = 0; kind < free.size(); ++kind)
      if (free[kind] < wanted(step, kind)) {
        out += fmt::format("{}{} free {} slots where {} of {} are", between,
                           wanted(step, kind),
                           to_string(static_cast<ipc::slot_kind>(kind)),
                           free[kind], there_[kind]);
        between = " and ";
      }
    return out + '\n';
  }

  const std::vector<searched_row>& rows_;
  slot_counts there_;
  const search_rules& rules_;
  std::vector<way> ways_;
  // By row: the first row that is like this one.
  std::vector<size_t> alike_;
  // The states in the order in which they were found; references stay valid.
  std::deque<node> nodes_;
  std::unordered_set<std::u16string> seen_;
};

// Returns one request of each sort that stages distinguish, the simplest first.
std::vector<searched_row> usual_rows() {
  const auto from = [](origin x) {
    leg out;
    out.any_of = {core::variant_id{0}};
    out.from = x;
    out.skip = x == origin::noise ? 0 : 1;
    return out;
  };
  auto gated = from(origin::noise);
  gated.check = gate{};
  const auto row = [](std::string name, std::vector<leg> legs,
                      bool brings_image) {
    searched_row out;
    out.route.name = std::move(name);
    out.route.legs = std::move(legs);
    out.brings_image = brings_image;
    return out;
  };
  const auto drawn = from(origin::noise);
  const auto drawn_on = from(origin::stage_image);
  return {
    row("one leg", {drawn}, false),
    row("one leg", {drawn}, true),
    row("from a latent", {from(origin::latent)}, false),
    row("from an image", {from(origin::image)}, false),
    row("gated", {gated, drawn}, false),
    row("gated", {gated, drawn}, true),
    row("drawn on", {drawn, drawn_on}, false),
    row("three legs", {drawn, drawn, drawn}, false),
  };
}

bool fits(const slot_counts& needs, const slot_counts& there) {
  for (size_t kind = 0; kind < needs.size(); ++kind)
    if (needs[kind] > there[kind])
      return false;
  return true;
}

slot_counts larger(slot_counts a, const slot_counts& b) {
  for (size_t kind = 0; kind < a.size(); ++kind)
    a[kind] = std::max(a[kind], b[kind]);
  return a;
}

} // namespace

std::optional<std::string> stuck_schedule(const pipeline& stages,
                                          const std::vector<searched_row>& rows,
                                          const slot_counts& there,
                                          const search_rules& rules) {
  return search{stages, rows, there, rules}.run();
}

core::result<void> check(const pipeline& stages, const slot_counts& there) {
  using core::ec;
  for (size_t i = 0; i < stages.size(); ++i) {
    const auto& row = stages.at(i).row();
    if (row.hook != hook::before_route && row.hook != hook::after_answer)
      continue;
    for (const auto& x : row.slots)
      if (x.mode != access::reads)
        return core::fail(ec::bad_config,
                          "stage '{}' writes '{}' {}, where no slots are "
                          "granted",
                          row.name, to_string(x.name),
                          row.hook == hook::before_route ? "before the route"
                                                         : "after the answer");
  }
  const auto rows = usual_rows();
  const auto plainest = stages.least(rows[0].route, rows[0].brings_image);
  if (!fits(plainest, there))
    return core::fail(ec::bad_config,
                      "the stages need {} state and {} image slots for a "
                      "request of one leg, but only {} and {} exist "
                      "(arena.state_slots, arena.image_slots)",
                      plainest[state_kind], plainest[image_kind],
                      there[state_kind], there[image_kind]);
  search_rules rules;
  rules.most_states = 5'000;
  for (const auto& one : rows)
    for (const auto& other : rows) {
      const auto needs = larger(stages.least(one.route, one.brings_image),
                                stages.least(other.route, other.brings_image));
      for (uint32_t states : {0u, 1u})
        for (uint32_t images : {0u, 1u}) {
          auto few = needs;
          few[state_kind] += states;
          few[image_kind] += images;
          if (!fits(few, there))
            continue;
          if (auto stuck =
                stuck_schedule(stages, {one, other, other}, few, rules))
            return core::fail(ec::bad_config,
                              "requests can wait for slots forever, with {} "
                              "of states and {} of images:\n{}",
                              few[state_kind], few[image_kind], *stuck);
        }
    }
  return {};
}

} // namespace atelier::planning
