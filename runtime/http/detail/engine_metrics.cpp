// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/figures.hpp>
#include <atelier/runtime/http/detail/engine_metrics.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace atelier::runtime::http::detail {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double seconds(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>(x).count();
}

/// Builds one family of metrics.
class family {
public:
  family(std::vector<MetricFamily>& to, MetricType type, std::string name,
         std::string help)
    : to_(to) {
    made_.name = std::move(name);
    made_.help = std::move(help);
    made_.type = type;
  }

  family& add(const duration_status& x, ClientMetric::Label label) {
    ClientMetric m;
    m.label.push_back(std::move(label));
    uint64_t sum = 0;
    for (size_t i = 0; i < x.counts.size(); ++i) {
      sum += x.counts[i];
      m.histogram.bucket.push_back(
        {sum, i < x.bounds.size() ? x.bounds[i]
                                  : std::numeric_limits<double>::infinity()});
    }
    m.histogram.sample_count = sum;
    m.histogram.sample_sum = seconds(x.sum);
    made_.metric.push_back(std::move(m));
    return *this;
  }

  family(const family&) = delete;
  family& operator=(const family&) = delete;

  ~family() {
    to_.push_back(std::move(made_));
  }

  family& add(double value, std::vector<ClientMetric::Label> labels = {}) {
    ClientMetric x;
    x.label = std::move(labels);
    if (made_.type == MetricType::Counter)
      x.counter.value = value;
    else
      x.gauge.value = value;
    made_.metric.push_back(std::move(x));
    return *this;
  }

private:
  std::vector<MetricFamily>& to_;
  MetricFamily made_;
};

double number(uint64_t x) {
  return static_cast<double>(x);
}

/// Returns the bytes of this process in memory, or 0 if they are not known.
double resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  uint64_t all = 0;
  uint64_t resident = 0;
  if (!(file >> all >> resident))
    return 0;
  return number(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

family counter(std::vector<MetricFamily>& to, std::string name,
               std::string help) {
  return {to, MetricType::Counter, std::move(name), std::move(help)};
}

family gauge(std::vector<MetricFamily>& to, std::string name,
             std::string help) {
  return {to, MetricType::Gauge, std::move(name), std::move(help)};
}

/// Adds a figure to the metric with its name, which it may begin.
void add_figure(std::vector<MetricFamily>& to, const shown_figure& x) {
  const bool rises = x.is.metric.ends_with("_total");
  auto at = std::find_if(to.begin(), to.end(),
                         [&](const auto& f) { return f.name == x.is.metric; });
  if (at == to.end())
    at = to.insert(at, {std::string{x.is.metric},
                        std::string{x.is.help},
                        rises ? MetricType::Counter : MetricType::Gauge,
                        {}});
  auto& one = at->metric.emplace_back();
  (rises ? one.counter.value : one.gauge.value) =
    std::visit([](auto value) { return static_cast<double>(value); }, x.value);
  if (const auto cut = x.is.label.find('='); cut != x.is.label.npos)
    one.label.push_back({std::string{x.is.label.substr(0, cut)},
                         std::string{x.is.label.substr(cut + 1)}});
}

class writer {
public:
  writer(const metrics_snapshot& now, std::vector<MetricFamily>& to)
    : now_(now), to_(to) {}

  void figures() {
    for (const auto& x : figures_of(now_.engine))
      if (!x.is.metric.empty())
        add_figure(to_, x);
  }

  void jobs() {
    gauge(to_, "atelier_jobs_open",
          "Jobs of HTTP clients that have not ended yet.")
      .add(number(now_.open_jobs));
    gauge(to_, "atelier_results_bytes",
          "Bytes of images of ended jobs, kept for their clients.")
      .add(number(now_.kept.bytes), {{"where", "memory"}})
      .add(number(now_.kept.disk_bytes), {{"where", "disk"}});
  }

  void steps() {
    family batches{to_, MetricType::Counter, "atelier_batch_steps_total",
                   "Steps that a device ran, by the rows of its batch."};
    const auto& by_rows = now_.engine.batches;
    for (size_t rows = 1; rows < by_rows.size(); ++rows)
      batches.add(number(by_rows[rows]), {{"rows", std::to_string(rows)}});
  }

  void workers() {
    const auto& all = now_.engine.workers;
    family seats{to_, MetricType::Gauge, "atelier_worker_seats",
                 "Maximum number of requests that a worker may hold."};
    family taken{to_, MetricType::Gauge, "atelier_worker_seats_taken",
                 "Requests that a worker holds."};
    family loading{to_, MetricType::Gauge, "atelier_worker_loading",
                   "1 while a worker loads variants."};
    family slow{to_, MetricType::Gauge, "atelier_worker_slow",
                "1 while a worker takes several times as long as others."};
    family hosting{to_, MetricType::Gauge, "atelier_worker_hosting",
                   "1 for each variant that a worker hosts."};
    for (const auto& w : all) {
      seats.add(w.seats, {{"device", w.device}});
      taken.add(w.running, {{"device", w.device}});
      loading.add(w.loading ? 1 : 0, {{"device", w.device}});
      slow.add(w.slow ? 1 : 0, {{"device", w.device}});
      for (const auto& v : w.variants)
        hosting.add(1, {{"device", w.device}, {"variant", v}});
    }
  }

  void processes() {
    family up{to_, MetricType::Gauge, "atelier_process_up",
              "1 while a process of the engine is alive."};
    family restarts{to_, MetricType::Counter, "atelier_process_restarts_total",
                    "Restarts of a process of the engine."};
    family ready{to_, MetricType::Counter,
                 "atelier_process_ready_seconds_total",
                 "Time that a process of the engine had its workers ready."};
    for (const auto& p : now_.engine.processes) {
      up.add(p.alive ? 1 : 0, {{"process", p.role}});
      restarts.add(p.restarts, {{"process", p.role}});
      ready.add(seconds(p.up_time), {{"process", p.role}});
    }
    family{
      to_, MetricType::Histogram, "atelier_recovery_seconds",
      "From the death of a process until work continued: the first step of "
      "a request that it had, the next encoded image."}
      .add(now_.engine.until_step, {"until", "step"})
      .add(now_.engine.until_image, {"until", "picture"});
    family blocked{to_, MetricType::Counter, "atelier_blocking_handlers_total",
                   "Handlers of actors that waited for over 2 ms."};
    for (const auto& h : now_.engine.blocked_handlers)
      blocked.add(number(h.blocked), {{"actor", h.actor}});
  }

  void planning() {
    const auto& e = now_.engine;
    gauge(to_, "atelier_plan_version", "Number of the plan in force.")
      .add(number(e.plan_version), {{"policy", e.policy}});
  }

  void stages() {
    family left_out{
      to_, MetricType::Counter, "atelier_stages_left_out_total",
      "Stages of a request's path that failed, were late or found no free "
      "worker; their requests continued without them."};
    for (const auto& x : now_.engine.stages)
      left_out.add(number(x.left_out), {{"stage", x.name}});
  }

  void program() {
    gauge(to_, "atelier_build_info", "1, with the version as a label.")
      .add(1, {{"version", std::string{core::version()}}});
    gauge(to_, "atelier_resident_memory_bytes",
          "Memory of the control process, shared memory included.")
      .add(resident_bytes());
  }

private:
  const metrics_snapshot& now_;
  std::vector<MetricFamily>& to_;
};

} // namespace

void add_server_metrics(const server_counts& now,
                        std::vector<MetricFamily>& to) {
  gauge(to, "atelier_http_connections", "Open connections.")
    .add(number(now.open_connections));
  gauge(to, "atelier_http_streams", "Open streams of events.")
    .add(number(now.open_streams));
  gauge(to, "atelier_http_body_bytes", "Bytes of request bodies in memory.")
    .add(number(now.body_bytes_held));
  gauge(to, "atelier_http_reply_bytes",
        "Bytes of replies and events that wait to be read.")
    .add(number(now.reply_bytes_held));
  counter(to, "atelier_http_connections_total", "Connections accepted.")
    .add(number(now.connections));
  counter(to, "atelier_http_refused_connections_total",
          "Connections refused because of a limit.")
    .add(number(now.refused_connections));
  counter(to, "atelier_http_timeouts_total",
          "Connections closed because their client was too slow.")
    .add(number(now.timed_out));
}

void add_engine_metrics(const metrics_snapshot& now,
                        std::vector<MetricFamily>& to) {
  writer out{now, to};
  out.figures();
  out.jobs();
  out.steps();
  out.workers();
  out.processes();
  out.planning();
  out.stages();
  out.program();
}

} // namespace atelier::runtime::http::detail
