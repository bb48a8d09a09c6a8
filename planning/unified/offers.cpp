// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/argus/ladder.hpp>
#include <atelier/planning/diffserve/quality.hpp>
#include <atelier/planning/modm/refinement.hpp>
#include <atelier/planning/nirvana/step_choice.hpp>
#include <atelier/planning/policies/detail/argus_parts.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/instgenie.hpp>
#include <atelier/planning/unified/offers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace atelier::planning::unified {

namespace {

// Of the moving mean of arrivals.
constexpr double newest_weight = 0.5;

// Gates of a cascade.
constexpr size_t most_gates = 8;

// A class that nobody asks for now has a share all the same.
constexpr double least_share = 1e-3;

// Batch sizes of a variant: one row, the middle and the largest measured.
std::vector<uint32_t> batches_of(const variant_profile& v, uint32_t most) {
  std::set<uint32_t> all{1};
  for (const step_cost& s : v.step)
    if (s.batch >= 1 && s.batch <= most)
      all.insert(s.batch);
  std::vector<uint32_t> out(all.begin(), all.end());
  if (out.size() > 3)
    out = {out.front(), out[out.size() / 2], out.back()};
  return out;
}

// A stage of a column before it is bound to a pool.
struct leg {
  core::variant_id variant;
  double steps = 0;
  // Seconds of a step at a batch; the variant's own where empty.
  std::function<double(uint32_t)> step_seconds;
  // Once for each picture, besides.
  double once = 0;
  // The share of requests that comes this far.
  double reach = 1;
};

class builder {
public:
  builder(const demand& asked, const profile& known, const cluster_view& there,
          const offer_rules& rules)
    : known_(known), rules_(rules) {
    add_pools(there);
    add_classes(asked);
    deadline_ = deadline();
  }

  offers done() {
    add_floors();
    out_.asked.period = rules_.period;
    out_.asked.load_price = rules_.load_price;
    out_.asked.fresh = rules_.fresh;
    return std::move(out_);
  }

  // Of whole pictures, not edits: label, and steps that may be skipped.
  const std::vector<std::pair<uint32_t, uint32_t>>& classes() const {
    return meaning_;
  }

  uint32_t add_route(route r, bool reuses) {
    out_.routes.push_back(std::move(r));
    out_.reuses.push_back(reuses ? 1 : 0);
    return static_cast<uint32_t>(out_.routes.size() - 1);
  }

  uint32_t add_threshold(double t) {
    out_.thresholds.push_back(t);
    return static_cast<uint32_t>(out_.thresholds.size() - 1);
  }

  const class_map& map() const {
    return out_.classes;
  }

  // Binds the legs to every pool of their variants, where that ends in time.
  void add(uint32_t of, uint32_t route, double quality, bool fresh,
           const std::vector<leg>& legs) {
    column c;
    c.of = of;
    c.key = route;
    c.quality = std::max(0.0, quality);
    c.fresh = fresh;
    bind(c, legs, 0, 0);
  }

private:
  void bind(column& c, const std::vector<leg>& legs, size_t at,
            double seconds) {
    if (at == legs.size()) {
      out_.asked.columns.push_back(c);
      return;
    }
    const leg& l = legs[at];
    for (const uint32_t p : pools_of_[l.variant.value]) {
      const pool_key& key = out_.pools[p];
      // The next leg on the same kind of device and the same budget: other
      // pairs bring no more than they cost to look at.
      if (at > 0) {
        const pool_key& first = out_.pools[c.work[0].pool];
        if (key.device_kind != first.device_kind || key.wait != first.wait)
          continue;
      }
      const variant_profile& v = known_.variants[l.variant.value];
      const double step =
        l.step_seconds ? l.step_seconds(key.batch)
                       : core::to_seconds(step_time(v, key.batch, v.native_px));
      const double runs = l.steps * step + l.once;
      const double ends = seconds + runs * (1 + rules_.waits[key.wait]);
      if (ends > deadline_ + 1e-9)
        continue;
      c.work[at] = {p, l.reach * (l.steps * step / key.batch + l.once)};
      c.stages = static_cast<uint32_t>(at + 1);
      bind(c, legs, at + 1, ends);
      c.stages = static_cast<uint32_t>(at);
    }
  }

  void add_pools(const cluster_view& there) {
    pools_of_.resize(known_.variants.size());
    std::vector<uint32_t> most;
    for (const worker_view& w : there.workers) {
      size_t k = 0;
      while (k < out_.asked.kinds.size()
             && out_.asked.kinds[k].name != w.device_kind)
        ++k;
      if (k == out_.asked.kinds.size()) {
        out_.asked.kinds.push_back({w.device_kind, 0});
        most.push_back(1);
      }
      ++out_.asked.kinds[k].alive;
      most[k] = std::max(most[k], w.max_batch);
    }
    for (uint32_t k = 0; k < out_.asked.kinds.size(); ++k)
      for (uint32_t i = 0; i < known_.variants.size(); ++i) {
        const core::variant_id id{i};
        const auto h = static_cast<uint32_t>(out_.asked.hostings.size());
        hosting x;
        x.kind = k;
        x.load_seconds = core::to_seconds(known_.variants[i].load);
        // A worker with several counts for its first.
        for (const worker_view& w : there.workers)
          x.now += w.device_kind == out_.asked.kinds[k].name
                && !w.hosting.empty() && w.hosting.front() == id;
        out_.asked.hostings.push_back(x);
        for (const uint32_t batch : batches_of(known_.variants[i], most[k]))
          for (uint32_t b = 0; b < rules_.waits.size(); ++b) {
            pools_of_[i].push_back(
              static_cast<uint32_t>(out_.asked.pools.size()));
            out_.asked.pools.push_back(
              {h, batch, rules_.waits[b] / 3, rules_.busy});
            out_.pools.push_back({id, out_.asked.kinds[k].name, batch, b});
          }
      }
  }

  double deadline() const {
    double longest = 0;
    for (const cascade_profile& c : known_.cascades)
      longest = std::max(longest, core::to_seconds(c.deadline));
    if (longest > 0)
      return longest;
    for (const variant_profile& v : known_.variants)
      longest = std::max(longest, argus::request_seconds(v, {}));
    return rules_.deadline_factor * longest;
  }

  // Shares of labels, and of what is near.
  void add_classes(const demand& asked) {
    class_map& map = out_.classes;
    std::vector<double> labels{1};
    for (const auto kind :
         {ladder_kind::smaller_models, ladder_kind::cached_latents})
      if (const auto* ladder = detail::ladder_of(known_, kind);
          ladder != nullptr && !ladder->levels.empty()) {
        map.ladder = static_cast<uint32_t>(detail::ladder_index(known_, kind));
        map.labels = static_cast<uint32_t>(ladder->levels.size());
        labels = detail::class_histogram(asked, map.ladder, *ladder);
      }
    std::vector<double> near{1};
    if (reuse_of(known_) != reuse_kind::none) {
      for (const skip_threshold& t : reuse_table(known_))
        map.skips.push_back(t.skip);
      near = shares_of_skips(asked);
    }
    out_.rate = detail::rate_of(asked, newest_weight, 0);
    const double rate =
      rules_.head_room * out_.rate
      + static_cast<double>(asked.backlog) / detail::window_seconds(asked);
    const auto edits = edit_shares(asked);
    const double edited = std::accumulate(edits.begin(), edits.end(), 0.0);

    // The heaviest ones stay apart.
    const size_t skips = map.skips.size();
    map.of.assign(map.labels * skips, 0);
    std::vector<uint32_t> order(map.of.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto share = [&](uint32_t i) {
      return labels[i / skips] * near[i % skips];
    };
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return share(a) > share(b);
    });
    const size_t apart = order.size() + edits.size() <= most_classes
                         ? order.size()
                         : most_classes - 1 - edits.size();
    const auto add = [&](std::string name, double part) {
      out_.asked.classes.push_back(
        {std::move(name), std::max(rate * part, least_share * (0.01 + rate)), 0,
         1});
      return static_cast<uint32_t>(out_.asked.classes.size() - 1);
    };
    const auto add_plain = [&](std::string name, double part, uint32_t label,
                               uint32_t skip) {
      meaning_.emplace_back(label, skip);
      return add(std::move(name), part);
    };
    double rest = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto label = static_cast<uint32_t>(order[i] / skips);
      const auto skip = static_cast<uint32_t>(order[i] % skips);
      if (i < apart)
        map.of[order[i]] = add_plain(
          fmt::format("level {}, {} steps near", label, map.skips[skip]),
          share(order[i]) * (1 - edited), label, map.skips[skip]);
      else
        rest += share(order[i]);
    }
    if (apart < order.size()) {
      // As if all of them tolerated nothing and had nothing near.
      const uint32_t merged =
        add_plain("all others", rest * (1 - edited), 0, 0);
      for (size_t i = apart; i < order.size(); ++i)
        map.of[order[i]] = merged;
    }
    for (uint32_t b = 0; b < edits.size(); ++b)
      map.edits.push_back(
        add(fmt::format("edits of {}/{}", b + 1, edit_bins), edits[b]));
  }

  // By skip; where nothing was searched yet, everything is near if only the
  // ladder says how far, nothing if similarity does.
  std::vector<double> shares_of_skips(const demand& asked) const {
    const auto& skips = out_.classes.skips;
    std::vector<double> counts(skips.size(), 0.0);
    double searched = 0;
    for (const demand_window& w : asked.windows) {
      searched += static_cast<double>(w.searched);
      double hits = 0;
      for (const auto& [skip, n] : w.skips) {
        const auto above = std::upper_bound(skips.begin(), skips.end(), skip);
        counts[static_cast<size_t>(above - skips.begin()) - 1] +=
          static_cast<double>(n);
        hits += static_cast<double>(n);
      }
      counts[0] += std::max(0.0, static_cast<double>(w.searched) - hits);
    }
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (searched > 0 && sum > 0) {
      for (double& x : counts)
        x /= sum;
      return counts;
    }
    std::fill(counts.begin(), counts.end(), 0.0);
    const bool any = known_.reuse && !known_.reuse->latents.empty();
    (any || reuse_of(known_) == reuse_kind::images ? counts.front()
                                                   : counts.back()) = 1;
    return counts;
  }

  std::vector<double> edit_shares(const demand& asked) const {
    if (known_.masked.empty())
      return {};
    std::vector<double> counts(edit_bins, 0.0);
    double arrived = 0;
    for (const demand_window& w : asked.windows) {
      arrived += static_cast<double>(w.arrived);
      for (size_t b = 0; b < std::min<size_t>(w.edits.size(), edit_bins); ++b)
        counts[b] += static_cast<double>(w.edits[b]);
    }
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
    if (!(sum > 0))
      return {};
    for (double& x : counts)
      x /= std::max(arrived, sum);
    return counts;
  }

  void add_floors() {
    for (const column& c : out_.asked.columns) {
      double& floor = out_.asked.classes[c.of].floor;
      floor = std::max(floor, rules_.floor * c.quality);
    }
  }

  const profile& known_;
  const offer_rules& rules_;
  offers out_;
  double deadline_ = 0;
  // Pools of each variant.
  std::vector<std::vector<uint32_t>> pools_of_;
  // By class of whole pictures: label, and steps that what is near allows to
  // skip.
  std::vector<std::pair<uint32_t, uint32_t>> meaning_;
};

double once_of(const variant_profile& v) {
  return core::to_seconds(v.text + v.decode);
}

leg whole(const profile& known, core::variant_id v, uint32_t skip = 0) {
  leg out;
  out.variant = v;
  const variant_profile& of = known.variants[v.value];
  out.steps = of.steps > skip ? of.steps - skip : 0;
  out.once = once_of(of);
  return out;
}

// Quality of variants from noise, by label.
class qualities {
public:
  explicit qualities(const profile& known)
    : models_(detail::models_of(known)),
      latents_(detail::ladder_of(known, ladder_kind::cached_latents)),
      known_(known) {}

  double of(core::variant_id v, uint32_t label) const {
    if (latents_ != nullptr)
      for (const level_profile& l : latents_->levels)
        if (l.variant == v && l.skip == 0)
          return at(l, label);
    for (const level_profile& l : models_.levels)
      if (l.variant == v && l.skip == 0)
        // Of labels of the other ladder nothing is known here.
        return latents_ != nullptr ? l.quality : at(l, label);
    return known_.variants[v.value].quality;
  }

  double of(const level_profile& l, uint32_t label) const {
    return at(l, label);
  }

private:
  static double at(const level_profile& l, uint32_t label) {
    return label < l.class_quality.size() ? l.class_quality[label] : l.quality;
  }

  ladder_profile models_;
  const ladder_profile* latents_;
  const profile& known_;
};

// Whether the profile says how a variant relates to others; the rest are for
// those who ask for them by name.
bool is_related(const profile& known, core::variant_id v) {
  for (const ladder_profile& l : known.ladders)
    for (const level_profile& x : l.levels)
      if (x.variant == v)
        return true;
  for (const cascade_profile& c : known.cascades)
    if (c.light == v || c.heavy == v)
      return true;
  return known.reuse
      && (known.reuse->full == v
          || std::find(known.reuse->small.begin(), known.reuse->small.end(), v)
               != known.reuse->small.end());
}

void offer_variants(builder& to, const profile& known, const qualities& q) {
  const auto kind = reuse_of(known);
  for (uint32_t i = 0; i < known.variants.size(); ++i) {
    const core::variant_id v{i};
    route r;
    r.name = known.variants[i].name + ", whole";
    stage s = detail::stage_on(v);
    const bool full = known.reuse ? known.reuse->full == v : i == 0;
    if (kind == reuse_kind::latents && full)
      for (const skip_threshold& t : reuse_table(known))
        s.capture.push_back(t.skip);
    r.store.latents = !s.capture.empty();
    r.store.image = kind == reuse_kind::images;
    const bool fresh = r.store.latents || (r.store.image && full);
    r.stages.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), false);
    if (!is_related(known, v))
      continue;
    for (uint32_t c = 0; c < to.classes().size(); ++c)
      to.add(c, at, q.of(v, to.classes()[c].first), fresh, {whole(known, v)});
  }
}

// Without a measured quality of resumed pictures: what the thresholds keep at
// the most that is allowed, and in proportion before.
double kept(double alpha, uint32_t skip, uint32_t allowed) {
  return 1 - (1 - alpha) * skip / std::max(allowed, 1u);
}

void offer_latents(builder& to, const profile& known, const qualities& q) {
  if (reuse_of(known) != reuse_kind::latents)
    return;
  const auto* ladder = detail::ladder_of(known, ladder_kind::cached_latents);
  const auto offer = [&](core::variant_id v, uint32_t skip, auto quality) {
    if (skip == 0 || skip >= known.variants[v.value].steps)
      return;
    route r;
    r.name =
      fmt::format("{}, from latent {}", known.variants[v.value].name, skip);
    stage s = detail::stage_on(v);
    s.from = origin::latent;
    s.skip = skip;
    for (const skip_threshold& t : reuse_table(known))
      if (t.skip > skip)
        s.capture.push_back(t.skip);
    r.stages.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), true);
    for (uint32_t c = 0; c < to.classes().size(); ++c) {
      const auto [label, allowed] = to.classes()[c];
      if (skip <= allowed)
        to.add(c, at, quality(label, allowed), false, {whole(known, v, skip)});
    }
  };
  if (ladder != nullptr) {
    for (const level_profile& l : ladder->levels)
      offer(l.variant, l.skip,
            [&](uint32_t label, uint32_t) { return q.of(l, label); });
    return;
  }
  const core::variant_id full = known.reuse->full;
  for (const skip_threshold& t : reuse_table(known))
    offer(full, t.skip, [&](uint32_t label, uint32_t allowed) {
      return q.of(full, label) * kept(nirvana::kept_quality, t.skip, allowed);
    });
}

void offer_images(builder& to, const profile& known, const qualities& q) {
  if (reuse_of(known) != reuse_kind::images)
    return;
  const reuse_profile& reuse = *known.reuse;
  std::vector<core::variant_id> refiners{reuse.full};
  refiners.insert(refiners.end(), reuse.small.begin(), reuse.small.end());
  for (const core::variant_id v : refiners)
    for (const skip_threshold& t : reuse_table(known)) {
      const variant_profile& p = known.variants[v.value];
      const auto runs = modm::refine_with(p.steps, t.skip);
      if (!runs)
        continue;
      route r;
      r.name = fmt::format("{}, from picture {}", p.name, t.skip);
      r.store.image = true;
      stage s = detail::stage_on(v);
      s.from = origin::image;
      s.skip = t.skip;
      s.skip_of = reuse.steps;
      r.stages.push_back(std::move(s));
      const uint32_t at = to.add_route(std::move(r), true);
      leg l = whole(known, v);
      l.steps = runs->steps;
      for (uint32_t c = 0; c < to.classes().size(); ++c) {
        const auto [label, allowed] = to.classes()[c];
        if (t.skip > allowed)
          continue;
        const double full = q.of(reuse.full, label);
        const double part = static_cast<double>(t.skip) / allowed;
        // At its threshold a refined picture keeps its share whoever refines.
        const double quality =
          v == reuse.full
            ? full * kept(modm::kept_quality, t.skip, allowed)
            : modm::kept_quality * full * part + q.of(v, label) * (1 - part);
        to.add(c, at, quality, false, {l});
      }
    }
}

void offer_cascades(builder& to, const profile& known, const qualities& q,
                    const std::vector<diffserve::deferral_profile>& deferred) {
  for (size_t k = 0; k < known.cascades.size(); ++k) {
    const cascade_profile& c = known.cascades[k];
    const auto& f =
      k < deferred.size() ? deferred[k] : diffserve::unknown_deferral();
    // The quality of a share of heavy answers, relative to all heavy ones.
    const auto relative = [&](double share) {
      const double all = diffserve::quality_at(c.fid, 0);
      const double here = diffserve::quality_at(c.fid, 1 - share);
      return all > 0 && here > 0 ? all / here : -1.0;
    };
    std::vector<std::pair<double, double>> points;
    for (size_t t = 0; t < diffserve::thresholds; ++t)
      points.emplace_back(f[t], c.fid.empty() ? f[t] : relative(f[t]));
    for (const auto& [share, value] : envelope(points, most_gates)) {
      // Everything and nothing deferred need no judge.
      if (share <= 0 || share >= 1)
        continue;
      const size_t t =
        diffserve::lowest_equal(f, diffserve::highest_within(f, share));
      route r;
      r.name = fmt::format(
        "{} then {}, {:.3g}", known.variants[c.light.value].name,
        known.variants[c.heavy.value].name, diffserve::threshold_at(t));
      r.late = late_rule::answer_best;
      stage light = detail::stage_on(c.light);
      light.check = gate{c.judge, to.add_threshold(diffserve::threshold_at(t))};
      r.stages = {std::move(light), detail::stage_on(c.heavy)};
      const uint32_t at = to.add_route(std::move(r), false);
      leg first = whole(known, c.light);
      first.once += core::to_seconds(c.judging);
      leg second = whole(known, c.heavy);
      second.reach = share;
      for (uint32_t of = 0; of < to.classes().size(); ++of) {
        const uint32_t label = to.classes()[of].first;
        const double heavy = q.of(c.heavy, label);
        const double light_quality = q.of(c.light, label);
        to.add(of, at,
               c.fid.empty() ? light_quality + (heavy - light_quality) * share
                             : heavy * value,
               false, {first, second});
      }
    }
  }
}

void offer_edits(builder& to, const profile& known, const qualities& q) {
  for (const masked_profile& m : known.masked) {
    if (to.map().edits.empty())
      return;
    const variant_profile& v = known.variants[m.variant.value];
    route r;
    r.name = v.name + ", masked";
    stage s = detail::stage_on(m.variant);
    s.from = origin::template_image;
    r.stages.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), false);
    const auto seconds = edit_steps(m);
    for (uint32_t b = 0; b < edit_bins; ++b) {
      leg l = whole(known, m.variant);
      l.step_seconds = [&](uint32_t batch) {
        const std::vector<instgenie::batch_member> members(
          batch, {(b + 0.5) / edit_bins, false});
        return seconds(members);
      };
      to.add(to.map().edits[b], at, q.of(m.variant, 0), false, {l});
    }
  }
}

} // namespace

uint32_t class_in(const class_map& map, uint32_t label, uint32_t skip) {
  label = std::min(label, map.labels - 1);
  const auto above = std::upper_bound(map.skips.begin(), map.skips.end(), skip);
  const auto at = static_cast<size_t>(above - map.skips.begin()) - 1;
  return map.of[label * map.skips.size() + at];
}

uint32_t edit_bin(double masked) {
  return static_cast<uint32_t>(
    std::clamp(std::floor(masked * edit_bins), 0.0, edit_bins - 1.0));
}

reuse_kind reuse_of(const profile& known) {
  const auto* ladder = detail::ladder_of(known, ladder_kind::cached_latents);
  const bool levels = ladder != nullptr && ladder->levels.size() > 1;
  if (levels || (known.reuse && !known.reuse->latents.empty()))
    return reuse_kind::latents;
  return known.reuse ? reuse_kind::images : reuse_kind::none;
}

skip_table reuse_table(const profile& known) {
  const auto kind = reuse_of(known);
  if (kind == reuse_kind::images)
    return known.reuse->images.empty() ? modm::published_table()
                                       : known.reuse->images;
  if (kind == reuse_kind::none)
    return {};
  if (known.reuse && !known.reuse->latents.empty())
    return nirvana::scaled_to(known.reuse->latents,
                              known.variants[known.reuse->full.value].steps);
  std::set<uint32_t> skips;
  for (const level_profile& l :
       detail::ladder_of(known, ladder_kind::cached_latents)->levels)
    if (l.skip > 0)
      skips.insert(l.skip);
  skip_table out;
  for (const uint32_t k : skips)
    out.push_back({k, -2});
  return out;
}

uint32_t allowed_by(const profile& known, const std::vector<match>& near) {
  const auto kind = reuse_of(known);
  const auto table = reuse_table(known);
  uint32_t most = 0;
  for (size_t i = 0; i < std::min(near.size(), nirvana::neighbours); ++i) {
    const uint32_t wished =
      allowed_skip(table, near[i].similarity,
                   kind == reuse_kind::images ? threshold_rule::from
                                              : threshold_rule::above);
    if (kind == reuse_kind::images)
      most = std::max(most, wished);
    else
      for (const uint32_t k : near[i].stored)
        if (k <= wished)
          most = std::max(most, k);
  }
  return most;
}

offers make_offers(const demand& asked, const profile& known,
                   const cluster_view& there,
                   const std::vector<diffserve::deferral_profile>& deferred,
                   const offer_rules& rules) {
  builder to{asked, known, there, rules};
  const qualities q{known};
  offer_variants(to, known, q);
  offer_latents(to, known, q);
  offer_images(to, known, q);
  offer_cascades(to, known, q, deferred);
  offer_edits(to, known, q);
  return to.done();
}

} // namespace atelier::planning::unified
