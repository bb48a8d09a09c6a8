// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/instgenie/worker_choice.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace atelier::planning::instgenie {

namespace {

bool has_seat(const edit_worker& w) {
  return w.running.size() + w.queued.size() < w.max_batch;
}

template <class Score>
std::optional<size_t> least(std::span<const edit_worker> workers, Score score) {
  std::optional<size_t> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < workers.size(); ++i) {
    const double s = score(workers[i]);
    if (!best || s < lowest) {
      best = i;
      lowest = s;
    }
  }
  return best;
}

std::optional<size_t> idle(std::span<const edit_worker> workers) {
  for (size_t i = 0; i < workers.size(); ++i)
    if (workers[i].running.empty() && workers[i].queued.empty())
      return i;
  return std::nullopt;
}

// Returns an idle worker, which is the best one if all workers are equal.
std::optional<size_t> idle_of_equals(std::span<const edit_worker> workers) {
  const bool equal =
    std::all_of(workers.begin(), workers.end(),
                [](const edit_worker& w) { return w.steps == nullptr; });
  return equal ? idle(workers) : std::nullopt;
}

const step_model& steps_of(const edit_worker& w, const step_model& any) {
  return w.steps != nullptr ? *w.steps : any;
}

// A row of the roll-out.
struct rolling {
  const edit_row* row = nullptr;
  size_t index = 0;
  double left = 0;
};

} // namespace

step_model greedy_steps(std::vector<block_shape> blocks, estimator by,
                        recorded what) {
  return [blocks = std::move(blocks), by,
          what](std::span<const batch_member> members) {
    return plan_greedy(batch_costs(blocks, members, by, what)).seconds;
  };
}

step_model equal_steps(size_t blocks, block_shape each, estimator by,
                       recorded what) {
  return [blocks, each, by, what](std::span<const batch_member> members) {
    const auto cost = batch_costs({&each, 1}, members, by, what).front();
    return equal_blocks_seconds(blocks, cost);
  };
}

std::optional<size_t> choose_by_step(std::span<const edit_worker> workers,
                                     const edit_row& edit,
                                     const step_model& seconds) {
  if (const auto free = idle_of_equals(workers))
    return free;
  const bool seats = std::any_of(workers.begin(), workers.end(), has_seat);
  return least(workers, [&](const edit_worker& w) {
    if (seats && !has_seat(w))
      return std::numeric_limits<double>::infinity();
    std::vector<batch_member> batch;
    for (const edit_row& r : w.running)
      batch.push_back(r.member);
    for (const edit_row& r : w.queued)
      batch.push_back(r.member);
    batch.push_back(edit.member);
    return steps_of(w, seconds)(batch);
  });
}

std::vector<double> finish_times(const edit_worker& of,
                                 const step_model& seconds) {
  const size_t most = std::max(of.max_batch, 1u);
  std::vector<double> out(of.running.size() + of.queued.size(), 0.0);
  std::vector<rolling> runs;
  std::vector<rolling> waits;
  for (size_t i = 0; i < of.running.size(); ++i)
    runs.push_back(
      {&of.running[i], i, static_cast<double>(of.running[i].steps_left)});
  for (size_t i = 0; i < of.queued.size(); ++i)
    waits.push_back({&of.queued[i], of.running.size() + i,
                     static_cast<double>(of.queued[i].steps_left)});
  double now = 0;
  std::vector<batch_member> batch;
  while (!runs.empty() || !waits.empty()) {
    for (auto w = waits.begin(); w != waits.end() && runs.size() < most;)
      if (w->row->ready_in <= now) {
        runs.push_back(*w);
        w = waits.erase(w);
      } else {
        ++w;
      }
    double next = std::numeric_limits<double>::infinity();
    if (runs.size() < most)
      for (const rolling& w : waits)
        next = std::min(next, w.row->ready_in);
    if (runs.empty()) {
      now = next;
      continue;
    }
    batch.clear();
    double steps = std::numeric_limits<double>::infinity();
    for (const rolling& r : runs) {
      batch.push_back(r.row->member);
      steps = std::min(steps, r.left);
    }
    const double one = std::max(seconds(batch), 0.0);
    // When a record arrives, its edit can join at the end of the next step.
    if (one > 0 && std::isfinite(next))
      steps = std::min(steps, std::max(1.0, std::ceil((next - now) / one)));
    now += steps * one;
    std::erase_if(runs, [&](rolling& r) {
      r.left -= steps;
      if (r.left > 0)
        return false;
      out[r.index] = now;
      return true;
    });
  }
  return out;
}

std::optional<size_t> choose_by_finish(std::span<const edit_worker> workers,
                                       const edit_row& edit,
                                       const step_model& seconds) {
  // More company helps no edit, unless a late record then arrives at a better
  // moment.
  const auto late = [](const edit_row& r) { return r.ready_in > 0; };
  const bool any_late =
    std::any_of(workers.begin(), workers.end(), [&](const edit_worker& w) {
      return std::any_of(w.queued.begin(), w.queued.end(), late);
    });
  if (const auto free = idle_of_equals(workers); free && !any_late)
    return free;
  return least(workers, [&](const edit_worker& w) {
    const auto sum = [&](const edit_worker& of) {
      const auto times = finish_times(of, steps_of(of, seconds));
      return std::accumulate(times.begin(), times.end(), 0.0);
    };
    edit_worker with = w;
    with.queued.push_back(edit);
    return sum(with) - sum(w);
  });
}

} // namespace atelier::planning::instgenie
