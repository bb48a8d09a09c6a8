// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/hosting_by_demand.hpp>
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/step_table.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace atelier::planning {

namespace {

using hosted = std::vector<core::variant_id>;

/// One more host must save a variant this fraction of its load time if all
/// workers are busy, and proportionally less if fewer are.
constexpr double least_gain = 2.0 / 3;

/// Variants with requests within this time are worth keeping.
constexpr double kept_for_seconds = 300;

/// The cost of removing the last host of a variant that legs wait for.
constexpr double last_host_seconds = 1e6;

bool has(const hosted& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

/// The variants that a worker hosts, and the seconds until it can take a new
/// row.
struct place {
  hosted hosts;
  double free_in = 0;
  bool changing = false;
};

class hosting_draft {
public:
  hosting_draft(const demand& asked, const profile& known,
                const cluster_view& there, const plan& previous,
                const popularity& of)
    : known_(known), tables_(known), there_(there), asked_for_(of) {
    waiting_ = there.waiting.empty() ? asked.waiting_shared : there.waiting;
    waiting_.resize(known.variants.size(), 0);
    hosts_.resize(known.variants.size(), 0);
    for (const auto v : there.unhosted)
      if (v.value < waiting_.size())
        waiting_[v.value] = std::max<uint64_t>(waiting_[v.value], 1);
    const auto at = places_in(previous);
    for (size_t w = 0; w < there.workers.size(); ++w) {
      const auto i = at.find(there.workers[w].worker);
      places_.push_back(
        place_of(w, i != at.end() ? &previous.workers[i->second] : nullptr));
    }
    for (const place& p : places_)
      for (const auto v : p.hosts)
        ++hosts_[v.value];
  }

  void host_what_waits() {
    for (const auto v : by_urgency())
      while (waiting_[v.value] > 0 && give_host(v)) {
      }
  }

  const std::vector<place>& places() const {
    return places_;
  }

private:
  const std::string& kind_of(size_t worker) const {
    return there_.workers[worker].device_kind;
  }

  double load_of(core::variant_id v, size_t worker) const {
    return core::to_seconds(load_on(known_, v, kind_of(worker)));
  }

  bool holds_weights(core::variant_id v, size_t worker) const {
    const auto& hosts = places_[worker].hosts;
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](auto x) { return share_weights(known_, x, v); });
  }

  // Returns the seconds until a worker could run the variant in addition: a
  // level of a model that it holds takes no load.
  double addition_of(core::variant_id v, size_t worker) const {
    return holds_weights(v, worker) ? 0 : load_of(v, worker);
  }

  // Returns the seconds for a whole image in a batch of `rows` rows.
  double batch_seconds(core::variant_id v, uint32_t rows, size_t worker) const {
    const variant_table& x = tables_.of(v, kind_of(worker));
    return core::to_seconds(x.costs.text + x.costs.decode
                            + x.costs.steps
                                * x.steps.at(rows, x.costs.native_px));
  }

  uint32_t rows_at(size_t worker) const {
    return std::max(there_.workers[worker].max_batch, 1u);
  }

  // The reported hosting may be older than the plan.
  place place_of(size_t worker, const assignment* planned) const {
    const worker_view& w = there_.workers[worker];
    place out;
    // A worker whose load failed counts as empty, so that it is assigned a
    // hosting again.
    if (!w.becoming.empty()) {
      out.hosts = hosting_after(planned, w);
      std::erase_if(out.hosts, [&](auto v) { return has(w.unloadable, v); });
      if (out.hosts.empty())
        out.hosts = w.becoming;
    }
    out.changing = !out.hosts.empty() && out.hosts != w.hosting;
    if (w.seats_taken > 0 && !w.running.empty()) {
      const auto v = w.running.front();
      const auto steps = known_.variants[v.value].steps;
      const double share =
        static_cast<double>(w.steps_left)
        / (static_cast<double>(w.seats_taken) * std::max(steps, 1u));
      out.free_in =
        batch_seconds(v, w.seats_taken, worker) * std::min(share, 1.0);
    }
    // The variant that is being loaded is the last one; variants that stay are
    // not shown during the load.
    if (out.changing)
      out.free_in += load_of(out.hosts.back(), worker);
    return out;
  }

  // Returns the variants without a host in the order in which they were
  // reported, then the rest.
  hosted by_urgency() const {
    hosted out = there_.unhosted;
    for (uint32_t i = 0; i < waiting_.size(); ++i)
      if (!has(out, core::variant_id{i}))
        out.emplace_back(i);
    std::erase_if(out, [&](auto v) { return v.value >= waiting_.size(); });
    return out;
  }

  /// The seconds until a worker is free, and its index.
  using free_worker = std::pair<double, size_t>;

  // Returns the time when the last waiting row ends on these workers: each
  // takes a batch as soon as it is free.
  double last_end(core::variant_id v, std::vector<free_worker> free_in,
                  uint32_t most_rows) const {
    if (free_in.empty())
      return HUGE_VAL;
    std::make_heap(free_in.begin(), free_in.end(), std::greater<>{});
    double last = 0;
    for (uint64_t left = waiting_[v.value]; left > 0;) {
      std::pop_heap(free_in.begin(), free_in.end(), std::greater<>{});
      const auto rows =
        static_cast<uint32_t>(std::min<uint64_t>(left, most_rows));
      left -= rows;
      auto& [ends, worker] = free_in.back();
      ends += batch_seconds(v, rows, worker);
      last = std::max(last, ends);
      std::push_heap(free_in.begin(), free_in.end(), std::greater<>{});
    }
    return last;
  }

  // Returns the cost of removing this host of the variant.
  double worth(core::variant_id v, size_t worker) const {
    const auto n = std::max<uint32_t>(hosts_[v.value], 1);
    if (n == 1 && waiting_[v.value] > 0)
      return last_host_seconds;
    const double chance =
      1 - std::exp(-rate_of(asked_for_, v) * kept_for_seconds);
    return load_of(v, worker) * chance / n;
  }

  /// The variants that a worker would host, and the cost of those that it
  /// drops.
  struct offer {
    hosted hosts;
    double lost = 0;
  };

  std::optional<offer> room_for(core::variant_id v, size_t worker) const {
    const worker_view& w = there_.workers[worker];
    if (!may_host(w, {v}, known_))
      return std::nullopt;
    offer out;
    out.hosts = places_[worker].hosts;
    // A worker without a known memory size hosts one model, as its capacity is
    // unknown.
    const bool one = w.memory_bytes == 0;
    // Levels of the same model stay: they take no memory of their own.
    auto others = out.hosts;
    std::erase_if(others, [&](auto x) { return share_weights(known_, x, v); });
    out.hosts.push_back(v);
    while (!others.empty() && (one || !may_host(w, out.hosts, known_))) {
      const auto least =
        std::min_element(others.begin(), others.end(), [&](auto a, auto b) {
          return worth(a, worker) < worth(b, worker);
        });
      out.lost += worth(*least, worker);
      std::erase(out.hosts, *least);
      others.erase(least);
    }
    if (!may_host(w, out.hosts, known_))
      return std::nullopt;
    return out;
  }

  // Returns the seconds that one more host must save: an idle worker loses
  // nothing by a load.
  double least_seconds(core::variant_id v, size_t worker) const {
    size_t busy = 0;
    for (const place& p : places_)
      busy += p.free_in > 0 ? 1u : 0u;
    return least_gain * addition_of(v, worker) * static_cast<double>(busy)
         / static_cast<double>(places_.size());
  }

  // Returns whether the variant gets one more host.
  bool give_host(core::variant_id v) {
    std::vector<free_worker> free_in;
    uint32_t most_rows = 1;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (has(places_[i].hosts, v))
        free_in.emplace_back(places_[i].free_in, i);
      most_rows = std::max(most_rows, rows_at(i));
    }
    const double without = last_end(v, free_in, most_rows);
    std::optional<size_t> best;
    offer taken;
    double least = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      if ((places_[i].changing && !holds_weights(v, i))
          || has(places_[i].hosts, v))
        continue;
      auto room = room_for(v, i);
      if (!room)
        continue;
      auto more = free_in;
      more.emplace_back(places_[i].free_in + addition_of(v, i), i);
      const double end = last_end(v, std::move(more), most_rows);
      if (end + least_seconds(v, i) >= without)
        continue;
      const double price = end + room->lost;
      if (!best || price < least) {
        best = i;
        least = price;
        taken = std::move(*room);
      }
    }
    if (best)
      change(*best, std::move(taken.hosts), v);
    return best.has_value();
  }

  void change(size_t worker, hosted next, core::variant_id added) {
    place& p = places_[worker];
    p.free_in += addition_of(added, worker);
    for (const auto v : p.hosts)
      --hosts_[v.value];
    for (const auto v : next)
      ++hosts_[v.value];
    p.hosts = std::move(next);
    p.changing = true;
  }

  const profile& known_;
  const kind_tables tables_;
  const cluster_view& there_;
  const popularity& asked_for_;
  /// By variant.
  std::vector<uint64_t> waiting_;
  std::vector<uint32_t> hosts_;
  std::vector<place> places_;
};

} // namespace

plan host_by_demand(plan made, const demand& asked, const profile& known,
                    const cluster_view& there, const plan& previous) {
  made.grouped = true;
  made.asked_for = counted(previous.asked_for, asked.windows);
  hosting_draft draft{asked, known, there, previous, made.asked_for};
  draft.host_what_waits();
  const auto at = places_in(made);
  for (size_t i = 0; i < there.workers.size(); ++i) {
    const place& p = draft.places()[i];
    const auto who = there.workers[i].worker;
    const auto found = at.find(who);
    assignment& a = found != at.end() ? made.workers[found->second]
                                      : made.workers.emplace_back();
    a.worker = who;
    host_instead(a, p.changing ? p.hosts : hosted{});
  }
  return made;
}

} // namespace atelier::planning
