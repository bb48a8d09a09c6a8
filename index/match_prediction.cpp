// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/index/key.hpp>
#include <atelier/index/match_prediction.hpp>
#include <atelier/planning/policies/nirvana/match_predictor.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::index {

namespace {

using planning::checked_prediction;
using planning::predicted_from;
using planning::nirvana::match_predictor;
using planning::nirvana::search_outcome;

/// The usual time of a training, for simulations.
constexpr core::timespan usual_training = std::chrono::milliseconds{40};

size_t hash_of(std::span<const float> vector) {
  const auto bytes = std::as_bytes(vector);
  return std::hash<std::string_view>{}(
    {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// A search's vector, and its result.
struct outcome {
  size_t hash = 0;
  std::vector<float> vector;
  search_outcome was;
};

/// A predictor in use, and what it was trained from.
struct learner {
  /// Null if it is not trained.
  std::shared_ptr<const match_predictor> in_use;
  /// The changes when its last training was queued; none: it was not trained.
  std::optional<uint64_t> trained_at;
  bool queued = false;

  bool due(uint64_t changes, uint64_t of) const {
    return !queued
        && (!trained_at
            || planning::nirvana::retraining_due(changes - *trained_at, of));
  }
};

/// A namespace.
struct shelf {
  learner by_entries;
  learner by_outcomes;
  /// The oldest first, each vector once.
  std::deque<outcome> outcomes;
  /// Outcomes that are new, or that changed.
  uint64_t learnt = 0;
  uint64_t last_use = 0;

  learner& of(predicted_from by) {
    return by == predicted_from::entries ? by_entries : by_outcomes;
  }

  void add(std::span<const float> vector, search_outcome was, size_t most) {
    const auto hash = hash_of(vector);
    const auto known = std::ranges::find_if(outcomes, [&](const outcome& x) {
      return x.hash == hash && std::ranges::equal(x.vector, vector);
    });
    if (known != outcomes.end()) {
      learnt += known->was.hit == was.hit ? 0u : 1u;
      known->was = was;
      std::rotate(known, known + 1, outcomes.end());
      return;
    }
    if (outcomes.size() >= most)
      outcomes.pop_front();
    outcomes.push_back({hash, {vector.begin(), vector.end()}, was});
    ++learnt;
  }
};

} // namespace

struct match_prediction::state {
  state(std::shared_ptr<kept_work> of, uint64_t by, prediction_limits bounds)
    : kept(std::move(of)), seed(by), most(bounds) {}

  const std::shared_ptr<kept_work> kept;
  const uint64_t seed;
  const prediction_limits most;

  std::mutex lock;
  std::map<std::string, shelf, std::less<>> shelves;
  uint64_t last_use = 0;
  std::deque<checked_prediction> recent;
  prediction_counts counts;

  // The caller must hold the lock. Returns null if the namespace has no
  // predictor.
  shelf* find(std::string_view space) {
    const auto at = shelves.find(space);
    if (at == shelves.end())
      return nullptr;
    at->second.last_use = ++last_use;
    return &at->second;
  }

  // The caller must hold the lock. Makes room for a namespace that is new;
  // returns null if others came first and keep theirs.
  shelf* find_or_add(std::string_view space) {
    if (auto* const there = find(space))
      return there;
    if (shelves.size() >= most.spaces) {
      if (most.first_come || most.spaces == 0)
        return nullptr;
      shelves.erase(std::ranges::min_element(
        shelves, {}, [](const auto& x) { return x.second.last_use; }));
    }
    auto& made = shelves[std::string{space}];
    made.last_use = ++last_use;
    return &made;
  }

  bool says_hit(predicted_from by, std::string_view space,
                std::span<const float> vector) {
    const auto there = kept->extent(space);
    if (there && there->entries == 0)
      return false;
    std::shared_ptr<const match_predictor> in_use;
    {
      const std::lock_guard hold{lock};
      if (auto* const own = find(space))
        in_use = own->of(by).in_use;
    }
    return !in_use || in_use->says_hit(vector);
  }

  // Returns whether the predictor must be trained, and notes that it is queued.
  bool take_if_due(predicted_from by, std::string_view space) {
    const auto there = kept->extent(space);
    const bool entries = by == predicted_from::entries;
    if (entries && (!there || there->entries == 0))
      return false;
    const std::lock_guard hold{lock};
    auto* const own = entries ? find_or_add(space) : find(space);
    if (own == nullptr
        || (!entries && own->outcomes.size() < most.least_outcomes))
      return false;
    auto& x = own->of(by);
    const auto changes = entries ? there->changes : own->learnt;
    if (!x.due(changes, entries ? there->entries : own->outcomes.size()))
      return false;
    x.queued = true;
    x.trained_at = changes;
    return true;
  }

  core::philox random() const {
    return core::philox{seed, core::purpose::training};
  }

  match_predictor from_entries(std::string_view space, size_t width) const {
    const auto values = kept->vectors(space, most.entries);
    if (values.size() % width != 0)
      return {};
    return planning::nirvana::train_one_class({values, width}, random());
  }

  match_predictor from_outcomes(std::string_view space, size_t width) {
    std::vector<float> values;
    std::vector<search_outcome> all;
    {
      const std::lock_guard hold{lock};
      if (const auto* const own = find(space))
        for (const auto& x : own->outcomes)
          if (x.vector.size() == width) {
            values.insert(values.end(), x.vector.begin(), x.vector.end());
            all.push_back(x.was);
          }
    }
    return planning::nirvana::train_on_outcomes({values, width}, all, random());
  }

  void train(predicted_from by, const std::string& space, size_t width) {
    std::shared_ptr<const match_predictor> next;
    bool failed = false;
    try {
      auto made = by == predicted_from::entries ? from_entries(space, width)
                                                : from_outcomes(space, width);
      if (made.trained)
        next = std::make_shared<const match_predictor>(std::move(made));
    } catch (const std::exception& e) {
      failed = true;
      core::log_warn("the predictor of the cache's matches cannot be trained, "
                     "so that requests search: {}",
                     e.what());
    }
    const std::lock_guard hold{lock};
    ++(failed ? counts.failures : counts.trainings);
    // It may have made room for another namespace meanwhile.
    if (auto* const own = find(space)) {
      own->of(by).in_use = std::move(next);
      own->of(by).queued = false;
    }
  }
};

match_prediction::match_prediction(std::shared_ptr<kept_work> kept,
                                   std::unique_ptr<core::offload> trains,
                                   uint64_t seed, prediction_limits most)
  : state_(std::make_shared<state>(std::move(kept), seed, most)),
    trains_(std::move(trains)) {}

match_prediction::~match_prediction() {
  stop();
}

bool match_prediction::ask(predicted_from by, std::string_view key,
                           std::span<const float> vector) {
  ATELIER_EXPECTS(by != predicted_from::nothing, "a predictor is asked");
  const auto space = tenant_part(key);
  const bool hit = state_->says_hit(by, space, vector);
  {
    const std::lock_guard hold{state_->lock};
    ++(hit ? state_->counts.said_hits : state_->counts.said_misses);
  }
  train(by, std::string{space}, vector.size());
  return hit;
}

bool match_prediction::learn(predicted_from by, std::string_view key,
                             std::span<const float> vector, bool hit,
                             uint32_t stands_for) {
  ATELIER_EXPECTS(by != predicted_from::nothing, "a predictor learns");
  const auto space = tenant_part(key);
  const bool expected = state_->says_hit(by, space, vector);
  if (by == predicted_from::outcomes && !vector.empty()) {
    const std::lock_guard hold{state_->lock};
    if (auto* const own = state_->find_or_add(space))
      own->add(vector, {hit, expected ? 1u : std::max(stands_for, 1u)},
               state_->most.outcomes);
  }
  train(by, std::string{space}, vector.size());
  return expected;
}

void match_prediction::train(predicted_from by, const std::string& space,
                             size_t width) {
  if (width == 0 || !state_->take_if_due(by, space))
    return;
  const std::weak_ptr<state> to = state_;
  bool queued = false;
  {
    const std::lock_guard hold{trainer_};
    queued = trains_ != nullptr
          && trains_->run(usual_training, [to, by, space, width] {
               if (const auto there = to.lock())
                 there->train(by, space, width);
             });
  }
  if (queued)
    return;
  const std::lock_guard hold{state_->lock};
  ++state_->counts.failures;
  if (auto* const own = state_->find(space)) {
    own->of(by).queued = false;
    own->of(by).trained_at.reset();
  }
}

void match_prediction::count(const checked_prediction& x) {
  const std::lock_guard hold{state_->lock};
  auto& to = state_->counts;
  ++to.checked;
  to.recent.add(x);
  state_->recent.push_back(x);
  if (state_->recent.size() > state_->most.window) {
    to.recent.remove(state_->recent.front());
    state_->recent.pop_front();
  }
}

prediction_counts match_prediction::counts() const {
  const std::lock_guard hold{state_->lock};
  auto out = state_->counts;
  for (const auto& [space, x] : state_->shelves)
    out.trained_spaces += x.by_entries.in_use || x.by_outcomes.in_use ? 1u : 0u;
  return out;
}

void match_prediction::stop() {
  std::unique_ptr<core::offload> last;
  const std::lock_guard hold{trainer_};
  last.swap(trains_);
}

} // namespace atelier::index
