// SPDX-License-Identifier: Apache-2.0
#include <atelier/simulation/detail/report_columns.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::runtime::detail {

namespace {

double percent(uint64_t some, uint64_t of) {
  return of == 0 ? 0
                 : 100 * static_cast<double>(some) / static_cast<double>(of);
}

std::vector<column> first_columns() {
  return {
    {"policy", "What decided which device draws which request with which model",
     [](const outcome& x) { return x.policy; }},
    {"requests", "Requests of the trace",
     [](const outcome& x) { return fmt::format("{}", x.requests); }},
    {"late", "Answered after their deadline",
     [](const outcome& x) { return fmt::format("{}", x.late); }},
    {"dropped", "Not answered",
     [](const outcome& x) { return fmt::format("{}", x.dropped); }},
    {"violations %", "Late and dropped requests, of all",
     [](const outcome& x) {
       return fmt::format("{:.2f}", 100 * x.violation_ratio());
     }},
    {"quality", "Mean quality of the answers, on the profile's scale",
     [](const outcome& x) {
       return x.rated && x.completed > 0 ? fmt::format("{:.4f}", x.quality_mean)
                                         : "-";
     }}};
}

void add_fid(std::vector<column>& to) {
  to.push_back({"FID",
                "Fréchet inception distance at the light model's share, from "
                "the cascade's table; lower is better",
                [](const outcome& x) {
                  return x.completed > 0 ? fmt::format("{:.2f}", x.fid) : "-";
                }});
  to.push_back(
    {"light %", "Answered by the cascade's light model", [](const outcome& x) {
       return x.completed > 0 ? fmt::format("{:.1f}", 100 * x.light_share)
                              : "-";
     }});
}

void add_energy(std::vector<column>& to) {
  to.push_back(
    {"kWh", "Energy of all devices, idle ones included", [](const outcome& x) {
       return x.joules < 0 ? "-"
                           : fmt::format("{:.4g}", x.joules / joules_of_kwh);
     }});
  to.push_back({"J/image", "That energy per image", [](const outcome& x) {
                  return x.joules < 0 || x.images == 0
                         ? "-"
                         : fmt::format(
                           "{:.4g}", x.joules / static_cast<double>(x.images));
                }});
}

std::vector<column> last_columns() {
  return {
    {"images/s", "Images answered per second",
     [](const outcome& x) { return fmt::format("{:.2f}", x.throughput_qps); }},
    {"p50 s", "Median time from request to answer",
     [](const outcome& x) {
       return fmt::format("{:.2f}", x.latency_p50_ms / 1000);
     }},
    {"p99 s", "99th percentile of that time",
     [](const outcome& x) {
       return fmt::format("{:.2f}", x.latency_p99_ms / 1000);
     }},
    {"busy %", "Share of the time in which devices ran or loaded a model",
     [](const outcome& x) {
       return fmt::format("{:.1f}", 100 * x.utilisation);
     }},
    {"loads", "Times that a device changed its models",
     [](const outcome& x) { return fmt::format("{}", x.loads); }},
    {"plan ms", "Mean real time to make a plan", [](const outcome& x) {
       return fmt::format("{:.2f}", x.plan_mean_wall_ms);
     }}};
}

} // namespace

std::vector<column> columns_for(std::span<const outcome> all) {
  auto out = first_columns();
  const auto any = [&](auto known) { return std::ranges::any_of(all, known); };
  if (any([](const outcome& x) { return x.fid >= 0; }))
    add_fid(out);
  if (any([](const outcome& x) { return x.joules >= 0; }))
    add_energy(out);
  if (any([](const outcome& x) { return x.cache_lookups > 0; }))
    out.push_back({"hits %", "Requests that started from earlier work",
                   [](const outcome& x) {
                     return fmt::format("{:.1f}",
                                        percent(x.cache_hits, x.requests));
                   }});
  const auto last = last_columns();
  out.insert(out.end(), last.begin(), last.end());
  return out;
}

} // namespace atelier::runtime::detail
