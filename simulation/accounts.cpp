// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/modm/energy.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>
#include <atelier/simulation/accounts.hpp>
#include <atelier/simulation/knowledge.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace atelier::runtime {

namespace {

/// Mixes a word into a digest (FNV-1a over its bytes).
void mix(uint64_t& digest, uint64_t word) {
  for (int i = 0; i < 8; ++i) {
    digest ^= (word >> (8 * i)) & 0xFF;
    digest *= 0x100000001B3ull;
  }
}

/// Returns the time of the first request after a warm-up; 0 without a warm-up.
double warm_up_seconds(std::span<const planning::traced_arrival> of) {
  if (of.empty() || !of.front().warm_up)
    return 0;
  const auto first = std::find_if(of.begin(), of.end(),
                                  [](const auto& a) { return !a.warm_up; });
  return first == of.end() ? 0 : first->seconds;
}

double share_of(std::vector<float>& sorted, double part) {
  if (sorted.empty())
    return 0;
  const auto at =
    static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(at, 1) - 1]);
}

} // namespace

double number_of(uint64_t content, uint32_t word) {
  core::philox random{0, core::purpose::simulation, core::request_id{content}};
  random.seek(uint64_t{word} * 2);
  return random.uniform();
}

uint32_t class_of_content(const planning::ladder_profile& of,
                          uint64_t content) {
  const auto& shares = of.class_shares;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  double left = number_of(content, 1) * sum;
  if (!(sum > 0))
    return 0;
  for (uint32_t c = 0; c + 1 < shares.size(); ++c) {
    left -= shares[c];
    if (left < 0)
      return c;
  }
  return static_cast<uint32_t>(shares.size() - 1);
}

double quality_of(const planning::profile& known, core::variant_id variant,
                  uint32_t steps_skipped, uint64_t content) {
  for (const auto& ladder : known.ladders)
    for (const auto& level : ladder.levels)
      if (level.variant == variant && level.skip == steps_skipped) {
        const auto c = class_of_content(ladder, content);
        return c < level.class_quality.size() ? level.class_quality[c]
                                              : level.quality;
      }
  const auto& v = known.variants[variant.value];
  const double whole = v.quality;
  if (v.steps > 0 && steps_skipped >= v.steps)
    return planning::nirvana::found_quality * whole;
  const bool resumed = steps_skipped > 0 && known.reuse
                    && known.reuse->full == variant
                    && !known.reuse->latents.empty();
  return resumed ? planning::nirvana::resumed_quality * whole : whole;
}

accounts::accounts(const scenario& of, core::time_point begin)
  : of_(of), begin_(begin) {
  out_.policy = of.policy->name();
  out_.seed = of.seed;
  out_.trace_moved = of.trace_moved;
  std::set<uint32_t> tenants;
  std::optional<uint32_t> last;
  for (const auto& a : of.trace) {
    // The images of a request are consecutive.
    if (a.warm_up || std::exchange(last, a.request) == a.request)
      continue;
    ++out_.requests;
    out_.trace_failed += a.failed ? 1 : 0;
    if (a.tenant != planning::no_name)
      tenants.insert(a.tenant);
  }
  out_.tenants = tenants.size();
  out_.digest = 0xCBF29CE484222325ull;
  const auto& known = *of.profile;
  out_.rated = !known.ladders.empty() || known.reuse.has_value();
  for (const auto& v : known.variants) {
    out_.variants.push_back(v.name);
    out_.rated = out_.rated || v.rated;
  }
  latencies_ms_.reserve(of.trace.size());
  judged_.assign(of.trace.size(), 0);
  auto groups = of.devices;
  if (groups.empty())
    groups.push_back({{}, of.workers});
  for (auto& g : groups)
    kinds_.push_back({std::move(g),
                      std::vector<core::timespan>(of.profile->variants.size()),
                      {}});
}

void accounts::worked(uint32_t device, std::optional<core::variant_id> variant,
                      core::timespan time) {
  size_t k = 0;
  while (k + 1 < kinds_.size() && device >= kinds_[k].devices.count) {
    device -= kinds_[k].devices.count;
    ++k;
  }
  (variant ? kinds_[k].ran[variant->value] : kinds_[k].loaded) += time;
}

// A device that loads draws as much as an idle one, since no other value is
// known.
kind_use accounts::use_of(const kind_books& x, double lasted) const {
  using namespace planning::modm;
  kind_use out;
  out.kind = x.devices.kind;
  out.devices = x.devices.count;
  out.device_seconds =
    core::to_seconds(std::accumulate(x.ran.begin(), x.ran.end(), x.loaded));
  const auto known = planning::seen_on(*of_.profile, x.devices.kind);
  double joules = 0;
  for (size_t v = 0; v < x.ran.size(); ++v) {
    const double watts = known.variants[v].busy_watts;
    if (x.ran[v].count() > 0 && watts <= 0)
      return out;
    joules += energy({watts, 0, 0}, {core::to_seconds(x.ran[v]), 0, 0});
  }
  const double idle = known.idle_watts;
  const double rest =
    std::max(0.0, lasted * x.devices.count - out.device_seconds);
  out.idle_joules =
    energy({0, idle, idle}, {0, rest, core::to_seconds(x.loaded)});
  out.joules = joules + out.idle_joules;
  return out;
}

void accounts::judged(core::request_id id, const std::string& judge) {
  if (!of_.profile->cascades.empty()
      && judge == of_.profile->cascades.front().judge)
    judged_[id.value - 1] = 1;
}

// Returns the measured value for the images that the judge chose, and for the
// rest a value on the line between both ends, weighted by their shares,
// although the distance itself is not additive in these.
double accounts::fid(const planning::diffserve::quality_table& table) const {
  using namespace planning::diffserve;
  const auto part = [](uint64_t some, uint64_t all) {
    return all == 0 ? 0.0
                    : static_cast<double>(some) / static_cast<double>(all);
  };
  const auto others = images_ - answered_judged_;
  const double chosen = part(answered_judged_, images_);
  return chosen * quality_at(table, part(light_judged_, answered_judged_))
       + (1 - chosen)
           * random_quality_at(table, part(light_ - light_judged_, others));
}

interval& accounts::at(double seconds) {
  const auto i = static_cast<size_t>(
    std::max(0.0, std::floor(seconds / of_.interval_seconds)));
  while (out_.series.size() <= i) {
    interval next;
    next.begin_seconds =
      static_cast<double>(out_.series.size()) * of_.interval_seconds;
    out_.series.push_back(next);
  }
  return out_.series[i];
}

void accounts::book(const actors::answer& what, core::time_point now) {
  ++booked_;
  const auto& request = *what.request;
  const auto& traced = of_.trace[request.id.value - 1];
  mix(out_.digest, request.id.value);
  mix(out_.digest, static_cast<uint64_t>((now - begin_).count()));
  mix(out_.digest, static_cast<uint64_t>(what.failure.code) << 32
                     | what.recipe.variant.value);
  if (traced.warm_up)
    return;
  auto& open = open_[traced.request];
  ++open.ended;
  if (what.failure.code != core::ec::none) {
    open.lost = true;
  } else {
    book_image(what, at(traced.seconds));
    ++at(core::to_seconds(now - begin_)).answered_here;
  }
  open.late = open.late || now > request.deadline;
  if (open.ended < std::max(traced.images, 1u))
    return;
  const auto ended = open;
  open_.erase(traced.request);
  book_end(request, ended, now);
}

void accounts::book_image(const actors::answer& what, interval& here) {
  const auto& request = *what.request;
  const auto& traced = of_.trace[request.id.value - 1];
  const auto& v = of_.profile->variants[what.recipe.variant.value];
  const auto all = core::steps_to_run(what.recipe);
  // For a cascade the earlier legs also count: the last leg determines the
  // steps that were saved.
  const auto skipped = all - std::min(all, what.steps_run);
  const double quality =
    quality_of(*of_.profile, what.recipe.variant, skipped, traced.content);
  const bool light = !of_.profile->cascades.empty()
                  && what.recipe.variant == of_.profile->cascades.front().light;
  ++images_;
  ++here.images;
  here.quality_sum += quality;
  here.light += light ? 1 : 0;
  quality_ += quality;
  light_ += light ? 1 : 0;
  const bool chosen = judged_[request.id.value - 1] != 0;
  answered_judged_ += chosen ? 1 : 0;
  light_judged_ += chosen && light ? 1 : 0;
  const double saved =
    v.steps == 0 ? 0 : static_cast<double>(skipped) / v.steps;
  saved_ += saved;
  here.saved_sum += saved;
  steps_ms_.push_back(static_cast<float>(core::to_ms(what.took.denoise)));
  first_step_ms_ += core::to_ms(what.took.first_step);
}

void accounts::book_end(const core::request& of, const open_request& x,
                        core::time_point now) {
  // Both may be in one interval: the reference is used before the next call.
  auto& here = at(of_.trace[of.id.value - 1].seconds);
  ++here.arrived;
  if (x.lost) {
    ++here.dropped;
    ++out_.dropped;
    return;
  }
  ++(x.late ? here.late : here.in_time);
  out_.late += x.late ? 1 : 0;
  ++out_.completed;
  latencies_ms_.push_back(static_cast<float>(core::to_ms(now - of.arrived)));
  if (!of.source)
    return;
  ++out_.edits;
  if (const auto mask = mask_of(of_, of.id))
    out_.masked_mean +=
      (mask->ratio - out_.masked_mean) / static_cast<double>(out_.edits);
}

void accounts::look(const actors::scheduler& tables,
                    const planning::plan& in_force, core::time_point now,
                    const simulated_cache* cache) {
  const auto seconds = core::to_seconds(now - begin_);
  // The state now belongs to the interval that just ended.
  auto& here = at(std::max(0.0, seconds - of_.interval_seconds / 2));
  here.workers.assign(of_.profile->variants.size() + 1, 0);
  for (const auto& w : tables.cluster().workers)
    ++here.workers[w.hosting.empty() ? here.workers.size() - 1
                                     : w.hosting.front().value];
  here.threshold =
    in_force.thresholds.empty() ? -1 : in_force.thresholds.front();
  here.open = tables.rows();
  const auto& counts = tables.counts();
  here.searches = counts.searched - searched_;
  here.hits = counts.hits - hits_;
  searched_ = counts.searched;
  hits_ = counts.hits;
  here.loads = counts.loads - out_.loads;
  if (cache != nullptr) {
    const auto& of = cache->counts();
    here.cached = cache->size();
    out_.cache_entries = of_.cache.entries;
    out_.cache_inserted = of.inserted;
    out_.cache_evicted = of.evicted;
    out_.cache_holes = of.holes;
    auto ages = of.ages_seconds;
    std::sort(ages.begin(), ages.end());
    out_.hit_age_p50_seconds = share_of(ages, 0.5);
    out_.hit_age_p90_seconds = share_of(ages, 0.9);
  }
  out_.cache_lookups = counts.searched;
  out_.cache_hits = counts.hits;
  out_.loads = counts.loads;
  out_.workers_lost = counts.workers_lost;
}

outcome accounts::close(core::time_point end) {
  auto out = out_;
  const auto done = static_cast<double>(std::max<uint64_t>(out.completed, 1));
  const auto images = static_cast<double>(std::max<uint64_t>(images_, 1));
  out.images = images_;
  out.quality_mean = quality_ / images;
  out.light_share = static_cast<double>(light_) / images;
  out.saved_steps = saved_ / images;
  if (!of_.profile->cascades.empty()
      && !of_.profile->cascades.front().fid.empty())
    out.fid = fid(of_.profile->cascades.front().fid);
  const double lasted = std::max(core::to_seconds(end - begin_), 1e-9);
  out.virtual_seconds = lasted;
  out.throughput_qps = static_cast<double>(images_)
                     / std::max(lasted - warm_up_seconds(of_.trace), 1e-9);
  bool measured = true;
  double joules = 0;
  for (const kind_books& x : kinds_) {
    auto use = use_of(x, lasted);
    out.device_seconds += use.device_seconds;
    measured = measured && use.joules >= 0;
    joules += use.joules;
    out.idle_joules += use.idle_joules;
    if (!of_.devices.empty())
      out.kinds.push_back(std::move(use));
  }
  if (measured)
    out.joules = joules;
  else
    out.idle_joules = 0;
  out.utilisation = out.device_seconds / (lasted * of_.workers);
  auto& all = latencies_ms_;
  out.latency_mean_ms = std::accumulate(all.begin(), all.end(), 0.0) / done;
  std::sort(all.begin(), all.end());
  out.latency_p50_ms = share_of(all, 0.5);
  out.latency_p95_ms = share_of(all, 0.95);
  out.latency_p99_ms = share_of(all, 0.99);
  out.first_step_mean_ms = first_step_ms_ / images;
  std::sort(steps_ms_.begin(), steps_ms_.end());
  out.steps_p95_ms = share_of(steps_ms_, 0.95);
  return out;
}

} // namespace atelier::runtime
