// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/policies/argus/ladder.hpp>
#include <atelier/simulation/scenario.hpp>
#include <atelier/simulation/simulated_stages.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace atelier::runtime {

namespace {

using planning::detail::json;
using planning::detail::json_reader;

constexpr std::array kinds{fault_kind::crash,       fault_kind::hang,
                           fault_kind::slow_worker, fault_kind::slow_cache,
                           fault_kind::lost_cache,  fault_kind::load_jump,
                           fault_kind::solver_late, fault_kind::solver_fails};

constexpr double most_seconds = 1e7;

/// Lower bounds for masks: below these a draw takes long and shows nothing.
constexpr double least_masked = 0.01;
constexpr double least_spread = 0.01;
constexpr uint64_t most_workers = 20'000;

fault read_fault(json_reader& r, const json& of, const std::string& at) {
  fault x;
  if (!of.is_object()) {
    r.complain(at, fmt::format("{} is not an object", json_reader::shown(of)));
    return x;
  }
  r.expect_keys(of, at,
                {"kind", "at_s", "for_s", "worker", "workers", "factor"});
  const auto kind = of.find("kind");
  const auto name = kind != of.end() && kind->is_string()
                    ? kind->get<std::string>()
                    : std::string{};
  const auto found =
    std::find_if(kinds.begin(), kinds.end(),
                 [&](fault_kind k) { return to_string(k) == name; });
  if (found != kinds.end()) {
    x.kind = *found;
  } else {
    std::vector<std::string_view> names;
    names.reserve(kinds.size());
    for (const auto k : kinds)
      names.push_back(to_string(k));
    r.complain(at + ".kind", fmt::format("'{}' is not one of {}", name,
                                         fmt::join(names, ", ")));
  }
  r.real(of, at, "at_s", 0, most_seconds, x.at_seconds);
  r.real(of, at, "for_s", 0, most_seconds, x.for_seconds, false);
  r.real(of, at, "factor", 0, 1e6, x.factor, false);
  r.whole(of, at, "worker", 0, most_workers, x.worker, false);
  r.whole(of, at, "workers", 1, most_workers, x.workers, false);
  return x;
}

bool starts_from_cache(const planning::profile& x) {
  return x.reuse
      || std::any_of(x.ladders.begin(), x.ladders.end(), [](const auto& l) {
           return l.kind == planning::ladder_kind::cached_latents;
         });
}

} // namespace

std::string_view to_string(fault_kind x) {
  switch (x) {
    case fault_kind::crash:
      return "crash";
    case fault_kind::hang:
      return "hang";
    case fault_kind::slow_worker:
      return "slow_worker";
    case fault_kind::slow_cache:
      return "slow_cache";
    case fault_kind::lost_cache:
      return "lost_cache";
    case fault_kind::load_jump:
      return "load_jump";
    case fault_kind::solver_late:
      return "solver_late";
    case fault_kind::solver_fails:
      return "solver_fails";
  }
  return "";
}

core::result<std::vector<fault>> parse_faults(std::string_view text,
                                              std::string_view where) {
  const auto document = planning::detail::parse_document(text, where);
  if (!document)
    return document.why();
  json_reader r{where};
  r.expect_keys(*document, "script", {"format", "version", "faults"});
  planning::detail::expect_format(r, *document, "script", "atelier.faults", 1);
  std::vector<fault> out;
  if (const auto* list = r.find(*document, "script", "faults", true)) {
    if (!list->is_array())
      r.complain("script.faults", "is not a list");
    else
      for (size_t i = 0; i < list->size(); ++i)
        out.push_back(read_fault(r, (*list)[i], fmt::format("faults[{}]", i)));
  }
  if (r.faults() != 0)
    return r.why();
  return out;
}

core::result<std::vector<double>> parse_masks(std::string_view text,
                                              std::string_view where) {
  std::vector<double> out;
  size_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.remove_suffix(1);
    if (line.empty())
      continue;
    double share = 0;
    const auto read =
      std::from_chars(line.data(), line.data() + line.size(), share);
    if (read.ec != std::errc{} || read.ptr != line.data() + line.size()
        || !(share >= 0 && share <= 1))
      return core::fail(core::ec::bad_payload,
                        "{}: line {}: '{}' is not a number in 0..1", where,
                        number, line.substr(0, 60));
    out.push_back(share);
  }
  if (out.empty())
    return core::fail(core::ec::bad_payload, "{}: no masked share was found",
                      where);
  return out;
}

double usual_spread(double mean) {
  constexpr double a = 0.9;
  return std::sqrt(mean * (1 - mean) / (a / mean + 1));
}

core::result<void> check_edits(const edit_spec& x) {
  using core::ec;
  const auto within = [](const char* what, double value, double least,
                         double most) -> core::result<void> {
    if (value >= least && value <= most)
      return {};
    return core::fail(ec::invalid_argument, "{}, {}, is outside {}..{}", what,
                      value, least, most);
  };
  if (auto ok = within("the share of edits", x.share, 0, 1); !ok)
    return ok;
  if (auto ok =
        within("the mean masked share", x.mean, least_masked, 1 - least_masked);
      !ok)
    return ok;
  if (auto ok = within("the share of recorded templates", x.recorded, 0, 1);
      !ok)
    return ok;
  const double most = planning::most_spread(x.mean) - least_spread / 10;
  if (x.spread != 0 && !(x.spread >= least_spread && x.spread <= most))
    return core::fail(ec::invalid_argument,
                      "the spread of masked shares, {}, is neither 0 nor in "
                      "{}..{:.4f}, which a mean of {} allows",
                      x.spread, least_spread, most, x.mean);
  return {};
}

namespace {

core::result<void> check_devices(const scenario& x) {
  using core::ec;
  uint64_t all = 0;
  std::set<std::string_view> names;
  for (const auto& g : x.devices) {
    all += g.count;
    if (g.kind.empty() || !names.insert(g.kind).second)
      return core::fail(ec::invalid_argument,
                        "each kind of device needs a name of its own: '{}' "
                        "is empty or occurs twice",
                        g.kind);
  }
  if (!x.devices.empty() && all != x.workers)
    return core::fail(ec::invalid_argument,
                      "the kinds have {} devices in all, but workers is {}",
                      all, x.workers);
  return {};
}

core::result<void> check_memory(const scenario& x) {
  if (x.memory_bytes == 0)
    return {};
  auto groups = x.devices;
  if (groups.empty())
    groups.emplace_back();
  for (const auto& g : groups)
    for (uint32_t i = 0; i < x.profile->variants.size(); ++i) {
      const auto bytes = memory_on(*x.profile, core::variant_id{i}, g.kind);
      if (bytes > x.memory_bytes)
        return core::fail(core::ec::invalid_argument,
                          "variant '{}' takes {} bytes of memory, but a worker "
                          "has {}",
                          x.profile->variants[i].name, bytes, x.memory_bytes);
    }
  return {};
}

} // namespace

core::result<void> validate(const scenario& x) {
  using core::ec;
  if (!x.profile || x.profile->variants.empty())
    return core::fail(ec::invalid_argument, "the profile has no variants");
  if (!x.policy)
    return core::fail(ec::invalid_argument, "no policy is set");
  if (x.workers == 0 || x.workers > 20'000)
    return core::fail(ec::invalid_argument, "workers {} is outside 1..20000",
                      x.workers);
  if (x.trace.empty())
    return core::fail(ec::invalid_argument, "the trace has no arrivals");
  for (const auto& a : x.trace)
    if (a.variant != planning::no_name
        && a.variant >= x.profile->variants.size())
      return core::fail(ec::invalid_argument,
                        "the trace asks for variant {}, but the profile has {}",
                        a.variant, x.profile->variants.size());
  if (auto ok = check_devices(x); !ok)
    return ok;
  if (auto ok = check_memory(x); !ok)
    return ok;
  if (!(x.noise >= 0 && x.noise <= 1))
    return core::fail(ec::invalid_argument, "noise {} is outside 0..1",
                      x.noise);
  for (const double s : x.nearest_prompts)
    if (!(s >= 0 && s <= 1))
      return core::fail(ec::invalid_argument,
                        "nearness of prompts {} is outside 0..1", s);
  if (auto ok = check_edits(x.edits); !ok)
    return ok;
  if (auto ok = check_cache(x.cache); !ok)
    return core::fail(ec::invalid_argument, "the cache: {}", ok.why().text);
  if (x.cache.entries > 0 && !starts_from_cache(*x.profile))
    return core::fail(ec::invalid_argument,
                      "the profile has nothing that starts from a cache: "
                      "neither reuse nor a ladder of cached latents");
  if (x.cache.entries > 0 && !nearness_of(x, planning::compared::prompts))
    return core::fail(ec::invalid_argument,
                      "the cache: neither --similarity nor the profile's "
                      "reuse.near says how alike prompts on one topic are");
  if (x.window.count() <= 0 || x.period.count() <= 0 || x.windows == 0)
    return core::fail(ec::invalid_argument,
                      "windows and periods must be longer than 0");
  for (const fault& f : x.faults)
    if (f.worker >= x.workers)
      return core::fail(ec::invalid_argument,
                        "a fault strikes worker {}, but only {} exist",
                        f.worker, x.workers);
  if (auto sound = stages_of(x, nullptr); !sound)
    return sound.why();
  if (auto there = actors::check_stages(*x.profile, x.stages); !there)
    return core::fail(ec::invalid_argument, "the profile: {}",
                      there.why().text);
  return {};
}

std::optional<planning::nearness> nearness_of(const scenario& x,
                                              planning::compared by) {
  if (x.similarity)
    return x.similarity;
  const auto& reuse = x.profile->reuse;
  if (!reuse)
    return std::nullopt;
  const auto told_of = reuse->latents.empty()
                       ? planning::images_compared(*reuse)
                       : planning::compared::prompts;
  return by == told_of ? reuse->near : std::nullopt;
}

std::optional<planning::hit_predictor> predictor_of(const scenario& x) {
  if (x.predictor)
    return x.predictor;
  return x.profile->reuse ? x.profile->reuse->predictor : std::nullopt;
}

core::timespan usual_deadline(const planning::profile& x,
                              std::span<const planning::device_group> devices) {
  if (!x.cascades.empty())
    return x.cascades.front().deadline;
  core::timespan slowest{0};
  for (uint32_t i = 0; i < x.variants.size(); ++i)
    slowest =
      std::max(slowest, core::from_seconds(planning::argus::quickest_seconds(
                          x, core::variant_id{i}, devices)));
  return 3 * slowest;
}

std::vector<planning::traced_arrival> with_load_jumps(
  std::vector<planning::traced_arrival> trace, const std::vector<fault>& script,
  uint64_t seed) {
  for (size_t k = 0; k < script.size(); ++k) {
    const fault& f = script[k];
    if (f.kind != fault_kind::load_jump)
      continue;
    core::philox random{seed, core::purpose::fault, core::request_id{k}};
    std::vector<planning::traced_arrival> out;
    for (size_t i = 0; i < trace.size(); ++i) {
      const auto& x = trace[i];
      if (x.seconds < f.at_seconds
          || x.seconds >= f.at_seconds + f.for_seconds) {
        out.push_back(x);
        continue;
      }
      const double gap =
        i + 1 < trace.size() ? trace[i + 1].seconds - x.seconds : 0;
      double left = f.factor;
      const auto again = [&] {
        auto more = x;
        more.seconds += gap * random.uniform();
        out.push_back(more);
      };
      for (; left >= 1; --left)
        again();
      if (random.uniform() < left)
        again();
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return a.seconds < b.seconds;
    });
    trace = std::move(out);
  }
  return trace;
}

} // namespace atelier::runtime
