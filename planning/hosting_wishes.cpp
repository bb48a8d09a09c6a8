// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/hosting_rules.hpp>
#include <atelier/planning/hosting_wishes.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace atelier::planning {

namespace {

bool has(const std::vector<core::variant_id>& all, core::variant_id v) {
  return std::find(all.begin(), all.end(), v) != all.end();
}

void add(std::vector<core::variant_id>& to, core::variant_id v) {
  if (!has(to, v))
    to.push_back(v);
}

/// A plan with an index of its workers.
class draft {
public:
  explicit draft(plan made) : made_(std::move(made)), at_(places_in(made_)) {}

  /// Returns null if the plan has no assignment for the worker.
  const assignment* find(core::worker_id who) const {
    const auto i = at_.find(who);
    return i != at_.end() ? &made_.workers[i->second] : nullptr;
  }

  /// Returns the worker's assignment, which is added if the plan has none.
  assignment& of(core::worker_id who) {
    const auto [i, fresh] = at_.emplace(who, made_.workers.size());
    if (fresh)
      made_.workers.emplace_back().worker = who;
    return made_.workers[i->second];
  }

  plan take() {
    return std::move(made_);
  }

private:
  plan made_;
  std::unordered_map<core::worker_id, size_t> at_;
};

// Makes the unwanted variants leave; `then` is the worker's future hosting.
void send_away(draft& made, const hosting_wishes& wishes,
               const std::vector<core::variant_id>& unloaded,
               const worker_view& w, std::vector<core::variant_id>& then) {
  auto leaving = unloaded;
  for (const auto* hosted : {&w.hosting, &w.becoming, &std::as_const(then)})
    for (const auto v : *hosted)
      if (has(wishes.away, v))
        add(leaving, v);
  if (leaving.empty())
    return;
  const auto planned = then.size();
  std::erase_if(then, [&](auto v) { return has(leaving, v); });
  auto& a = made.of(w.worker);
  a.leaving = std::move(leaving);
  if (then.size() != planned)
    host_instead(a, then);
}

} // namespace

void drop_waited(hosting_wishes& of, const demand& asked,
                 const cluster_view& there) {
  std::erase_if(of.away, [&](core::variant_id v) {
    return has(there.unhosted, v)
        || (v.value < asked.waiting_shared.size()
            && asked.waiting_shared[v.value] > 0);
  });
}

plan with_wishes(plan made, hosting_wishes wishes,
                 const std::vector<core::variant_id>& unloaded,
                 const profile& known, const cluster_view& there) {
  if (wishes.there.empty() && wishes.away.empty()) {
    made.wishes = {};
    return made;
  }
  draft out{std::move(made)};
  std::vector<std::vector<core::variant_id>> then;
  then.reserve(there.workers.size());
  for (const worker_view& w : there.workers) {
    then.push_back(hosting_after(out.find(w.worker), w));
    send_away(out, wishes, unloaded, w, then.back());
  }
  for (const core::variant_id v : wishes.there) {
    if (std::any_of(then.begin(), then.end(),
                    [&](const auto& x) { return has(x, v); }))
      continue;
    size_t best = then.size();
    for (size_t i = 0; i < then.size(); ++i) {
      auto more = then[i];
      more.push_back(v);
      if (may_host(there.workers[i], more, known)
          && (best == then.size() || then[i].size() < then[best].size()))
        best = i;
    }
    if (best == then.size())
      continue;
    then[best].push_back(v);
    out.of(there.workers[best].worker).hosting = then[best];
  }
  made = out.take();
  made.wishes = std::move(wishes);
  return made;
}

} // namespace atelier::planning
