// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/version.hpp>
#include <atelier/runtime/http/detail/engine_metrics.hpp>
#include <atelier/runtime/http/metrics.hpp>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace atelier::runtime::http {

namespace {

using prometheus::Histogram;

/// Bounds of buckets, from a test card's step to a long video model's: three
/// for each power of ten.
const Histogram::BucketBoundaries seconds_bounds{
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
  0.5,    1,      2,      5,     10,    20,    50,   100,  200,  500};

const Histogram::BucketBoundaries similarity_bounds{
  0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1};

/// Returns the label of a request's method. Clients may send any word, and each
/// label is kept until the server ends, so the words that no route has share
/// one.
std::string method_label(std::string_view method) {
  constexpr std::array<std::string_view, 7> own{
    "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
  const bool has_own = std::find(own.begin(), own.end(), method) != own.end();
  return std::string{has_own ? method : "other"};
}

double seconds(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>(x).count();
}

} // namespace

struct metrics::impl {
  prometheus::Registry all;
  prometheus::Family<prometheus::Counter>& exchanges =
    prometheus::BuildCounter()
      .Name("atelier_http_requests_total")
      .Help("HTTP requests answered, by method, route and status.")
      .Register(all);
  prometheus::Family<Histogram>& exchange_seconds =
    prometheus::BuildHistogram()
      .Name("atelier_http_request_seconds")
      .Help("Time from a request's first byte to the end of its reply.")
      .Register(all);
  prometheus::Family<prometheus::Counter>& refusals =
    prometheus::BuildCounter()
      .Name("atelier_request_refusals_total")
      .Help("Requests for an image that were not accepted, by reason.")
      .Register(all);
  prometheus::Family<prometheus::Counter>& failures =
    prometheus::BuildCounter()
      .Name("atelier_request_failures_total")
      .Help("Accepted requests that ended without an image, by reason.")
      .Register(all);
  prometheus::Family<prometheus::Counter>& images =
    prometheus::BuildCounter()
      .Name("atelier_pictures_total")
      .Help("Images delivered, by variant and route.")
      .Register(all);
  prometheus::Family<Histogram>& request_seconds =
    prometheus::BuildHistogram()
      .Name("atelier_request_seconds")
      .Help("Time from a request's arrival to its image, by variant.")
      .Register(all);
  prometheus::Family<Histogram>& stage_seconds =
    prometheus::BuildHistogram()
      .Name("atelier_request_stage_seconds")
      .Help("Time that delivered images spent in each stage.")
      .Register(all);
  prometheus::Family<Histogram>& step_seconds =
    prometheus::BuildHistogram()
      .Name("atelier_step_seconds")
      .Help("Mean duration of an image's denoising steps, by variant.")
      .Register(all);

  prometheus::Family<prometheus::Counter>& reused =
    prometheus::BuildCounter()
      .Name("atelier_reuse_total")
      .Help("Images delivered that started from earlier work, by its kind.")
      .Register(all);
  prometheus::Family<prometheus::Counter>& reused_steps =
    prometheus::BuildCounter()
      .Name("atelier_reuse_saved_steps_total")
      .Help("Denoising steps that earlier work saved, by its kind.")
      .Register(all);
  prometheus::Family<Histogram>& reuse_similarity =
    prometheus::BuildHistogram()
      .Name("atelier_reuse_similarity")
      .Help("Similarity of the prompts of images that started from earlier "
            "work, by its kind.")
      .Register(all);

  prometheus::Family<Histogram>& door_seconds =
    prometheus::BuildHistogram()
      .Name("atelier_http_door_seconds")
      .Help("Time of a call for an image in the HTTP APIs, without the time of "
            "the engine and of the client, by part.")
      .Register(all);
  Histogram& submit_seconds =
    door_seconds.Add({{"part", "submit"}}, seconds_bounds);
  Histogram& respond_seconds =
    door_seconds.Add({{"part", "respond"}}, seconds_bounds);

  std::mutex mutex;
  /// Guarded by the mutex.
  server_counts server;

  void observe(std::string_view stage, std::chrono::nanoseconds took) {
    stage_seconds.Add({{"stage", std::string{stage}}}, seconds_bounds)
      .Observe(seconds(took));
  }
};

metrics::metrics() : impl_(std::make_unique<impl>()) {
  // They are 0 until something is reused.
  for (const auto* const kind : {"latent", "image"}) {
    const prometheus::Labels labels{{"kind", kind}};
    impl_->reused.Add(labels);
    impl_->reused_steps.Add(labels);
    impl_->reuse_similarity.Add(labels, similarity_bounds);
  }
}

metrics::~metrics() = default;

void metrics::count_exchange(const std::string& method,
                             const std::string& pattern, unsigned status,
                             double took) {
  impl_->exchanges
    .Add({{"method", method_label(method)},
          {"route", pattern},
          {"status", std::to_string(status)}})
    .Increment();
  impl_->exchange_seconds.Add({{"route", pattern}}, seconds_bounds)
    .Observe(took);
}

void metrics::count_door(door part, double took) {
  (part == door::submit ? impl_->submit_seconds : impl_->respond_seconds)
    .Observe(took);
}

void metrics::count_refusal(std::string_view code) {
  impl_->refusals.Add({{"reason", std::string{code}}}).Increment();
}

void metrics::count_failure(std::string_view code) {
  impl_->failures.Add({{"reason", std::string{code}}}).Increment();
}

void metrics::count_image(const generated_image& x) {
  auto& i = *impl_;
  i.images.Add({{"variant", x.variant}, {"route", x.route}}).Increment();
  i.request_seconds.Add({{"variant", x.variant}}, seconds_bounds)
    .Observe(seconds(x.took.total));
  if (x.reused) {
    const prometheus::Labels kind{{"kind", x.reused->kind}};
    i.reused.Add(kind).Increment();
    i.reused_steps.Add(kind).Increment(x.reused->steps);
    i.reuse_similarity.Add(kind, similarity_bounds)
      .Observe(x.reused->similarity);
  }
  i.observe("queue", x.took.queue);
  i.observe("classify", x.took.classify);
  i.observe("retrieve", x.took.retrieve);
  i.observe("preprocess", x.took.preprocess);
  i.observe("text", x.took.text);
  i.observe("denoise", x.took.denoise);
  i.observe("decode", x.took.decode);
  i.observe("postprocess", x.took.postprocess);
  if (x.steps_run > 0)
    i.step_seconds.Add({{"variant", x.variant}}, seconds_bounds)
      .Observe(seconds(x.took.denoise) / x.steps_run);
}

void metrics::note(const server_counts& x) {
  const std::lock_guard guard{impl_->mutex};
  impl_->server = x;
}

std::string metrics::exposition(const metrics_snapshot& now) const {
  auto families = impl_->all.Collect();
  {
    const std::lock_guard guard{impl_->mutex};
    detail::add_server_metrics(impl_->server, families);
  }
  detail::add_engine_metrics(now, families);
  // The registry returns families in no particular order.
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return prometheus::TextSerializer{}.Serialize(families);
}

} // namespace atelier::runtime::http
