// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/text_vector.hpp>
#include <atelier/index/vectors/detail/candidates.hpp>

#include <algorithm>
#include <functional>
#include <queue>

namespace atelier::index::detail {

namespace {

/// The `most` greatest similarities, the least of them on top.
class best_of {
public:
  explicit best_of(size_t most) : most_(most) {}

  void add(double similarity) {
    best_.push(similarity);
    if (best_.size() > most_)
      best_.pop();
  }

  bool full() const {
    return best_.size() == most_;
  }

  bool excludes(double limit) const {
    return full() && (most_ == 0 || limit < best_.top());
  }

private:
  size_t most_;
  std::priority_queue<double, std::vector<double>, std::greater<>> best_;
};

} // namespace

bool add_nearest(std::vector<candidate> all, std::span<const float> unit,
                 size_t most, const planning::needed_work& needs,
                 std::vector<near_vector>& to) {
  best_of best{most};
  for (const auto& x : to)
    best.add(x.similarity);
  const auto less_near = [](const candidate& a, const candidate& b) {
    return a.limit < b.limit;
  };
  std::make_heap(all.begin(), all.end(), less_near);
  bool all_alike = true;
  for (auto end = all.end(); end != all.begin(); --end) {
    const auto& next = all.front();
    if (next.limit <= 0 || best.excludes(next.limit))
      return true;
    const auto likeness = similarity(unit, next.what->unit);
    all_alike = all_alike && likeness > 0;
    if (likeness > 0 && !next.what->gone.load(std::memory_order_acquire)
        && serves(next.what->holds, needs)) {
      to.push_back({next.what->number, likeness});
      best.add(likeness);
    }
    std::pop_heap(all.begin(), end, less_near);
  }
  return best.full() || !all_alike;
}

} // namespace atelier::index::detail
