// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/cli/load_report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace atelier::runtime::cli {

namespace {

using nlohmann::ordered_json;
using outcome = load_record::outcome;

constexpr auto width_of_bar = 40;

ordered_json percentiles_json(const percentiles& x) {
  return {{"mean", x.mean},
          {"p50", x.p50},
          {"p95", x.p95},
          {"p99", x.p99},
          {"max", x.max}};
}

std::string line_of(const percentiles& x) {
  return fmt::format("mean {:.1f}  p50 {:.1f}  p95 {:.1f}  p99 {:.1f}  max "
                     "{:.1f} ms",
                     x.mean, x.p50, x.p95, x.p99, x.max);
}

uint64_t sum(const std::vector<uint64_t>& x) {
  return std::accumulate(x.begin(), x.end(), uint64_t{0});
}

} // namespace

percentiles percentiles_of(std::vector<core::timespan> values) {
  percentiles out;
  if (values.empty())
    return out;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double share) {
    const auto rank = static_cast<size_t>(std::ceil(share * n));
    return core::to_ms(values[std::max<size_t>(rank, 1) - 1]);
  };
  double all = 0;
  for (const auto x : values)
    all += core::to_ms(x);
  out.mean = all / n;
  out.p50 = at(0.5);
  out.p95 = at(0.95);
  out.p99 = at(0.99);
  out.max = core::to_ms(values.back());
  return out;
}

load_summary sum_up(const std::vector<load_record>& records,
                    std::optional<core::timespan> slo,
                    std::vector<uint64_t> batches) {
  load_summary out;
  out.requests = records.size();
  out.batches = std::move(batches);
  std::vector<core::timespan> latencies;
  std::vector<core::timespan> queues;
  std::vector<core::timespan> lags;
  core::timespan last{0};
  for (const auto& r : records) {
    lags.push_back(r.lag);
    const auto objective = r.deadline ? r.deadline : slo;
    out.with_objective += objective ? 1u : 0u;
    switch (r.result) {
      case outcome::answered:
        ++out.answered;
        latencies.push_back(r.latency);
        queues.push_back(r.queue);
        last = std::max(last, r.due + r.latency);
        if (objective && r.latency <= *objective)
          ++out.attained;
        break;
      case outcome::refused:
        ++out.refused;
        ++out.reasons[r.code];
        break;
      case outcome::open:
      case outcome::failed:
        ++out.failed;
        ++out.reasons[r.code];
        out.deadline_misses += r.code == "deadline_missed" ? 1u : 0u;
        break;
    }
  }
  if (!records.empty()) {
    const auto first = records.front().due;
    const auto sent = core::to_seconds(records.back().due - first);
    out.seconds = core::to_seconds(std::max(last - first, core::timespan{0}));
    if (sent > 0)
      out.offered = static_cast<double>(records.size() - 1) / sent;
    if (out.seconds > 0)
      out.throughput = static_cast<double>(out.answered) / out.seconds;
  }
  out.latency = percentiles_of(std::move(latencies));
  out.queue = percentiles_of(std::move(queues));
  out.lag = percentiles_of(std::move(lags));
  return out;
}

std::string to_csv(const std::vector<load_record>& records,
                   std::optional<core::timespan> slo) {
  std::string out = "due_ms,became,took_ms,queue_ms,sent_late_ms,code\n";
  const auto name = [&](const load_record& r) {
    const auto objective = r.deadline ? r.deadline : slo;
    switch (r.result) {
      case outcome::answered:
        return objective && r.latency > *objective ? "late" : "answered";
      case outcome::refused:
        return "refused";
      case outcome::open:
      case outcome::failed:
        break;
    }
    return "failed";
  };
  for (const auto& r : records)
    fmt::format_to(std::back_inserter(out),
                   "{:.3f},{},{:.3f},{:.3f},{:.3f},{}\n", core::to_ms(r.due),
                   name(r), core::to_ms(r.latency), core::to_ms(r.queue),
                   core::to_ms(r.lag), r.code);
  return out;
}

double mean_batch(const std::vector<uint64_t>& batches) {
  const auto steps = sum(batches);
  if (steps == 0)
    return 0;
  double rows = 0;
  for (size_t i = 0; i < batches.size(); ++i)
    rows += static_cast<double>(i) * static_cast<double>(batches[i]);
  return rows / static_cast<double>(steps);
}

std::string to_table(const load_summary& x) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    fmt::format_to(std::back_inserter(out), "{:<11}{}\n", name, text);
  };
  add("requests", fmt::format("{} ({:.2f} a second)", x.requests, x.offered));
  add("answered", fmt::format("{} ({:.2f} a second, over {:.1f} s)", x.answered,
                              x.throughput, x.seconds));
  add("refused", fmt::format("{}", x.refused));
  add("failed", fmt::format("{}, {} of them for their deadline", x.failed,
                            x.deadline_misses));
  for (const auto& [code, count] : x.reasons)
    add("", fmt::format("{} {}", count, code));
  add("latency", line_of(x.latency));
  add("in queue", line_of(x.queue));
  if (x.with_objective > 0)
    add("SLO", fmt::format("{:.1f} % attained ({} of {})",
                           100.0 * static_cast<double>(x.attained)
                             / static_cast<double>(x.with_objective),
                           x.attained, x.with_objective));
  add("sent late", line_of(x.lag));
  const auto steps = sum(x.batches);
  if (steps == 0)
    return out;
  add("batches", fmt::format("{} steps, {:.2f} rows on average", steps,
                             mean_batch(x.batches)));
  for (size_t rows = 0; rows < x.batches.size(); ++rows) {
    if (x.batches[rows] == 0)
      continue;
    const auto share =
      static_cast<double>(x.batches[rows]) / static_cast<double>(steps);
    add("", fmt::format(
              "{:>3} {:5.1f} % {}", rows, 100 * share,
              std::string(
                static_cast<size_t>(std::lround(share * width_of_bar)), '#')));
  }
  return out;
}

std::string to_json(const load_summary& x,
                    const std::map<std::string, std::string>& about) {
  auto batches = ordered_json::object();
  for (size_t rows = 0; rows < x.batches.size(); ++rows)
    if (x.batches[rows] > 0)
      batches[std::to_string(rows)] = x.batches[rows];
  ordered_json out{
    {"requests", x.requests},
    {"answered", x.answered},
    {"refused", x.refused},
    {"failed", x.failed},
    {"deadline_misses", x.deadline_misses},
    {"reasons", x.reasons},
    {"seconds", x.seconds},
    {"offered_qps", x.offered},
    {"throughput_qps", x.throughput},
    {"latency_ms", percentiles_json(x.latency)},
    {"queue_ms", percentiles_json(x.queue)},
    {"lag_ms", percentiles_json(x.lag)},
    {"slo", {{"requests", x.with_objective}, {"attained", x.attained}}},
    {"batches", batches},
    {"mean_batch", mean_batch(x.batches)},
  };
  for (const auto& [name, value] : about)
    out[name] = value;
  return core::json_text(out);
}

} // namespace atelier::runtime::cli
