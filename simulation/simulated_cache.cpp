// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/planning/demand/workload.hpp>
#include <atelier/simulation/simulated_cache.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace atelier::runtime {

namespace {

using planning::nirvana::cached_state;
using planning::nirvana::eviction_rule;

constexpr uint32_t most_states = 100'000;
constexpr uint32_t most_topics = 1'000'000;

/// Streams of the purpose `sampling` other than those of single requests, which
/// count from 1.
constexpr uint64_t topics_stream = uint64_t{1} << 62;
constexpr uint64_t topic_stream = uint64_t{1} << 61;
constexpr uint64_t own_stream = uint64_t{1} << 60;

using vector = synthetic_prompts::vector;

// Uses eight sums, so that they need not wait for each other.
float dot(const vector& a, const vector& b) {
  std::array<float, 8> sums{};
  for (size_t i = 0; i < a.size(); i += sums.size())
    for (size_t k = 0; k < sums.size(); ++k)
      sums[k] += a[i + k] * b[i + k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3]))
       + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

vector unit(core::philox& random) {
  vector out;
  for (auto& x : out)
    x = static_cast<float>(random.normal());
  const float length = std::sqrt(dot(out, out));
  for (auto& x : out)
    x /= length;
  return out;
}

} // namespace

core::result<void> check_cache(const cache_spec& x) {
  using core::ec;
  const auto whole = [](const char* what, uint32_t value, uint32_t least,
                        uint32_t most) -> core::result<void> {
    if (value >= least && value <= most)
      return {};
    return core::fail(ec::invalid_argument, "{} {} outside {}..{}", what, value,
                      least, most);
  };
  if (auto ok = whole("entries", x.entries, 0, most_states); !ok)
    return ok;
  if (auto ok = whole("topics", x.topics, 1, most_topics); !ok)
    return ok;
  if (auto ok = whole("recent", x.recent, 1, most_topics); !ok)
    return ok;
  if (!(x.again >= 0 && x.again <= 1))
    return core::fail(ec::invalid_argument, "again {} outside 0..1", x.again);
  if (!(x.scale >= 0 && x.scale <= 1))
    return core::fail(ec::invalid_argument, "scale {} outside 0..1", x.scale);
  return {};
}

synthetic_prompts::synthetic_prompts(const cache_spec& of, double mean,
                                     double spread, size_t requests,
                                     uint64_t seed)
  : mean_(mean), spread_(spread), seed_(seed) {
  core::philox random{seed, core::purpose::sampling,
                      core::request_id{topics_stream}};
  const planning::zipf popular{of.topics};
  topics_.reserve(requests);
  for (size_t i = 0; i < requests; ++i) {
    const auto back = std::min<size_t>(of.recent, i);
    if (random.uniform() < of.again && back > 0)
      topics_.push_back(topics_[i - 1 - random.below(back)]);
    else
      topics_.push_back(popular(random));
  }
}

vector synthetic_prompts::operator()(size_t request) const {
  const auto stream = [&](uint64_t whose) {
    return core::philox{seed_, core::purpose::sampling,
                        core::request_id{whose}};
  };
  auto own = stream(own_stream + request);
  const double r = std::clamp(mean_ + spread_ * own.normal(), 0.0, 1.0);
  const auto a = static_cast<float>(std::sqrt(r));
  const auto b = static_cast<float>(std::sqrt(1 - r));
  auto topic = stream(topic_stream + topics_[request]);
  auto out = unit(topic);
  const auto apart = unit(own);
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = a * out[i] + b * apart[i];
  const float length = std::sqrt(dot(out, out));
  for (auto& x : out)
    x /= length;
  return out;
}

simulated_cache::simulated_cache(const cache_spec& of,
                                 const synthetic_prompts& prompts, double scale)
  : of_(of), prompts_(prompts), scale_(scale) {}

planning::nirvana::eviction_place simulated_cache::place_of(
  const cached_state& x) const {
  return planning::nirvana::place_of(x, of_.replace);
}

const simulated_cache::kept& simulated_cache::at(uint64_t entry) const {
  return kept_[places_.at(entry)];
}

std::vector<planning::match> simulated_cache::near(size_t request,
                                                   size_t most) const {
  const auto wanted = prompts_(request);
  using found = std::pair<float, uint64_t>;
  std::vector<found> best;
  const auto before = [](const found& a, const found& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  for (const auto& x : kept_) {
    const found here{dot(wanted, x.position), x.entry};
    if (best.size() == most && !before(here, best.back()))
      continue;
    if (best.size() == most)
      best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), here, before), here);
  }
  std::vector<planning::match> out;
  for (const auto& [cosine, entry] : best) {
    const auto& x = at(entry);
    planning::match m;
    m.entry = entry;
    m.similarity = scale_ * std::clamp(static_cast<double>(cosine), 0.0, 1.0);
    m.depth = x.depth;
    if (!x.image)
      for (const auto& s : x.states)
        m.stored.push_back(s.skip);
    out.push_back(std::move(m));
  }
  return out;
}

void simulated_cache::searched(const std::vector<planning::match>& found) {
  if (found.empty())
    return;
  const auto& nearest = at(found.front().entry);
  counts_.holes += nearest.states.size() < nearest.all ? 1u : 0u;
}

bool simulated_cache::use(uint64_t entry, uint32_t skip, double now) {
  const auto found = places_.find(entry);
  if (found == places_.end())
    return false;
  auto& x = kept_[found->second];
  for (auto& s : x.states)
    if (x.image || s.skip == skip) {
      order_.erase(place_of(s));
      s.uses += 1;
      s.used = ++clock_;
      s.floor = floor_;
      order_.insert(place_of(s));
      counts_.ages_seconds.push_back(static_cast<float>(now - x.since));
    }
  return true;
}

void simulated_cache::insert(size_t request,
                             const std::vector<uint32_t>& latents,
                             uint32_t depth, double now) {
  const bool image = latents.empty();
  const auto count = image ? 1 : latents.size();
  if (count > of_.entries)
    return;
  // Source: Nirvana, section 5.4: the five lowest before each insertion.
  const bool full = order_.size() + count > of_.entries;
  const size_t least = of_.replace == eviction_rule::lcbfu && full && !image
                       ? planning::nirvana::evicted_at_once
                       : 0;
  for (size_t gone = 0;
       !order_.empty() && (order_.size() + count > of_.entries || gone < least);
       ++gone)
    evict_one();
  kept x;
  x.entry = ++newest_;
  x.position = prompts_(request);
  x.all = count;
  x.image = image;
  x.depth = depth;
  x.since = now;
  ++clock_;
  for (size_t i = 0; i < count; ++i) {
    cached_state s;
    s.entry = x.entry;
    s.skip = image ? 1 : latents[i];
    s.below = i > 0 ? latents[i - 1] : 0;
    s.bytes = 1;
    s.uses = planning::nirvana::first_uses(of_.replace);
    s.inserted = s.used = clock_;
    s.floor = floor_;
    order_.insert(place_of(s));
    x.states.push_back(s);
  }
  counts_.inserted += count;
  places_[x.entry] = kept_.size();
  kept_.push_back(std::move(x));
}

void simulated_cache::evict_one() {
  const auto least = *order_.begin();
  order_.erase(order_.begin());
  ++counts_.evicted;
  const auto entry = std::get<3>(least);
  auto& x = kept_[places_.at(entry)];
  const auto gone =
    std::find_if(x.states.begin(), x.states.end(),
                 [&](const auto& s) { return s.skip == std::get<2>(least); });
  if (of_.replace == eviction_rule::marginal) {
    floor_ = std::get<0>(least);
    // Its uses go to the state below, and the state above now falls back to
    // that one.
    const auto change = [&](cached_state& s, auto how) {
      order_.erase(place_of(s));
      how(s);
      order_.insert(place_of(s));
    };
    if (gone != x.states.begin())
      change(*std::prev(gone), [&](auto& s) { s.uses += gone->uses; });
    if (std::next(gone) != x.states.end())
      change(*std::next(gone), [&](auto& s) { s.below = gone->below; });
  }
  x.states.erase(gone);
  if (!x.states.empty())
    return;
  const auto place = places_.at(entry);
  places_.erase(entry);
  if (place + 1 != kept_.size()) {
    kept_[place] = std::move(kept_.back());
    places_[kept_[place].entry] = place;
  }
  kept_.pop_back();
}

std::vector<cached_state> simulated_cache::states() const {
  std::vector<cached_state> out;
  for (const auto& x : kept_)
    out.insert(out.end(), x.states.begin(), x.states.end());
  return out;
}

} // namespace atelier::runtime
