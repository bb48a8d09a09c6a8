// SPDX-License-Identifier: Apache-2.0

// How long does a request of a running engine wait for its search among the
// captions of many earlier requests, beyond the embedding of its own, and does
// the search find the nearest?
//
//   search_bench [ENTRIES] [REQUESTS] [ENCODER]
//
// ENCODER is the folder of a CLIP or sentence encoder, by default that of the
// shipped scorer, or "words". The cache is full: 20 requests a second ask for
// further captions, each leaves its work, and the oldest entry leaves for it;
// only an equal caption starts from earlier work and leaves none. As the policy
// says, one in fifty starts from noise without a search. Captions are
// drawn in sessions, in which most resemble an earlier one. The peer compares
// the caption's vector with all others, in the same run; what the searches
// found is checked with it.

#include "profile_file.hpp"
#include "search_times.hpp"
#include <atelier/atelier.hpp>
#include <atelier/index/forwarding.hpp>
#include <atelier/index/text_vector.hpp>
#include <atelier/training/evaluation/session_captions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace atelier;
using bench::microseconds_since;
using bench::print_times;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr auto request_gap = 50ms;
constexpr auto keep_patience = 10s;
constexpr auto graph_patience = 30min;
/// A search in a graph compares fewer vectors; one without compares all.
constexpr uint64_t most_compared = 4'000;
constexpr double least_right = 0.97;
/// Scalar products of the same vectors differ by their order of summation.
constexpr double rounding = 1e-5;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "search_bench: %s\n", why.c_str());
  std::exit(1);
}

/// A search as the cache answered it.
struct search {
  double similarity = 0;
  double microseconds = 0;
};

/// Notes what passes between an engine and its cache.
class watched_cache final : public index::forwarding_work {
public:
  using forwarding_work::forwarding_work;

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override {
    const auto begun = clock_type::now();
    auto found = forwarding_work::near(key, text, by);
    const std::lock_guard hold{lock_};
    last_search_ = {found.empty() ? 0 : found.front().similarity,
                    microseconds_since(begun)};
    return found;
  }

  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override {
    auto copy = what;
    const bool is_kept = forwarding_work::keep(key, text, std::move(what));
    const std::lock_guard hold{lock_};
    key_ = key;
    last_kept_ = std::move(copy);
    kept_ += is_kept;
    return is_kept;
  }

  std::optional<search> take_search() {
    const std::lock_guard hold{lock_};
    return std::exchange(last_search_, std::nullopt);
  }

  void wait_until_kept(uint64_t entries) {
    const auto end = clock_type::now() + keep_patience;
    while (kept() < entries) {
      if (clock_type::now() > end)
        stop("a request left nothing in the cache");
      std::this_thread::sleep_for(1ms);
    }
  }

  /// Keeps for another text what the last request left.
  void fill(std::string_view text) {
    if (!keep(key_, text, last_kept_))
      stop(fmt::format("the cache refuses the work of '{}'", text));
  }

  uint64_t kept() const {
    const std::lock_guard hold{lock_};
    return kept_;
  }

  /// Returns the vectors that a search for a text compares.
  uint64_t compared_for(std::string_view text) {
    const auto before = counts().compared;
    near(key_, text, {1});
    return counts().compared - before;
  }

  std::vector<float> embedded(std::string_view text) {
    auto out = vector_of(key_, text);
    if (out.empty())
      stop(fmt::format("'{}' has no vector", text));
    return out;
  }

private:
  mutable std::mutex lock_;
  std::string key_;
  index::leftover last_kept_;
  std::optional<search> last_search_;
  uint64_t kept_ = 0;
};

/// Returns a profile by which every request searches and only equal captions
/// are similar enough.
planning::profile searching_profile() {
  planning::profile p;
  auto v = *planning::parse_variant("card@10");
  v.native_px = {64, 64};
  v.step = {{1, 64 * 64, 1ms, 9}};
  v.quality = 0.5;
  p.variants.push_back(v);
  p.reuse.emplace();
  p.reuse->full = core::variant_id{0};
  p.reuse->steps = 10;
  p.reuse->latents = {{5, 1}};
  return p;
}

std::unique_ptr<engine> started(const std::filesystem::path& profile,
                                const std::string& encoder, size_t entries,
                                std::shared_ptr<watched_cache>& cache) {
  engine_options x;
  x.set = {"processes.mode=single",
           "arena.capture_slots=8",
           "log.level=off",
           "devices=[{name='cpu:0',executor='test_card',variants=['card@10']}]",
           "policy.name='nirvana-no-predictor'",
           fmt::format("planner.profile='{}'", profile.string()),
           "cache.memory_mib=65536",
           "cache.eviction='fifo'",
           fmt::format("cache.entries={}", entries),
           fmt::format("cache.encoder='{}'", encoder)};
  x.extend.cache = [&](std::shared_ptr<index::kept_work> inner) {
    return cache = std::make_shared<watched_cache>(std::move(inner));
  };
  auto made = engine::start(x);
  if (const auto* why = std::get_if<failure>(&made))
    stop(why->text);
  return std::get<0>(std::move(made));
}

generated_image drawn(engine& by, const std::string& prompt) {
  generation x;
  x.prompt = prompt;
  x.width = x.height = 64;
  x.cache = "on";
  auto made = by.submit(x).value().result.get();
  if (!made)
    stop(made.why().text);
  return std::get<0>(std::move(made));
}

/// What a request asked for, and what its search had to look at.
struct asked {
  std::vector<float> vector;
  double similarity = 0;
  size_t first = 0;
  size_t end = 0;
};

/// Compares what searches found with the nearest of all vectors.
void check(const std::vector<asked>& searches,
           const std::vector<std::vector<float>>& all) {
  std::vector<double> times;
  size_t right = 0;
  for (const auto& x : searches) {
    const auto begun = clock_type::now();
    double best = 0;
    for (auto at = x.first; at < x.end; ++at)
      best = std::max<double>(best, index::similarity(x.vector, all[at]));
    times.push_back(microseconds_since(begun));
    // Texts of other words are never more similar, however near their vectors.
    right +=
      x.similarity >= std::min(best, index::most_of_other_texts) - rounding;
  }
  const auto share =
    static_cast<double>(right) / static_cast<double>(searches.size());
  std::printf("recall@1 %.4f of %zu searches\n", share, searches.size());
  print_times("  comparing every vector", std::move(times));
  // One miss among few searches says nothing.
  if (share < least_right && right + 1 < searches.size())
    stop("too few of the nearest were found");
}

} // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, size_t otherwise) {
    return argc > i ? std::strtoul(argv[i], nullptr, 10) : otherwise;
  };
  const auto entries = argument(1, 100'000);
  const auto requests = argument(2, 2'400);
  std::string encoder =
    argc > 3 ? argv[3] : ATELIER_BENCH_DIR "/../models/scorer";
  if (encoder == "words")
    encoder.clear();
  if (entries < 2 || requests == 0)
    stop("ENTRIES is at least 2, REQUESTS at least 1");
  const auto captions = gpu::draw_sessions(1, entries + requests);
  const bench::profile_file profile{searching_profile()};
  std::shared_ptr<watched_cache> cache;
  const auto by = started(profile.path, encoder, entries, cache);

  drawn(*by, captions[0].said.text);
  cache->wait_until_kept(1);
  auto begun = clock_type::now();
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < entries; ++i) {
    const auto& text = captions[i].said.text;
    vectors.push_back(cache->embedded(text));
    if (i > 0)
      cache->fill(text);
  }
  std::printf("%zu captions by vectors of %zu numbers: kept in %.0f s\n",
              entries, vectors[0].size(), microseconds_since(begun) / 1e6);
  while (cache->compared_for(captions[0].said.text) > most_compared) {
    if (clock_type::now() - begun > graph_patience)
      stop("no graph was built");
    std::this_thread::sleep_for(100ms);
  }
  std::printf("indexed after %.0f s\n", microseconds_since(begun) / 1e6);

  std::vector<double> embedding;
  std::vector<double> waiting;
  std::vector<double> searching;
  std::vector<asked> searches;
  size_t reused = 0;
  auto next = clock_type::now();
  for (size_t i = entries; i < entries + requests; ++i) {
    const auto& text = captions[i].said.text;
    asked x;
    begun = clock_type::now();
    x.vector = cache->embedded(text);
    embedding.push_back(microseconds_since(begun));
    x.end = vectors.size();
    x.first = x.end - cache->counts().entries;
    cache->take_search();
    const auto made = drawn(*by, text);
    if (const auto found = cache->take_search()) {
      waiting.push_back(static_cast<double>(made.took.retrieve.count()) / 1e3);
      searching.push_back(found->microseconds);
      x.similarity = found->similarity;
      searches.push_back(x);
    }
    if (made.reused) {
      ++reused;
    } else {
      vectors.push_back(x.vector);
      cache->wait_until_kept(vectors.size());
    }
    std::this_thread::sleep_until(next += request_gap);
  }
  if (searches.empty())
    stop("no request searched");
  std::printf("%zu requests, of which %zu searched and %zu found an equal "
              "caption\n",
              requests, searches.size(), reused);
  print_times("a request's wait for its search", std::move(waiting));
  print_times("  the search alone", std::move(searching));
  print_times("  the embedding before it", std::move(embedding));
  check(searches, vectors);
  return 0;
}
