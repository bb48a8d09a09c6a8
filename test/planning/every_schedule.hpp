// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reference for schedule_search: it tries every event of a schedule
// separately, and remembers no states.

#include <atelier/planning/pipeline.hpp>
#include <atelier/planning/schedule_search.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace atelier::test {

/// Searches for a schedule that gets stuck. In this model stages begin and end
/// one at a time and files occupy their slot in between, while clients take
/// files and captures are remembered at any moment. The time grows
/// exponentially with rows and stages, so the search has a limit.
class every_schedule {
public:
  every_schedule(const planning::pipeline& stages,
                 std::vector<planning::searched_row> rows,
                 const planning::slot_counts& there,
                 planning::search_rules rules)
    : stages_(stages), rules_(std::move(rules)), free_(there) {
    for (auto& x : rows) {
      row r;
      r.asked = std::move(x);
      const auto legs = r.asked.route.legs.size();
      for (size_t leg = 0; leg <= legs; ++leg)
        for (size_t i = 0; i < stages.size(); ++i)
          if (stages.at(i).row().hook
              == (leg < legs ? planning::hook::each_leg
                             : planning::hook::before_answer))
            r.way.push_back({leg, i});
      rows_.push_back(std::move(r));
    }
  }

  /// Returns nothing if the search would look at more than `most_looks`
  /// moments.
  std::optional<bool> gets_stuck(size_t most_looks) {
    looks_left_ = most_looks;
    const bool stuck = gets_stuck();
    return stuck || looks_left_ > 0 ? std::optional{stuck} : std::nullopt;
  }

private:
  struct row {
    planning::searched_row asked;
    std::vector<planning::pipeline::position> way;
    size_t at = 0;
    bool runs = false;
    std::array<uint32_t, planning::held_names> holds = {};
    // These slots are freed when the stage ends.
    std::array<uint32_t, planning::held_names> until_end = {};
  };

  bool gets_stuck() {
    if (looks_left_ == 0)
      return false;
    --looks_left_;
    bool waits = false;
    bool goes_on = false;
    for (auto& r : rows_) {
      waits = waits || r.at < r.way.size();
      if (r.at == r.way.size()) {
        // The client takes the file, or the captured state is remembered.
        for (const auto name :
             {planning::held::encoded, planning::held::capture})
          if (of(r, name) > 0) {
            goes_on = true;
            const auto before = r;
            const auto free = free_;
            drop(r, name);
            if (gets_stuck())
              return true;
            r = before;
            free_ = free;
          }
      } else if (r.runs) {
        goes_on = true;
        if (after_end_of(r))
          return true;
      } else {
        for (uint32_t captures = 0; captures <= most_captures(r); ++captures) {
          const auto before = r;
          const auto free = free_;
          const bool went = begins(r, captures);
          goes_on = goes_on || went;
          if (went && gets_stuck())
            return true;
          r = before;
          free_ = free;
        }
      }
    }
    return waits && !goes_on;
  }

  static uint32_t& of(row& r, planning::held x) {
    return r.holds[static_cast<size_t>(x)];
  }

  uint32_t& free_of(planning::held x) {
    return free_[static_cast<size_t>(planning::kind_of(x))];
  }

  void drop(row& r, planning::held x) {
    free_of(x) += of(r, x);
    of(r, x) = 0;
  }

  const planning::leg* leg_of(const row& r) const {
    const auto& legs = r.asked.route.legs;
    const auto leg = r.way[r.at].leg;
    return leg < legs.size() ? &legs[leg] : nullptr;
  }

  std::vector<planning::slot_use> uses(const row& r) const {
    std::vector<planning::slot_use> out;
    for (const auto& x : stages_.at(r.way[r.at].stage).row().slots)
      if (x.applies(leg_of(r), r.asked.brings_image))
        out.push_back(stages_.counted(x, r.way[r.at]));
    return out;
  }

  uint32_t most_captures(const row& r) const {
    for (const auto& x : uses(r))
      if (x.name == planning::held::capture
          && x.mode != planning::access::reads) {
        const auto* in = leg_of(r);
        return in == nullptr || in->capture.empty()
               ? 1u
               : static_cast<uint32_t>(in->capture.size());
      }
    return 0;
  }

  bool begins(row& r, uint32_t captures) {
    using planning::access;
    using planning::held;
    constexpr auto capture = static_cast<size_t>(ipc::slot_kind::capture);
    constexpr auto image = static_cast<size_t>(ipc::slot_kind::image);
    if (rules_.waits_for_captures && captures < most_captures(r))
      return false;
    if (captures > free_[capture])
      return false;
    const auto& asked = r.asked;
    const auto leaves =
      rules_.reserve
        ? rules_.reserve(asked.route, r.way[r.at], asked.brings_image)
        : stages_.reserve(asked.route, r.way[r.at], asked.brings_image);
    planning::slot_counts takes{};
    uint32_t files = 0;
    for (const auto& x : uses(r)) {
      if (x.mode == access::reads)
        files = x.name == held::files ? 1 : files;
      else if (x.name != held::capture)
        ++takes[static_cast<size_t>(planning::kind_of(x.name))];
    }
    const bool takes_some = takes != planning::slot_counts{} || files > 0
                         || (rules_.waits_for_captures && captures > 0);
    for (size_t kind = 0; kind < takes.size(); ++kind) {
      if (kind == capture && !rules_.waits_for_captures)
        continue;
      const auto own = takes[kind] + (kind == capture ? captures : 0);
      const bool asked_for = rules_.kinds_apart ? own > 0 : takes_some;
      if (free_[kind] < own + (asked_for ? leaves[kind] : 0))
        return false;
    }
    if (free_[image] < takes[image] + files)
      return false;
    if (rules_.kinds_apart && files > 0
        && free_[image] < takes[image] + leaves[image])
      return false;
    r.runs = true;
    // A slot that a stage replaces existed before, so replaced slots come
    // first.
    for (const auto how : {access::replaces, access::writes})
      for (const auto& x : uses(r)) {
        if (x.mode != how || x.name == held::capture)
          continue;
        if (how == access::replaces && of(r, x.name) > 0) {
          --of(r, x.name);
          ++r.until_end[static_cast<size_t>(x.name)];
        }
        ++of(r, x.name);
        --free_of(x.name);
      }
    r.until_end[static_cast<size_t>(held::files)] = files;
    free_of(held::files) -= files;
    of(r, held::capture) += captures;
    free_of(held::capture) -= captures;
    return true;
  }

  // Ends the running stage in each possible way, and continues the search.
  bool after_end_of(row& r) {
    using planning::held;
    const auto before = r;
    const auto free = free_;
    const auto* in = leg_of(r);
    const auto leg = r.way[r.at].leg;
    for (size_t i = 0; i < planning::held_names; ++i) {
      free_of(static_cast<held>(i)) += r.until_end[i];
      r.until_end[i] = 0;
    }
    r.runs = false;
    ++r.at;
    const bool leg_ends =
      in != nullptr && (r.at == r.way.size() || r.way[r.at].leg != leg);
    if (leg_ends) {
      drop(r, held::state);
      drop(r, held::source);
    }
    bool stuck = answered(r);
    if (!stuck && leg_ends && in->check) {
      while (r.at < r.way.size() && r.way[r.at].leg < r.asked.route.legs.size())
        ++r.at;
      stuck = answered(r);
    }
    r = before;
    free_ = free;
    return stuck;
  }

  // Continues the search. A request that has its answer has freed its other
  // slots.
  bool answered(row& r) {
    using planning::held;
    if (r.at < r.way.size())
      return gets_stuck();
    const auto before = r;
    const auto free = free_;
    for (const auto name :
         {held::files, held::source, held::state, held::pixels})
      drop(r, name);
    const bool stuck = gets_stuck();
    r = before;
    free_ = free;
    return stuck;
  }

  const planning::pipeline& stages_;
  planning::search_rules rules_;
  std::vector<row> rows_;
  planning::slot_counts free_;
  size_t looks_left_ = 0;
};

} // namespace atelier::test
