// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/argus_parts.hpp>
#include <atelier/planning/policies/atelier/detail/offer_builder.hpp>
#include <atelier/planning/policies/detail/common.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>
#include <atelier/planning/policies/instgenie/instgenie.hpp>
#include <atelier/planning/policies/modm/refinement.hpp>
#include <atelier/planning/policies/nirvana/step_choice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace atelier::planning::unified {

namespace {

// The maximum number of gates of a cascade.
constexpr size_t most_gates = 8;

leg_offer whole(const profile& known, core::variant_id v, uint32_t skip = 0) {
  leg_offer out;
  out.variant = v;
  const variant_profile& of = known.variants[v.value];
  out.steps = of.steps > skip ? of.steps - skip : 0;
  return out;
}

// The quality of variants from noise, by label.
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
        // Labels of the other ladder do not apply to these models.
        return latents_ != nullptr ? mean(l) : at(l, label);
    return known_.variants[v.value].quality;
  }

  double of(const level_profile& l, uint32_t label) const {
    return at(l, label);
  }

private:
  double mean(const level_profile& l) const {
    const auto& shares = models_.class_shares;
    double sum = 0;
    double all = 0;
    for (size_t c = 0; c < std::min(shares.size(), l.class_quality.size());
         ++c) {
      sum += shares[c] * l.class_quality[c];
      all += shares[c];
    }
    return all > 0 ? sum / all : l.quality;
  }

  static double at(const level_profile& l, uint32_t label) {
    return label < l.class_quality.size() ? l.class_quality[label] : l.quality;
  }

  ladder_profile models_;
  const ladder_profile* latents_;
  const profile& known_;
};

// Returns whether the profile relates a variant to others; all other variants
// serve only the requests that name them.
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

void offer_variants(offer_builder& to, const profile& known,
                    const qualities& q) {
  const auto kind = reuse_of(known);
  for (uint32_t i = 0; i < known.variants.size(); ++i) {
    const core::variant_id v{i};
    route r;
    r.name = known.variants[i].name + ", whole";
    leg s = detail::leg_on(v);
    const bool full = known.reuse ? known.reuse->full == v : i == 0;
    if (kind == reuse_kind::latents && full)
      for (const skip_threshold& t : reuse_table(known))
        s.capture.push_back(t.skip);
    r.store.latents = !s.capture.empty();
    r.store.image = kind == reuse_kind::images;
    const bool fresh = r.store.latents || (r.store.image && full);
    r.legs.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), false);
    if (!is_related(known, v))
      continue;
    for (uint32_t c = 0; c < to.classes().size(); ++c)
      to.add(c, at, q.of(v, to.classes()[c].first), fresh, {whole(known, v)});
    if (const auto waits = to.waiting_for(v))
      to.add(*waits, at, q.of(v, 0), false, {whole(known, v)});
  }
}

// Returns the fraction of quality that resumed images keep if it was not
// measured: `alpha` on average at the largest allowed skip, and proportionally
// more at smaller ones.
double kept(double alpha, uint32_t skip, uint32_t allowed) {
  return 1 - (1 - alpha) * skip / std::max(allowed, 1u);
}

// A prediction may be wrong: a skip that is predicted to lose nothing counts as
// losing up to this much, so that no steps are skipped while time for all steps
// remains.
constexpr double doubt = 0.002;

void offer_latents(offer_builder& to, const profile& known,
                   const qualities& q) {
  if (reuse_of(known) != reuse_kind::latents)
    return;
  const auto* ladder = detail::ladder_of(known, ladder_kind::cached_latents);
  const auto offer = [&](core::variant_id v, uint32_t skip, auto quality) {
    if (skip == 0 || skip >= known.variants[v.value].steps)
      return;
    route r;
    r.name =
      fmt::format("{}, from latent {}", known.variants[v.value].name, skip);
    leg s = detail::leg_on(v);
    s.from = origin::latent;
    s.skip = skip;
    for (const skip_threshold& t : reuse_table(known))
      if (t.skip > skip)
        s.capture.push_back(t.skip);
    r.legs.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), true);
    for (uint32_t c = 0; c < to.classes().size(); ++c) {
      const auto [label, allowed] = to.classes()[c];
      if (skip <= allowed)
        to.add(c, at, quality(label, allowed), false, {whole(known, v, skip)});
    }
  };
  if (ladder != nullptr) {
    for (const level_profile& l : ladder->levels)
      offer(l.variant, l.skip, [&](uint32_t label, uint32_t) {
        const double steps = known.variants[l.variant.value].steps;
        return q.of(l, label) * (1 - doubt * l.skip / steps);
      });
    return;
  }
  const core::variant_id full = known.reuse->full;
  for (const skip_threshold& t : reuse_table(known))
    offer(full, t.skip, [&](uint32_t label, uint32_t allowed) {
      return q.of(full, label)
           * kept(nirvana::resumed_quality, t.skip, allowed);
    });
}

void offer_images(offer_builder& to, const profile& known, const qualities& q) {
  if (reuse_of(known) != reuse_kind::images)
    return;
  const reuse_profile& reuse = *known.reuse;
  std::vector<core::variant_id> refiners{reuse.full};
  refiners.insert(refiners.end(), reuse.small.begin(), reuse.small.end());
  for (const core::variant_id v : refiners)
    for (const skip_threshold& t : reuse_table(known)) {
      const variant_profile& p = known.variants[v.value];
      const auto runs = modm::refine_with(p.steps, t.skip, reuse.steps);
      if (!runs)
        continue;
      route r;
      r.name = fmt::format("{}, from picture {}", p.name, t.skip);
      r.store.image = true;
      leg s = detail::leg_on(v);
      s.from = origin::image;
      s.skip = t.skip;
      s.skip_of = reuse.steps;
      r.legs.push_back(std::move(s));
      const uint32_t at = to.add_route(std::move(r), true);
      leg_offer l = whole(known, v);
      l.steps = runs->steps;
      for (uint32_t c = 0; c < to.classes().size(); ++c) {
        const auto [label, allowed] = to.classes()[c];
        if (t.skip > allowed)
          continue;
        const double full = q.of(reuse.full, label);
        const double part = static_cast<double>(t.skip) / allowed;
        // At its threshold, a refined image keeps its fraction whichever
        // variant refines it.
        const double quality =
          v == reuse.full
            ? full * kept(modm::kept_quality, t.skip, allowed)
            : modm::kept_quality * full * part + q.of(v, label) * (1 - part);
        to.add(c, at, quality, false, {l});
      }
    }
}

// Returns the mix of a cascade. A measured quality such as FID applies to all
// answers together: the answers through its gates count by the light share of
// all of them, so that the best mix is where the measurement is best, whichever
// classes get the light answers. Returns nothing if the heavy variant's quality
// differs between classes.
std::optional<uint32_t> mix_of(
  offer_builder& to, const cascade_profile& c, const qualities& q,
  const std::vector<std::pair<double, double>>& heavy_shares) {
  if (c.fid.empty() || to.classes().empty())
    return std::nullopt;
  const double heavy = q.of(c.heavy, to.classes().front().first);
  for (const auto& [label, skip] : to.classes())
    if (q.of(c.heavy, label) != heavy)
      return std::nullopt;
  std::vector<std::pair<double, double>> points;
  for (const auto& [share, value] : heavy_shares)
    points.emplace_back(1 - share, heavy * value);
  return to.add_mix({segments_of(envelope(std::move(points), most_gates))});
}

void offer_cascades(offer_builder& to, const profile& known, const qualities& q,
                    const std::vector<diffserve::deferral_profile>& deferred) {
  for (size_t k = 0; k < known.cascades.size(); ++k) {
    const cascade_profile& c = known.cascades[k];
    const auto& f =
      k < deferred.size() ? deferred[k] : diffserve::unknown_deferral();
    // Returns the quality of a fraction of heavy answers, relative to all heavy
    // ones.
    const auto relative = [&](double share) {
      const double all = diffserve::quality_at(c.fid, 0);
      const double here = diffserve::quality_at(c.fid, 1 - share);
      return all > 0 && here > 0 ? all / here : -1.0;
    };
    std::vector<std::pair<double, double>> points;
    for (size_t t = 0; t < diffserve::thresholds; ++t)
      points.emplace_back(f[t], c.fid.empty() ? f[t] : relative(f[t]));
    const auto gates = envelope(points, most_gates);
    const auto mix = mix_of(to, c, q, gates);
    for (const auto& [share, value] : gates) {
      // A gate that defers everything or nothing needs no judge.
      if (share <= 0 || share >= 1)
        continue;
      const size_t t =
        diffserve::lowest_equal(f, diffserve::highest_within(f, share));
      route r;
      r.name = fmt::format(
        "{} then {}, threshold {:.3g}", known.variants[c.light.value].name,
        known.variants[c.heavy.value].name, diffserve::threshold_at(t));
      r.late = late_rule::answer_best;
      leg light = detail::leg_on(c.light);
      light.check =
        gate{c.judge, to.add_threshold(diffserve::threshold_at(t), share)};
      r.legs = {std::move(light), detail::leg_on(c.heavy)};
      const uint32_t at = to.add_route(std::move(r), false);
      leg_offer first = whole(known, c.light);
      first.judged_by = &c;
      leg_offer second = whole(known, c.heavy);
      second.reach = share;
      second.may_be_left_out = true;
      for (uint32_t of = 0; of < to.classes().size(); ++of) {
        const uint32_t label = to.classes()[of].first;
        const double heavy = q.of(c.heavy, label);
        const double light_quality = q.of(c.light, label);
        to.add(of, at,
               c.fid.empty() ? light_quality + (heavy - light_quality) * share
                             : heavy * value,
               false, {first, second},
               mix ? std::optional{std::pair{*mix, 1 - share}} : std::nullopt);
      }
    }
  }
}

void offer_edits(offer_builder& to, const profile& known, const qualities& q) {
  for (const masked_profile& m : known.masked) {
    if (to.map().edits.empty())
      return;
    const variant_profile& v = known.variants[m.variant.value];
    route r;
    r.name = v.name + ", masked";
    leg s = detail::leg_on(m.variant);
    s.from = origin::template_image;
    r.legs.push_back(std::move(s));
    const uint32_t at = to.add_route(std::move(r), false);
    std::map<std::string_view, instgenie::step_model> by_kind;
    for (uint32_t b = 0; b < edit_bins; ++b) {
      leg_offer l = whole(known, m.variant);
      l.step_seconds = [&](std::string_view kind, uint32_t batch) {
        auto seconds = by_kind.find(kind);
        if (seconds == by_kind.end())
          seconds =
            by_kind
              .emplace(kind, edit_steps(*masked_on(known, m.variant, kind)))
              .first;
        const std::vector<instgenie::batch_member> members(
          batch, {(b + 0.5) / edit_bins, false});
        return seconds->second(members);
      };
      to.add(to.map().edits[b], at, q.of(m.variant, 0), false, {l});
    }
  }
}

} // namespace

offers make_offers(const demand& asked, const profile& known,
                   const cluster_view& there,
                   const std::vector<diffserve::deferral_profile>& deferred,
                   const offer_rules& rules) {
  offer_builder to{asked, known, there, rules};
  const qualities q{known};
  offer_variants(to, known, q);
  offer_latents(to, known, q);
  offer_images(to, known, q);
  offer_cascades(to, known, q, deferred);
  offer_edits(to, known, q);
  return to.done();
}

std::vector<double> admitted(const offers& of,
                             const std::vector<double>& refused) {
  const double all = std::accumulate(refused.begin(), refused.end(), 0.0);
  const double short_of = all - of.spare;
  // A rate below this is less than one request in a week.
  constexpr double nobody = 1e-6;
  if (short_of <= nobody)
    return {};
  // The fraction of the classes' rates without headroom, which is equal for
  // all.
  const auto& classes = of.asked.classes;
  const double sent = of.rate / std::max(of.rate + of.spare, nobody);
  std::vector<double> out;
  for (size_t k = 0; k < refused.size(); ++k)
    out.push_back(
      refused[k] > nobody
        ? std::max(classes[k].rate * sent - refused[k] * short_of / all, 0.0)
        : std::numeric_limits<double>::infinity());
  return out;
}

} // namespace atelier::planning::unified
