// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/detail/engine_metrics.hpp>

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>

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

class writer {
public:
  writer(const metrics_snapshot& now, std::vector<MetricFamily>& to)
    : now_(now), to_(to) {}

  void requests() {
    const auto& e = now_.engine;
    counter(to_, "atelier_requests_total",
            "Requests for an image, by how they ended.")
      .add(number(e.answered), {{"outcome", "answered"}})
      .add(number(e.failed), {{"outcome", "failed"}})
      .add(number(e.cancelled), {{"outcome", "cancelled"}})
      .add(number(e.refused), {{"outcome", "refused"}});
    gauge(to_, "atelier_requests_waiting", "Requests in a queue.")
      .add(e.waiting);
    gauge(to_, "atelier_requests_running", "Requests at a worker.")
      .add(e.running);
    counter(to_, "atelier_deadline_misses_total",
            "Requests dropped because their deadline passed.")
      .add(number(e.late));
    counter(to_, "atelier_requests_resumed_total",
            "Requests that continued from a published state after their worker "
            "was lost.")
      .add(number(e.resumed));
    gauge(to_, "atelier_jobs_open",
          "Jobs of HTTP clients that have not ended yet.")
      .add(number(now_.open_jobs));
    gauge(to_, "atelier_results_bytes",
          "Bytes of images of ended jobs, kept for their clients.")
      .add(number(now_.kept.bytes), {{"where", "memory"}})
      .add(number(now_.kept.disk_bytes), {{"where", "disk"}});
  }

  void steps() {
    counter(to_, "atelier_steps_total",
            "Denoising steps, counted for each image.")
      .add(number(now_.engine.steps_run));
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
    counter(to_, "atelier_orders_lost_total",
            "Orders to workers, or their answers, that were lost and sent "
            "again.")
      .add(number(now_.engine.orders_lost));
    counter(to_, "atelier_runs_restarted_total",
            "Runs that began anew because their newest state could not be "
            "read.")
      .add(number(now_.engine.runs_restarted));
    counter(to_, "atelier_reports_dropped_total",
            "Reports that a process wrote in the name of another one.")
      .add(number(now_.engine.reports_dropped));
    family blocked{to_, MetricType::Counter, "atelier_blocking_handlers_total",
                   "Handlers of actors that waited for over 2 ms."};
    for (const auto& h : now_.engine.blocked_handlers)
      blocked.add(number(h.blocked), {{"actor", h.actor}});
  }

  void planning() {
    const auto& e = now_.engine;
    gauge(to_, "atelier_plan_version", "Number of the plan in force.")
      .add(number(e.plan_version), {{"policy", e.policy}});
    counter(to_, "atelier_variant_loads_total",
            "Times that workers changed their variants.")
      .add(number(e.loads));
    counter(to_, "atelier_workers_lost_total", "Workers whose process died.")
      .add(number(e.workers_lost));
  }

  void arena() {
    const auto& e = now_.engine;
    gauge(to_, "atelier_arena_slots", "Slots of the shared memory.")
      .add(e.slots);
    gauge(to_, "atelier_arena_slots_used", "Slots that belong to a request.")
      .add(e.slots_in_use);
    counter(to_, "atelier_arena_waits_total",
            "Dispatches delayed because no slot was free.")
      .add(number(e.slot_waits));
  }

  void judges() {
    counter(to_, "atelier_judge_failures_total",
            "Images that their judge failed to rate; the next variant of "
            "their route drew them again.")
      .add(number(now_.engine.judge_failures));
  }

  void stages() {
    family left_out{
      to_, MetricType::Counter, "atelier_stages_left_out_total",
      "Stages of a request's path that failed, were late or found no free "
      "worker; their requests continued without them."};
    for (const auto& x : now_.engine.stages)
      left_out.add(number(x.left_out), {{"stage", x.name}});
  }

  void cache() {
    const auto c = now_.engine.cache.value_or(cache_status{});
    gauge(to_, "atelier_cache_entries", "Requests in the cache.")
      .add(number(c.entries));
    gauge(to_, "atelier_cache_bytes", "Memory of the cache.")
      .add(number(c.bytes));
    counter(to_, "atelier_cache_searches_total",
            "Searches in the cache, by whether they found work that the policy "
            "can use.")
      .add(number(c.hits), {{"outcome", "hit"}})
      .add(number(c.misses), {{"outcome", "miss"}});
    counter(to_, "atelier_cache_evictions_total",
            "Evicted entries: to make room, after as many answers as "
            "cache.answers allows, or because their bytes had changed.")
      .add(number(c.evicted), {{"reason", "room"}})
      .add(number(c.spent), {{"reason", "answers"}})
      .add(number(c.torn), {{"reason", "torn"}});
    counter(to_, "atelier_cache_payload_evictions_total",
            "States and images that were evicted while their entries stayed.")
      .add(number(c.evicted_payloads));
    counter(to_, "atelier_cache_captures_total",
            "States that devices captured for the cache.")
      .add(number(c.captured));
    counter(to_, "atelier_cache_captures_without_slot_total",
            "States that were not captured, since no slot was free.")
      .add(number(c.captures_without_slot));
    counter(to_, "atelier_cache_checks_total",
            "Searches repeated by comparing all entries, by whether the index "
            "had found an equally similar one.")
      .add(number(c.agreed), {{"outcome", "agreed"}})
      .add(number(c.checked - c.agreed), {{"outcome", "missed"}});
    counter(to_, "atelier_cache_compared_total",
            "Vectors that searches compared with theirs.")
      .add(number(c.compared));
    counter(to_, "atelier_cache_visited_total",
            "Entries that searches looked at one by one, because the index "
            "found too few that hold what the policy needs.")
      .add(number(c.visited));
    counter(to_, "atelier_cache_index_builds_total",
            "Indexes that were built for keys with many entries.")
      .add(number(c.builds), {{"outcome", "built"}})
      .add(number(c.failed_builds), {{"outcome", "failed"}});
    counter(to_, "atelier_cache_failures_total",
            "Failed operations of the cache's disk and encoders.")
      .add(number(c.failures));
    gauge(to_, "atelier_cache_pending",
          "Requests whose results wait to be stored in the cache.")
      .add(number(c.pending));
    counter(to_, "atelier_cache_overflows_total",
            "Requests whose results were not stored, because cache.pending "
            "others waited or too many came while an index was built.")
      .add(number(c.overflowed));
    gauge(to_, "atelier_cache_left_out",
          "1 while the disk of the cache is left out because it failed or was "
          "too slow.")
      .add(c.reads_left_out ? 1 : 0, {{"operation", "read"}})
      .add(c.writes_left_out ? 1 : 0, {{"operation", "write"}});
    counter(to_, "atelier_cache_encodings_total",
            "Prompts that cache.encoder compared, by whether its network read "
            "them or their vectors were still in memory.")
      .add(number(c.encoded), {{"outcome", "encoded"}})
      .add(number(c.recalled), {{"outcome", "recalled"}});
    counter(to_, "atelier_cache_image_encodings_total",
            "Images that cache.encoder read, so that prompts are compared with "
            "them.")
      .add(number(c.encoded_images));
    predictor(c.predictor);
  }

  void predictor(const predictor_status& p) {
    counter(to_, "atelier_cache_predictions_total",
            "Requests that asked whether a search would hit, by the answer of "
            "the predictor.")
      .add(number(p.said_hits), {{"predicted", "hit"}})
      .add(number(p.said_misses), {{"predicted", "miss"}});
    counter(to_, "atelier_cache_predictions_checked_total",
            "Searches that showed whether the predictor was right.")
      .add(number(p.checked));
    gauge(to_, "atelier_cache_predictor_samples",
          "The last checked predictions, of which precision and recall are "
          "measured.")
      .add(number(p.samples));
    constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
    gauge(to_, "atelier_cache_predictor_precision",
          "Share of the predicted hits that hit; NaN until it is measured.")
      .add(p.precision.value_or(unknown));
    gauge(to_, "atelier_cache_predictor_recall",
          "Share of the hits that were predicted; NaN until it is measured.")
      .add(p.recall.value_or(unknown));
    counter(to_, "atelier_cache_predictor_trainings_total",
            "Trainings of predictors, by whether they succeeded.")
      .add(number(p.trainings), {{"outcome", "trained"}})
      .add(number(p.failures), {{"outcome", "failed"}});
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
  out.requests();
  out.steps();
  out.workers();
  out.processes();
  out.planning();
  out.arena();
  out.judges();
  out.stages();
  out.cache();
  out.program();
}

} // namespace atelier::runtime::http::detail
