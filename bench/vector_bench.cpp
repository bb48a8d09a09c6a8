// SPDX-License-Identifier: Apache-2.0

// How long does a search for the nearest of many vectors take in a full cache
// that changes, how often does it find the right vector, and how long does a
// change take?
//
//   vector_bench [VECTORS] [DIMENSIONS] [CHANGES]
//
// 20 times a second the oldest vector leaves and a new one is added, while
// another thread searches 200 times a second. The peer compares every vector,
// in the same run. The searches are checked for correctness before any is
// timed.
#include "search_times.hpp"
#include <atelier/core/philox.hpp>
#include <atelier/index/nearest.hpp>
#include <atelier/index/text_vector.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using namespace atelier;
using bench::microseconds_since;
using bench::print_times;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using vector = std::vector<float>;

constexpr auto change_gap = 50ms;
constexpr auto search_gap = 5ms;
constexpr size_t searches_compared = 300;
constexpr double least_right = 0.97;

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "vector_bench: %s\n", why);
  std::exit(1);
}

// Draws vectors around random centres, 50 for each centre, with 0.6 times as
// much noise as the centres have.
class source {
public:
  source(size_t dimensions, size_t vectors) : dimensions_(dimensions) {
    for (size_t i = 0; i < vectors / 50 + 1; ++i)
      centres_.push_back(noise());
  }

  vector draw() {
    const auto& centre = centres_[random_.below(centres_.size())];
    auto out = noise();
    double squares = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = centre[i] + 0.6F * out[i];
      squares += static_cast<double>(out[i]) * out[i];
    }
    for (auto& x : out)
      x = static_cast<float>(x / std::sqrt(squares));
    return out;
  }

private:
  vector noise() {
    vector out(dimensions_);
    for (auto& x : out)
      x = static_cast<float>(random_.normal());
    return out;
  }

  size_t dimensions_;
  core::philox random_{1, core::purpose::test, core::request_id{1}};
  std::vector<vector> centres_;
};

// Compares searches in the index with searches over `units` from `first` to
// `end`, whose places are the index's keys.
void compare(const index::nearest_by_key& n, const std::vector<vector>& units,
             size_t first, size_t end, source& from, const char* when) {
  std::vector<double> times;
  size_t right = 0;
  for (size_t i = 0; i < searches_compared; ++i) {
    const auto wanted = from.draw();
    const auto found = n.near("k", wanted, 1);
    const auto begun = clock_type::now();
    index::near_vector best;
    for (auto at = first; at < end; ++at)
      if (const auto x = index::similarity(wanted, units[at]);
          x >= best.similarity)
        best = {at, x};
    times.push_back(microseconds_since(begun));
    right += !found.empty() && found.front() == best;
  }
  const auto share =
    static_cast<double>(right) / static_cast<double>(searches_compared);
  std::printf("%-36s recall@1 %.3f\n", when, share);
  print_times("  looking at every vector", std::move(times));
  if (share < least_right)
    stop("too few of the nearest were found");
}

} // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, size_t otherwise) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : otherwise;
  };
  const auto many = argument(1, 100'000);
  const auto dimensions = argument(2, 768);
  const auto changes = argument(3, 2'400);
  if (many < 100 || dimensions == 0 || changes == 0)
    stop("VECTORS is at least 100, DIMENSIONS and CHANGES at least 1");
  source from{dimensions, many};
  std::vector<vector> units;
  for (size_t i = 0; i < many + changes; ++i)
    units.push_back(from.draw());
  std::vector<vector> questions;
  for (size_t i = 0; i < 1'000; ++i)
    questions.push_back(from.draw());

  index::nearest_by_key n{dimensions};
  auto begun = clock_type::now();
  std::vector<index::loaded_vector> all;
  for (size_t i = 0; i < many; ++i)
    all.push_back({i, units[i]});
  n.fill("k", std::move(all));
  std::printf("%zu vectors of %zu numbers: loaded in %.2f s, %.0f MiB\n", many,
              dimensions, microseconds_since(begun) / 1e6,
              static_cast<double>(n.bytes()) / (1 << 20));
  // Results of requests that come during the first build are kept, too.
  if (!n.add("k", many + changes, units.front())
      || !n.remove("k", many + changes))
    stop("a vector was refused after the start");
  n.settle();
  std::printf("indexed after %.1f s, %.0f MiB\n",
              microseconds_since(begun) / 1e6,
              static_cast<double>(n.bytes()) / (1 << 20));
  compare(n, units, 0, many, from, "full");

  std::atomic<size_t> gone{0};
  std::atomic<bool> ends{false};
  std::atomic<bool> wrong{false};
  std::vector<double> search_times;
  std::jthread searcher{[&] {
    auto next = clock_type::now();
    for (size_t i = 0; !ends; ++i) {
      const auto before = gone.load();
      const auto at = clock_type::now();
      const auto found = n.near("k", questions[i % questions.size()], 1);
      search_times.push_back(microseconds_since(at));
      if (found.empty() || found.front().number < before)
        wrong = true;
      std::this_thread::sleep_until(next += search_gap);
    }
  }};
  std::vector<double> add_times;
  uint64_t most_bytes = 0;
  auto next = clock_type::now();
  for (size_t i = 0; i < changes; ++i) {
    if (!n.remove("k", i))
      stop("a vector was not there");
    gone = i + 1;
    const auto at = clock_type::now();
    if (!n.add("k", many + i, units[many + i]))
      stop("a vector was refused");
    add_times.push_back(microseconds_since(at));
    most_bytes = std::max(most_bytes, n.bytes());
    std::this_thread::sleep_until(next += change_gap);
  }
  ends = true;
  searcher.join();
  if (wrong)
    stop("a search found nothing, or what had been removed");
  print_times("searches beside changes", std::move(search_times));
  print_times("additions", std::move(add_times));
  n.settle();
  const auto counts = n.counts();
  std::printf(
    "%lu builds, %lu searches checked, %lu agreed, at most %.0f MiB\n",
    static_cast<unsigned long>(counts.builds),
    static_cast<unsigned long>(counts.checked),
    static_cast<unsigned long>(counts.agreed),
    static_cast<double>(most_bytes) / (1 << 20));
  compare(n, units, changes, many + changes, from, "after the changes");
}
