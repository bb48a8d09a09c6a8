// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/grouping.hpp>
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace atelier::planning {

namespace {

bool has(const std::vector<core::variant_id>& hosting, core::variant_id v) {
  return std::find(hosting.begin(), hosting.end(), v) != hosting.end();
}

/// Returns the number of waiting legs, by variant, for all its hosts.
std::vector<uint64_t> waiting_for(const demand& asked,
                                  const cluster_view& there) {
  // The demand may be of a moment before the last legs began.
  auto out = there.waiting.empty() ? asked.waiting_shared : there.waiting;
  for (const core::variant_id v : there.unhosted) {
    if (out.size() <= v.value)
      out.resize(v.value + 1, 0);
    out[v.value] = std::max<uint64_t>(out[v.value], 1);
  }
  return out;
}

/// The future hosting of the workers, and the number of workers of each
/// variant.
class future {
public:
  /// Workers without a plan keep their hosting.
  future(const plan& made, const cluster_view& there, size_t variants)
    : hosts_(variants, 0) {
    const auto places = places_in(made);
    for (const worker_view& w : there.workers) {
      const auto i = places.find(w.worker);
      hosting_.push_back(hosting_after(
        i != places.end() ? &made.workers[i->second] : nullptr, w));
      count(hosting_.back(), 1);
    }
    for (const assignment& a : made.workers)
      for (const core::queue_id queue : a.also_serves)
        if (!worker_of(queue))
          at(core::variant_id{queue.value}) += 1;
  }

  bool has_host(core::variant_id v) {
    return at(v) > 0;
  }

  const std::vector<core::variant_id>& hosting(size_t worker) const {
    return hosting_[worker];
  }

  void give(size_t worker, core::variant_id v) {
    count(hosting_[worker], -1);
    hosting_[worker] = {v};
    count(hosting_[worker], 1);
  }

  void add(size_t worker, core::variant_id v) {
    hosting_[worker].push_back(v);
    at(v) += 1;
  }

  // Returns the loss with a worker: 2 if it is the last host of a variant that
  // legs wait for, 1 if it is the last host of any other, otherwise 0.
  int loss_of(size_t worker, const std::vector<uint64_t>& waiting) {
    int worst = 0;
    for (const core::variant_id v : hosting_[worker])
      if (at(v) == 1)
        worst = std::max(
          worst, v.value < waiting.size() && waiting[v.value] > 0 ? 2 : 1);
    return worst;
  }

private:
  int64_t& at(core::variant_id v) {
    if (hosts_.size() <= v.value)
      hosts_.resize(v.value + 1, 0);
    return hosts_[v.value];
  }

  void count(const std::vector<core::variant_id>& hosting, int64_t change) {
    for (const core::variant_id v : hosting)
      at(v) += change;
  }

  std::vector<std::vector<core::variant_id>> hosting_;
  std::vector<int64_t> hosts_;
};

/// Returns the first worker that will host another level of the variant's model
/// and may host this one beside it.
std::optional<size_t> holder_of(core::variant_id v, const future& then,
                                const profile& known,
                                const cluster_view& there) {
  for (size_t w = 0; w < there.workers.size(); ++w) {
    const auto& hosting = then.hosting(w);
    if (std::none_of(hosting.begin(), hosting.end(),
                     [&](auto x) { return share_weights(known, x, v); }))
      continue;
    auto more = hosting;
    more.push_back(v);
    if (may_host(there.workers[w], more, known))
      return w;
  }
  return std::nullopt;
}

} // namespace

bool may_host(const worker_view& w,
              const std::vector<core::variant_id>& hosting,
              const profile& known) {
  if (std::any_of(hosting.begin(), hosting.end(),
                  [&](auto v) { return has(w.unloadable, v); }))
    return false;
  if (w.may_host.empty() && w.memory_bytes == 0)
    return true;
  uint64_t bytes = 0;
  std::set<std::pair<std::string, core::dtype>> models;
  for (const core::variant_id v : hosting) {
    if (!w.may_host.empty() && !has(w.may_host, v))
      return false;
    const variant_profile& x = known.variants.at(v.value);
    if (models.emplace(x.model, x.precision).second)
      bytes += memory_on(known, v, w.device_kind);
  }
  return w.memory_bytes == 0 || bytes <= w.memory_bytes;
}

std::unordered_map<core::worker_id, size_t> places_in(const plan& made) {
  std::unordered_map<core::worker_id, size_t> out;
  for (size_t i = 0; i < made.workers.size(); ++i)
    out.emplace(made.workers[i].worker, i);
  return out;
}

const std::vector<core::variant_id>& hosting_after(const assignment* planned,
                                                   const worker_view& w) {
  if (planned != nullptr && !planned->hosting.empty())
    return planned->hosting;
  return w.becoming.empty() ? w.hosting : w.becoming;
}

void host_instead(assignment& a, std::vector<core::variant_id> hosting) {
  a.hosting = std::move(hosting);
  a.level = 0;
  a.also_serves.clear();
  a.batch_time = core::timespan{0};
}

plan only_possible(plan made, const profile& known, const cluster_view& there) {
  const auto places = places_in(made);
  for (const worker_view& w : there.workers)
    if (const auto i = places.find(w.worker); i != places.end()) {
      assignment& a = made.workers[i->second];
      auto loadable = a.hosting;
      std::erase_if(loadable, [&](auto v) { return has(w.unloadable, v); });
      if (loadable.size() < a.hosting.size())
        host_instead(a, std::move(loadable));
      if (!may_host(w, a.hosting, known))
        host_instead(a, {});
    }
  return made;
}

plan hosting_waiting(plan made, const demand& asked, const profile& known,
                     const cluster_view& there) {
  const auto waiting = waiting_for(asked, there);
  if (std::all_of(waiting.begin(), waiting.end(),
                  [](uint64_t n) { return n == 0; }))
    return made;
  future then{made, there, waiting.size()};
  std::set<size_t> given;
  std::set<size_t> extended;
  // The variants reported as waiting longest are first, then all that legs wait
  // for.
  auto order = there.unhosted;
  for (uint32_t i = 0; i < waiting.size(); ++i)
    order.emplace_back(i);
  for (const core::variant_id v : order) {
    if (waiting[v.value] == 0 || then.has_host(v))
      continue;
    if (const auto w = holder_of(v, then, known, there)) {
      then.add(*w, v);
      extended.insert(*w);
      continue;
    }
    std::optional<size_t> best;
    std::tuple<int, bool> least{};
    for (size_t w = 0; w < there.workers.size(); ++w) {
      if (given.count(w) != 0 || !may_host(there.workers[w], {v}, known))
        continue;
      const std::tuple price{then.loss_of(w, waiting),
                             !has(there.workers[w].hosting, v)};
      if (!best || price < least) {
        best = w;
        least = price;
      }
    }
    if (!best)
      continue;
    given.insert(*best);
    then.give(*best, v);
  }
  const auto places = places_in(made);
  const auto part_of = [&](size_t w) -> assignment& {
    const core::worker_id who = there.workers[w].worker;
    const auto i = places.find(who);
    assignment& a =
      i != places.end() ? made.workers[i->second] : made.workers.emplace_back();
    a.worker = who;
    return a;
  };
  for (const size_t w : given)
    host_instead(part_of(w), then.hosting(w));
  for (const size_t w : extended)
    if (given.count(w) == 0)
      part_of(w).hosting = then.hosting(w);
  return made;
}

} // namespace atelier::planning
