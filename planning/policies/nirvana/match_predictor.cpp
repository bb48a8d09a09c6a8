// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/planning/policies/nirvana/match_predictor.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace atelier::planning::nirvana {

namespace {

double dot(std::span<const double> w, std::span<const float> x) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += w[i] * static_cast<double>(x[i]);
  return sum;
}

double dot(std::span<const float> w, std::span<const float> x) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += static_cast<double>(w[i]) * static_cast<double>(x[i]);
  return sum;
}

std::vector<size_t> shuffled(size_t n, core::philox& random) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

match_predictor finished(const std::vector<double>& w, double offset) {
  match_predictor out;
  out.weights.assign(w.begin(), w.end());
  out.offset = offset;
  out.trained = true;
  return out;
}

// An embedding on the border that is computed again, for example in a batch of
// another size, may differ by this much, and stays inside.
constexpr double rounding = 1e-6;

// Returns the best offset for given weights: the nu-quantile of their scores.
double best_offset(std::span<const float> w, const embedding_list& list,
                   double nu) {
  std::vector<double> scores;
  for (size_t i = 0; i < list.size(); ++i)
    scores.push_back(dot(w, list.at(i)));
  std::sort(scores.begin(), scores.end());
  const auto at =
    static_cast<size_t>(std::floor(nu * static_cast<double>(scores.size())));
  return scores[std::min(at, scores.size() - 1)];
}

// Returns whether the objective of these weights is so close to that of their
// point of the dual, a lower bound for every machine, that more work would gain
// less than `share` of it.
bool close_to_optimum(const std::vector<double>& w, const embedding_list& list,
                      double nu, double share) {
  const double bound =
    -std::inner_product(w.begin(), w.end(), w.begin(), 0.0) / 2;
  auto m = finished(w, 0);
  m.offset = best_offset(m.weights, list, nu);
  return one_class_objective(m, list, nu) - bound <= share * std::abs(bound);
}

} // namespace

bool match_predictor::says_hit(std::span<const float> embedding) const {
  if (!trained)
    return true;
  if (embedding.size() != weights.size())
    return true;
  return dot(std::span<const float>{weights}, embedding) >= offset;
}

double one_class_objective(const match_predictor& of,
                           const embedding_list& cached, double nu) {
  const std::span<const float> w{of.weights};
  double hinge = 0;
  for (size_t i = 0; i < cached.size(); ++i)
    hinge += std::max(0.0, of.offset - dot(w, cached.at(i)));
  return dot(w, w) / 2 - of.offset
       + hinge / (nu * static_cast<double>(std::max<size_t>(cached.size(), 1)));
}

match_predictor train_one_class(const embedding_list& cached,
                                core::philox random, double nu, size_t epochs) {
  ATELIER_EXPECTS(nu > 0 && nu <= 1, "a share in (0, 1]");
  const size_t n = cached.size();
  if (n == 0)
    return {};
  // The dual has multipliers in 0..1/(nu n) that sum to 1; w is their
  // combination. Pairs of multipliers are moved to their exact optimum: no step
  // size is needed, and the sum does not change.
  const double most = 1 / (nu * static_cast<double>(n));
  std::vector<double> alpha(n, 0.0);
  double left = 1;
  for (size_t i = 0; i < n && left > 0; ++i) {
    alpha[i] = std::min(most, left);
    left -= alpha[i];
  }
  std::vector<double> w(cached.width, 0.0);
  const auto add = [&](size_t i, double by) {
    const auto x = cached.at(i);
    for (size_t k = 0; k < x.size(); ++k)
      w[k] += by * static_cast<double>(x[k]);
  };
  for (size_t i = 0; i < n; ++i)
    if (alpha[i] > 0)
      add(i, alpha[i]);
  // At the optimum, no embedding whose multiplier can still grow scores below
  // one whose multiplier is positive.
  std::vector<size_t> holders;
  size_t top = n;
  double top_score = 0;
  const auto look = [&] {
    std::erase_if(holders, [&](size_t i) { return alpha[i] <= 0; });
    top = n;
    for (const size_t i : holders) {
      const double score = dot(w, cached.at(i));
      if (top == n || score > top_score) {
        top = i;
        top_score = score;
      }
    }
  };
  for (size_t i = 0; i < n; ++i)
    if (alpha[i] > 0)
      holders.push_back(i);
  look();
  const auto improve = [&](size_t i) {
    if (alpha[i] >= most || i == top)
      return;
    const double gap = top_score - dot(w, cached.at(i));
    if (gap <= 1e-9)
      return;
    double apart = 0;
    const auto a = cached.at(i);
    const auto b = cached.at(top);
    for (size_t k = 0; k < a.size(); ++k) {
      const double d = static_cast<double>(a[k]) - static_cast<double>(b[k]);
      apart += d * d;
    }
    if (apart <= 0)
      return;
    const double step = std::min({gap / apart, alpha[top], most - alpha[i]});
    if (alpha[i] <= 0)
      holders.push_back(i);
    alpha[i] += step;
    alpha[top] -= step;
    if (alpha[top] < 1e-12)
      alpha[top] = 0;
    add(i, step);
    add(top, -step);
    look();
  };
  for (size_t epoch = 0; epoch < epochs; ++epoch) {
    for (const size_t i : shuffled(n, random))
      improve(i);
    // Embeddings with positive multipliers are balanced among each other at
    // little cost.
    for (size_t round = 0; round < 10; ++round)
      for (const size_t i : std::vector<size_t>{holders})
        improve(i);
    if (close_to_optimum(w, cached, nu, gap_share))
      break;
  }
  auto out = finished(w, 0);
  out.offset = best_offset(out.weights, cached, nu) - rounding;
  return out;
}

match_predictor train_on_outcomes(const embedding_list& searched,
                                  std::span<const search_outcome> outcomes,
                                  core::philox random, size_t epochs) {
  ATELIER_EXPECTS(outcomes.size() == searched.size(), "an outcome for each");
  // The place of each outcome, as often as it counts.
  std::vector<size_t> places;
  for (size_t i = 0; i < outcomes.size(); ++i)
    places.insert(places.end(), outcomes[i].stands_for, i);
  const auto hits = std::ranges::count_if(outcomes, &search_outcome::hit);
  if (hits == 0 || static_cast<size_t>(hits) == outcomes.size())
    return {};
  std::vector<double> w(searched.width, 0.0);
  std::vector<double> mean(searched.width, 0.0);
  double bias = 0;
  double mean_bias = 0;
  double t = 0;
  const double weak = 1 / static_cast<double>(places.size());
  for (size_t epoch = 0; epoch < epochs; ++epoch)
    for (const size_t place : shuffled(places.size(), random)) {
      const auto x = searched.at(places[place]);
      const double p = 1 / (1 + std::exp(-(dot(w, x) + bias)));
      const double error = (outcomes[places[place]].hit ? 1.0 : 0.0) - p;
      t += 1;
      const double rate = 8 / std::sqrt(1 + t / 100);
      for (size_t k = 0; k < x.size(); ++k) {
        w[k] += rate * (error * static_cast<double>(x[k]) - weak * w[k]);
        mean[k] += (w[k] - mean[k]) / t;
      }
      bias += rate * 0.1 * error;
      mean_bias += (bias - mean_bias) / t;
    }
  return finished(mean, -mean_bias);
}

bool retraining_due(size_t changed, size_t entries, double share) {
  return changed > 0
      && static_cast<double>(changed) > share * static_cast<double>(entries);
}

} // namespace atelier::planning::nirvana
