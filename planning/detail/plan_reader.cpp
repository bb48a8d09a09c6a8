// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/detail/plan_reader.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace atelier::planning::detail {

namespace {

constexpr uint64_t most_workers = 20'000;
constexpr uint64_t most_batch = 4'096;
constexpr size_t most_stages = 64;
constexpr double most_rate = 1e12;
constexpr double most_threshold = 1e6;

/// Reads a document; its reader collects the faults.
class plan_reader : plan_fields {
public:
  plan_reader(std::string_view where, const profile& known,
              const policy_list& more)
    : plan_fields(where, known), more_(more) {}

  core::result<saved_plan> read(const json& x);

private:
  void read_policy(const json& x);
  void read_workers(const json& x);
  void read_group(const json& x, const std::string& at);
  void read_routes(const json& x);
  void read_route(const json& x, const std::string& at, size_t index);
  leg read_stage(const json& x, const std::string& at);
  void read_gate(const json& x, const std::string& at, leg& into);
  void read_store(const json& x, const std::string& at, route& into);
  core::result<policy_memory> read_memory(const json& x);
  void check_first_routes();
  void check_gates();

  const policy_list& more_;
  saved_plan out_;
};

void plan_reader::read_policy(const json& x) {
  out_.policy = text(x, "plan", "policy");
  if (out_.policy.empty())
    return;
  if (auto there = make_policy(out_.policy, more_); !there)
    complain("plan.policy", there.why().text);
}

void plan_reader::read_group(const json& x, const std::string& at) {
  if (!object(x, at))
    return;
  expect_keys(x, at,
              {"count", "hosting", "batch", "level", "join", "also_serves",
               "batch_time_ms"});
  worker_group g;
  whole(x, at, "count", 1, most_workers, g.count);
  g.hosting = variants(x, at, "hosting", true, 0);
  whole(x, at, "batch", 1, most_batch, g.batch);
  whole(x, at, "level", 0, most_steps, g.level, false);
  word(x, at, "join", joinings, g.join);
  g.also_serves = variants(x, at, "also_serves", false, 0);
  span(x, at, "batch_time_ms", g.batch_time);
  out_.workers.push_back(std::move(g));
}

void plan_reader::read_workers(const json& x) {
  const auto* all = list(x, "plan", "workers", true, 0, most_workers);
  if (all == nullptr)
    return;
  for (size_t i = 0; i < all->size(); ++i)
    read_group((*all)[i], fmt::format("workers[{}]", i));
  uint64_t sum = 0;
  for (const auto& g : out_.workers)
    sum += g.count;
  if (sum > most_workers)
    complain("plan.workers", fmt::format("{} of all groups are more than {}",
                                         sum, most_workers));
}

void plan_reader::read_gate(const json& x, const std::string& at, leg& into) {
  if (!object(x, at))
    return;
  expect_keys(x, at, {"judge", "threshold"});
  gate g;
  g.judge = text(x, at, "judge");
  whole(x, at, "threshold", 0, most_numbers, g.threshold);
  into.check = std::move(g);
}

leg plan_reader::read_stage(const json& x, const std::string& at) {
  leg s;
  if (!object(x, at))
    return s;
  expect_keys(x, at,
              {"any_of", "from", "skip", "steps", "skip_of", "level_of_worker",
               "capture", "record", "gate"});
  s.any_of = variants(x, at, "any_of", true, 1);
  word(x, at, "from", origins, s.from);
  whole(x, at, "skip", 0, most_steps, s.skip, false);
  whole(x, at, "steps", 0, most_steps, s.steps, false);
  whole(x, at, "skip_of", 0, most_steps, s.skip_of, false);
  flag(x, at, "level_of_worker", s.level_of_worker);
  s.capture = wholes(x, at, "capture", most_steps);
  rising(s.capture, at + ".capture");
  flag(x, at, "record", s.record);
  if (const auto* check = find(x, at, "gate", false))
    read_gate(*check, at + ".gate", s);
  return s;
}

void plan_reader::read_store(const json& x, const std::string& at,
                             route& into) {
  const auto* all = list(x, at, "store", false, 0, 2);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i)
    if ((*all)[i] == "latents")
      into.store.latents = true;
    else if ((*all)[i] == "image")
      into.store.image = true;
    else
      complain(
        fmt::format("{}.store[{}]", at, i),
        fmt::format("{} is not one of latents, image", shown((*all)[i])));
}

void plan_reader::read_route(const json& x, const std::string& at,
                             size_t index) {
  route made;
  if (object(x, at)) {
    expect_keys(x, at, {"route", "name", "stages", "from", "store", "late"});
    size_t number = index;
    whole(x, at, "route", index, index, number);
    made.name = text(x, at, "name");
    if (const auto* all = list(x, at, "stages", true, 0, most_stages))
      for (size_t i = 0; i < all->size(); ++i)
        made.legs.push_back(
          read_stage((*all)[i], fmt::format("{}.stages[{}]", at, i)));
    word(x, at, "from", origins, made.from);
    read_store(x, at, made);
    word(x, at, "late", late_rules, made.late);
  }
  out_.routes.push_back(std::move(made));
}

void plan_reader::check_first_routes() {
  for (uint32_t v = 0; v < known_.variants.size(); ++v) {
    const bool there = v < out_.routes.size();
    const std::vector<core::variant_id> wanted{core::variant_id{v}};
    if (there && out_.routes[v].legs.size() == 1
        && out_.routes[v].legs[0].any_of == wanted)
      continue;
    complain(fmt::format("routes[{}]", v),
             fmt::format("is not '{}' alone: the first routes run the "
                         "profile's variants, one each, in its order",
                         known_.variants[v].name));
    return;
  }
}

void plan_reader::check_gates() {
  for (size_t r = 0; r < out_.routes.size(); ++r)
    for (size_t s = 0; s < out_.routes[r].legs.size(); ++s) {
      const auto& check = out_.routes[r].legs[s].check;
      if (check && check->threshold >= out_.thresholds.size())
        complain(fmt::format("routes[{}].stages[{}].gate.threshold", r, s),
                 fmt::format("{} is not below the number of thresholds, {}",
                             check->threshold, out_.thresholds.size()));
    }
}

void plan_reader::read_routes(const json& x) {
  const auto* all = list(x, "plan", "routes", true, 1, most_routes);
  if (all == nullptr)
    return;
  const auto before = faults();
  for (size_t i = 0; i < all->size(); ++i)
    read_route((*all)[i], fmt::format("routes[{}]", i), i);
  if (faults() == before)
    check_first_routes();
}

core::result<policy_memory> plan_reader::read_memory(const json& x) {
  const auto* of = find(x, "plan", "memory", false);
  if (of == nullptr || of->is_null() || !object(*of, "plan.memory"))
    return policy_memory{};
  const auto name = text(*of, "memory", "of");
  if (name.empty())
    return policy_memory{};
  if (const auto by = policy_remembering(name, more_)) {
    auto rest = *of;
    rest.erase("of");
    return by->restore({rest.dump(), where_, out_, known_});
  }
  std::set<std::string_view> names;
  for (const auto* some : {&all_policies(), &more_})
    for (const auto& one : *some)
      if (!one->memory_name().empty())
        names.insert(one->memory_name());
  complain("memory.of",
           fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
  return policy_memory{};
}

core::result<saved_plan> plan_reader::read(const json& x) {
  expect_keys(x, "plan",
              {"format", "version", "policy", "workers", "routes", "share",
               "thresholds", "admitted_rates", "saturated", "retry_after_ms",
               "memory"});
  expect_format(*this, x, "plan", plan_format, 1);
  read_policy(x);
  read_workers(x);
  read_routes(x);
  out_.thresholds = reals(x, "thresholds", -most_threshold, most_threshold);
  check_gates();
  out_.share = rows(x, "plan", "share", true, out_.routes);
  out_.admitted_rates = reals(x, "admitted_rates", 0, most_rate, true);
  flag(x, "plan", "saturated", out_.saturated);
  span(x, "plan", "retry_after_ms", out_.retry_after);
  // Faults in routes and shares would be reported again here.
  if (faults() == 0) {
    auto memory = read_memory(x);
    if (!memory)
      return memory.why();
    out_.memory = std::move(*memory);
  }
  if (faults() != 0)
    return why();
  return std::move(out_);
}

} // namespace

core::result<saved_plan> read_plan(const json& document, std::string_view where,
                                   const profile& known,
                                   const policy_list& more) {
  return plan_reader{where, known, more}.read(document);
}

} // namespace atelier::planning::detail
