// SPDX-License-Identifier: Apache-2.0

// Long: one document's parts, a function for each, and what one must be for the
// others.

#include <atelier/planning/detail/plan_reader.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace atelier::planning::detail {

namespace {

constexpr uint64_t most_workers = 20'000;
constexpr uint64_t most_batch = 4'096;
constexpr uint64_t most_steps = 10'000;
constexpr size_t most_routes = most_keys;
constexpr size_t most_stages = 64;
constexpr size_t most_classes = 4'096;
constexpr size_t most_numbers = 4'096;
constexpr double most_rate = 1e12;
constexpr double most_threshold = 1e6;
/// Shares that somebody rounded still sum to one by this.
constexpr double rounding = 1.001e-3;

/// Reads a document; what it finds wrong is in its reader.
class plan_reader {
public:
  plan_reader(std::string_view where, const profile& known)
    : r_(where), known_(known) {}

  core::result<saved_plan> read(const json& x);

private:
  void read_policy(const json& x);
  void read_workers(const json& x);
  void read_group(const json& x, const std::string& at);
  void read_routes(const json& x);
  void read_route(const json& x, const std::string& at, size_t index);
  stage read_stage(const json& x, const std::string& at);
  void read_gate(const json& x, const std::string& at, stage& into);
  void read_store(const json& x, const std::string& at, route& into);
  std::vector<double> read_row(const json& x, const std::string& at);
  std::vector<std::vector<double>> read_rows(const json& x,
                                             const std::string& at,
                                             const char* key, bool needed);
  void read_memory(const json& x);
  argus_memory read_argus(const json& x);
  unified_memory read_unified(const json& x);
  void check_first_routes();
  void check_gates();

  const json* list(const json& x, const std::string& at, const char* key,
                   bool needed, size_t least, size_t most) {
    const auto* found = r_.find(x, at, key, needed);
    if (found == nullptr)
      return nullptr;
    if (found->is_array() && found->size() >= least && found->size() <= most)
      return found;
    r_.complain(fmt::format("{}.{}", at, key),
                fmt::format("{} is not a list of {}..{}",
                            json_reader::shown(*found), least, most));
    return nullptr;
  }

  bool object(const json& x, const std::string& at) {
    if (!x.is_object())
      r_.complain(at,
                  fmt::format("{} is not an object", json_reader::shown(x)));
    return x.is_object();
  }

  std::string text(const json& x, const std::string& at, const char* key) {
    const auto* found = r_.find(x, at, key, true);
    if (found == nullptr)
      return {};
    constexpr size_t longest = 200;
    if (found->is_string() && !found->get_ref<const std::string&>().empty()
        && found->get_ref<const std::string&>().size() <= longest)
      return found->get<std::string>();
    r_.complain(fmt::format("{}.{}", at, key),
                fmt::format("{} is not a text of 1..{} bytes",
                            json_reader::shown(*found), longest));
    return {};
  }

  void flag(const json& x, const std::string& at, const char* key, bool& into) {
    const auto* found = r_.find(x, at, key, false);
    if (found == nullptr)
      return;
    if (found->is_boolean())
      into = found->get<bool>();
    else
      r_.complain(fmt::format("{}.{}", at, key),
                  fmt::format("{} is neither true nor false",
                              json_reader::shown(*found)));
  }

  template <class Enum, size_t N>
  void word(const json& x, const std::string& at, const char* key,
            const words<Enum, N>& of, Enum& into, bool needed = false) {
    const auto* found = r_.find(x, at, key, needed);
    if (found == nullptr)
      return;
    for (size_t i = 0; i < N; ++i)
      if (*found == of.all[i]) {
        into = static_cast<Enum>(i);
        return;
      }
    r_.complain(fmt::format("{}.{}", at, key),
                fmt::format("{} is none of {}", json_reader::shown(*found),
                            fmt::join(of.all, ", ")));
  }

  std::vector<core::variant_id> variants(const json& x, const std::string& at,
                                         const char* key, bool needed,
                                         size_t least) {
    std::vector<core::variant_id> out;
    const auto* names = list(x, at, key, needed, least, known_.variants.size());
    for (size_t i = 0; names != nullptr && i < names->size(); ++i) {
      const auto& name = (*names)[i];
      std::optional<core::variant_id> found;
      for (uint32_t v = 0; v < known_.variants.size() && name.is_string(); ++v)
        if (known_.variants[v].name == name.get_ref<const std::string&>())
          found = core::variant_id{v};
      const auto here = fmt::format("{}.{}[{}]", at, key, i);
      if (!found) {
        std::vector<std::string_view> all;
        for (const auto& v : known_.variants)
          all.push_back(v.name);
        r_.complain(here, fmt::format("{} is no variant of the profile, which "
                                      "has {}",
                                      json_reader::shown(name),
                                      fmt::join(all, ", ")));
      } else if (std::find(out.begin(), out.end(), *found) != out.end()) {
        r_.complain(
          here, fmt::format("{} stands there twice", json_reader::shown(name)));
      } else {
        out.push_back(*found);
      }
    }
    return out;
  }

  template <class T>
  std::vector<T> wholes(const json& x, const std::string& at, const char* key,
                        uint64_t most, bool needed = false) {
    std::vector<T> out;
    const auto* all = list(x, at, key, needed, 0, most_numbers);
    for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const auto& n = (*all)[i];
      if (n.is_number_unsigned() && n.get<uint64_t>() <= most)
        out.push_back(static_cast<T>(n.get<uint64_t>()));
      else
        r_.complain(fmt::format("{}.{}[{}]", at, key, i),
                    fmt::format("{} is not a whole number in 0..{}",
                                json_reader::shown(n), most));
    }
    return out;
  }

  // Where it may be unbounded, null says so.
  std::vector<double> reals(const json& x, const char* key, double least,
                            double most, bool unbounded = false) {
    std::vector<double> out;
    const auto* all = list(x, "plan", key, false, 0, most_numbers);
    for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const auto& n = (*all)[i];
      if (n.is_null() && unbounded) {
        out.push_back(std::numeric_limits<double>::infinity());
        continue;
      }
      const double value = n.is_number() ? n.get<double>() : std::nan("");
      if (value >= least && value <= most)
        out.push_back(value);
      else
        r_.complain(fmt::format("{}[{}]", key, i),
                    fmt::format("{} is not a number in {}..{}",
                                json_reader::shown(n), least, most));
    }
    return out;
  }

  void rising(const std::vector<uint32_t>& x, const std::string& at) {
    if (std::adjacent_find(x.begin(), x.end(), std::greater_equal<>{})
        != x.end())
      r_.complain(at, "does not rise");
  }

  json_reader r_;
  const profile& known_;
  saved_plan out_;
};

void plan_reader::read_policy(const json& x) {
  out_.policy = text(x, "plan", "policy");
  if (out_.policy.empty())
    return;
  if (auto there = make_policy(out_.policy); !there)
    r_.complain("plan.policy", there.why().text);
}

void plan_reader::read_group(const json& x, const std::string& at) {
  if (!object(x, at))
    return;
  r_.expect_keys(x, at,
                 {"count", "hosting", "batch", "level", "join", "also_serves",
                  "batch_time_ms"});
  worker_group g;
  r_.whole(x, at, "count", 1, most_workers, g.count);
  g.hosting = variants(x, at, "hosting", true, 0);
  r_.whole(x, at, "batch", 1, most_batch, g.batch);
  r_.whole(x, at, "level", 0, most_steps, g.level, false);
  word(x, at, "join", joinings, g.join);
  g.also_serves = variants(x, at, "also_serves", false, 0);
  r_.span(x, at, "batch_time_ms", g.batch_time);
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
    r_.complain("plan.workers", fmt::format("{} of all groups are more than {}",
                                            sum, most_workers));
}

void plan_reader::read_gate(const json& x, const std::string& at, stage& into) {
  if (!object(x, at))
    return;
  r_.expect_keys(x, at, {"judge", "threshold"});
  gate g;
  g.judge = text(x, at, "judge");
  r_.whole(x, at, "threshold", 0, most_numbers, g.threshold);
  into.check = std::move(g);
}

stage plan_reader::read_stage(const json& x, const std::string& at) {
  stage s;
  if (!object(x, at))
    return s;
  r_.expect_keys(x, at,
                 {"any_of", "from", "skip", "steps", "skip_of",
                  "level_of_worker", "capture", "record", "gate"});
  s.any_of = variants(x, at, "any_of", true, 1);
  word(x, at, "from", origins, s.from);
  r_.whole(x, at, "skip", 0, most_steps, s.skip, false);
  r_.whole(x, at, "steps", 0, most_steps, s.steps, false);
  r_.whole(x, at, "skip_of", 0, most_steps, s.skip_of, false);
  flag(x, at, "level_of_worker", s.level_of_worker);
  s.capture = wholes<uint32_t>(x, at, "capture", most_steps);
  rising(s.capture, at + ".capture");
  flag(x, at, "record", s.record);
  if (const auto* check = r_.find(x, at, "gate", false))
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
      r_.complain(fmt::format("{}.store[{}]", at, i),
                  fmt::format("{} is none of latents, image",
                              json_reader::shown((*all)[i])));
}

void plan_reader::read_route(const json& x, const std::string& at,
                             size_t index) {
  route made;
  if (object(x, at)) {
    r_.expect_keys(x, at, {"route", "name", "stages", "from", "store", "late"});
    size_t number = index;
    r_.whole(x, at, "route", index, index, number);
    made.name = text(x, at, "name");
    if (const auto* all = list(x, at, "stages", true, 0, most_stages))
      for (size_t i = 0; i < all->size(); ++i)
        made.stages.push_back(
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
    if (there && out_.routes[v].stages.size() == 1
        && out_.routes[v].stages[0].any_of == wanted)
      continue;
    r_.complain(fmt::format("routes[{}]", v),
                fmt::format("is not '{}' alone: the first routes run the "
                            "profile's variants, one each, in its order",
                            known_.variants[v].name));
    return;
  }
}

void plan_reader::check_gates() {
  for (size_t r = 0; r < out_.routes.size(); ++r)
    for (size_t s = 0; s < out_.routes[r].stages.size(); ++s) {
      const auto& check = out_.routes[r].stages[s].check;
      if (check && check->threshold >= out_.thresholds.size())
        r_.complain(fmt::format("routes[{}].stages[{}].gate.threshold", r, s),
                    fmt::format("{} is not below the number of thresholds, {}",
                                check->threshold, out_.thresholds.size()));
    }
}

void plan_reader::read_routes(const json& x) {
  const auto* all = list(x, "plan", "routes", true, 1, most_routes);
  if (all == nullptr)
    return;
  const auto faults = r_.faults();
  for (size_t i = 0; i < all->size(); ++i)
    read_route((*all)[i], fmt::format("routes[{}]", i), i);
  if (r_.faults() == faults)
    check_first_routes();
}

std::vector<double> plan_reader::read_row(const json& x,
                                          const std::string& at) {
  std::vector<double> row(out_.routes.size(), 0.0);
  if (!object(x, at))
    return row;
  const auto faults = r_.faults();
  double sum = 0;
  for (const auto& [key, part] : x.items()) {
    size_t index = 0;
    const auto end = key.data() + key.size();
    const auto read = std::from_chars(key.data(), end, index);
    const auto here = fmt::format("{}.{}", at, key);
    if (read.ec != std::errc{} || read.ptr != end || index >= row.size()
        || key != std::to_string(index)) {
      r_.complain(here, fmt::format("is not the number of a route, 0..{}",
                                    row.size() - 1));
      continue;
    }
    const double value = part.is_number() ? part.get<double>() : std::nan("");
    if (!(value >= 0 && value <= 1 + 1e-9)) {
      r_.complain(here, fmt::format("{} is not a number in 0..1",
                                    json_reader::shown(part)));
      continue;
    }
    if (value > 0 && out_.routes[index].stages.empty())
      r_.complain(here, "has a share of a route without stages");
    row[index] = value;
    sum += value;
  }
  if (r_.faults() == faults && !(std::abs(sum - 1) <= rounding))
    r_.complain(at, fmt::format("sums to {}, not to 1", sum));
  return row;
}

std::vector<std::vector<double>> plan_reader::read_rows(const json& x,
                                                        const std::string& at,
                                                        const char* key,
                                                        bool needed) {
  std::vector<std::vector<double>> out;
  const auto* all = list(x, at, key, needed, 0, most_classes);
  for (size_t i = 0; all != nullptr && !out_.routes.empty() && i < all->size();
       ++i)
    out.push_back(read_row((*all)[i], fmt::format("{}.{}[{}]", at, key, i)));
  return out;
}

argus_memory plan_reader::read_argus(const json& x) {
  const std::string at = "memory";
  r_.expect_keys(x, at, {"of", "phase", "first_route", "levels"});
  argus_memory m;
  word(x, at, "phase", phases, m.change.phase, true);
  r_.whole(x, at, "levels", 0, most_numbers, m.levels);
  const auto last = std::max<size_t>(out_.routes.size(), 1) - 1;
  r_.whole(x, at, "first_route", 0, last, m.first_route);
  if (m.levels > 0 && m.first_route < out_.routes.size()
      && out_.routes[m.first_route].stages.empty())
    r_.complain("memory.first_route",
                fmt::format("{} is a route without stages", m.first_route));
  return m;
}

unified_memory plan_reader::read_unified(const json& x) {
  const std::string at = "memory";
  r_.expect_keys(x, at,
                 {"of", "first_route", "labels", "ladder", "skips", "classes",
                  "edits", "searches", "blind"});
  unified_memory m;
  auto& map = m.classes;
  const auto faults = r_.faults();
  const auto last_class = std::max<size_t>(out_.share.size(), 1) - 1;
  r_.whole(x, at, "first_route", 0, most_routes, m.first_route);
  r_.whole(x, at, "labels", 1, most_classes, map.labels);
  r_.whole(x, at, "ladder", 0, most_numbers, map.ladder);
  map.skips = wholes<uint32_t>(x, at, "skips", most_steps, true);
  map.of = wholes<uint32_t>(x, at, "classes", last_class, true);
  map.edits = wholes<uint32_t>(x, at, "edits", last_class);
  if (const auto* all = list(x, at, "searches", true, 0, most_classes))
    for (const auto& s : *all) {
      if (!s.is_boolean())
        r_.complain("memory.searches", "is not a list of true and false");
      m.searches.push_back(s == true ? 1 : 0);
    }
  m.blind = read_rows(x, at, "blind", true);
  if (r_.faults() != faults)
    return m;
  rising(map.skips, "memory.skips");
  const auto has = [&](const char* key, size_t there, size_t wanted) {
    if (there != wanted)
      r_.complain(fmt::format("memory.{}", key),
                  fmt::format("has {} entries, not {}", there, wanted));
  };
  if (map.skips.empty() || map.skips.front() != 0)
    r_.complain("memory.skips", "does not begin with 0");
  has("classes", map.of.size(), map.labels * map.skips.size());
  has("searches", m.searches.size(), map.labels);
  has("blind", m.blind.size(), map.labels);
  if (!map.edits.empty())
    has("edits", map.edits.size(), unified::edit_bins);
  for (size_t v = 0; v < known_.variants.size(); ++v)
    if (m.first_route + v >= out_.routes.size()
        || out_.routes[m.first_route + v].stages.empty()) {
      r_.complain("memory.first_route",
                  fmt::format("{} does not begin {} routes with stages",
                              m.first_route, known_.variants.size()));
      break;
    }
  return m;
}

void plan_reader::read_memory(const json& x) {
  const auto* of = r_.find(x, "plan", "memory", false);
  if (of == nullptr || of->is_null() || !object(*of, "plan.memory"))
    return;
  const auto kind = text(*of, "memory", "of");
  if (kind == "argus") {
    out_.memory = read_argus(*of);
  } else if (kind == "atelier") {
    out_.memory = read_unified(*of);
  } else if (kind == "nirvana") {
    r_.expect_keys(*of, "memory", {"of", "asks_predictor"});
    nirvana_memory m;
    flag(*of, "memory", "asks_predictor", m.asks_predictor);
    out_.memory = m;
  } else if (kind == "diffserve" || kind == "modm") {
    r_.expect_keys(*of, "memory", {"of"});
    if (kind == "modm")
      out_.memory = modm_memory{};
    else
      out_.memory = diffserve_memory{};
  } else if (!kind.empty()) {
    r_.complain("memory.of", fmt::format("'{}' is none of argus, atelier, "
                                         "diffserve, modm, nirvana",
                                         kind));
  }
}

core::result<saved_plan> plan_reader::read(const json& x) {
  r_.expect_keys(x, "plan",
                 {"format", "version", "policy", "workers", "routes", "share",
                  "thresholds", "admitted_rates", "saturated", "retry_after_ms",
                  "memory"});
  expect_format(r_, x, "plan", plan_format, 1);
  read_policy(x);
  read_workers(x);
  read_routes(x);
  out_.thresholds = reals(x, "thresholds", -most_threshold, most_threshold);
  check_gates();
  out_.share = read_rows(x, "plan", "share", true);
  out_.admitted_rates = reals(x, "admitted_rates", 0, most_rate, true);
  flag(x, "plan", "saturated", out_.saturated);
  r_.span(x, "plan", "retry_after_ms", out_.retry_after);
  // What is wrong in routes and shares is wrong here again.
  if (r_.faults() == 0)
    read_memory(x);
  if (r_.faults() != 0)
    return r_.why();
  return std::move(out_);
}

} // namespace

core::result<saved_plan> read_plan(const json& document, std::string_view where,
                                   const profile& known) {
  return plan_reader{where, known}.read(document);
}

} // namespace atelier::planning::detail
