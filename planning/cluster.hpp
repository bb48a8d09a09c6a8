// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/reuse/hit_prediction.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// Returns the kind of a device by its name: "cpu" of "cpu:0".
inline std::string device_kind_of(std::string_view device) {
  return std::string{device.substr(0, device.find(':'))};
}

/// A row at a worker, or in the worker's own queue.
struct worker_row {
  /// The masked share of its image; 1 if it is no edit, or runs in full.
  double masked = 1;
  uint64_t steps_left = 0;
  bool running = false;

  friend bool operator==(const worker_row&, const worker_row&) = default;
};

/// A living denoise worker in the view of policies.
struct worker_view {
  core::worker_id worker;
  /// "cpu", "cuda", or the operator's own name: it selects the costs
  /// (profile::kinds).
  std::string device_kind;
  std::vector<core::variant_id> hosting;
  /// The variants that it hosts after the current changes.
  std::vector<core::variant_id> becoming;
  /// The variants that it may host, and its memory in bytes; empty and 0: any.
  std::vector<core::variant_id> may_host;
  uint64_t memory_bytes = 0;
  /// The variants that it could not load, until the next attempt is due.
  std::vector<core::variant_id> unloadable = {};
  uint32_t max_batch = 1;
  uint32_t seats_free = 0;
  uint32_t seats_taken = 0;
  /// The remaining steps of its rows.
  uint64_t steps_left = 0;
  uint32_t level = 0;
  /// The number of requests in its own queue.
  uint64_t waiting = 0;
  /// The variants that its rows run, by rising id.
  std::vector<core::variant_id> running = {};
  /// Its rows, running ones first; empty: unknown, as long as no mask is known.
  std::vector<worker_row> rows;

  friend bool operator==(const worker_view&, const worker_view&) = default;
};

/// A retrieval and its outcome.
struct retrieval_sample {
  double seconds = 0;
  /// Whether it timed out, or the index or its store was down.
  bool failed = false;
  /// The time when it ended.
  core::time_point time{};

  friend bool operator==(const retrieval_sample&,
                         const retrieval_sample&) = default;
};

/// Returns the class of a batch by which its pace is measured: the nearest
/// power of two, as an exponent, so that 3 is of the class of 4.
/// @pre batch > 0
inline size_t batch_class(uint32_t batch) {
  return static_cast<size_t>(std::lround(std::log2(batch)));
}

/// The recent costs of a running variant. 0 means not measured.
struct variant_cost {
  /// The time of its steps, as a multiple of the profile's.
  double pace = 0;
  /// The same by batch_class, where it was measured by itself.
  std::vector<double> pace_of_batch{};
  core::timespan text{0};
  core::timespan decode{0};
  core::timespan encode{0};
  core::timespan load{0};

  friend bool operator==(const variant_cost&, const variant_cost&) = default;
};

/// The recent costs of variants on devices of one kind.
struct kind_costs {
  /// The same as worker_view::device_kind; empty: any.
  std::string kind;
  /// By variant.
  std::vector<variant_cost> costs;

  friend bool operator==(const kind_costs&, const kind_costs&) = default;
};

/// A kind of device, and its number of devices.
struct device_group {
  std::string kind;
  uint32_t count = 0;

  friend bool operator==(const device_group&, const device_group&) = default;
};

/// All living denoise workers, by rising worker_id.
struct cluster_view {
  std::vector<worker_view> workers;
  /// Variants that legs wait for and that no worker hosts or will host, longest
  /// wait first. The scheduler sends them when such a wait begins.
  std::vector<core::variant_id> unhosted = {};
  /// The last retrievals, oldest first; present if the policy requests a plan
  /// because of them.
  std::vector<retrieval_sample> retrievals = {};
  /// By variant: legs in the queue that all its hosts serve. Present if a
  /// variant has no host, or if the plan groups and rows found no seat.
  std::vector<uint64_t> waiting = {};
  /// The last reported costs of running variants: first on devices of any kind,
  /// then, if there are several kinds, by kind. Empty: no measurement, or no
  /// difference from the profile.
  std::vector<kind_costs> costs = {};
};

/// A leg that waits in a queue.
struct waiting {
  core::request_id request;
  core::tenant_id tenant = {};
  /// The tenant's share of the workers (core::most_share).
  uint32_t share = 1;
  core::priority prio = core::priority::normal;
  core::time_point since;
  core::time_point deadline = core::never;
  /// The minimum time that the rest of the request will take.
  core::timespan still_needs{0};
  bool may_answer_best = false;
  /// The queue of the leg; `queues` sets it.
  core::queue_id queue;

  friend bool operator==(const waiting&, const waiting&) = default;
};

/// The monitor's counts of one window: the raw data of every policy's
/// estimators. Fields without a counter stay empty.
struct demand_window {
  core::time_point begin;
  core::timespan length{0};
  uint64_t arrived = 0;
  uint64_t refused = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t late = 0;
  /// Searches for similar work, and searches that found a sufficiently similar
  /// one.
  uint64_t searched = 0;
  uint64_t hits = 0;
  /// The predictions of hits that searches checked.
  prediction_tally predictions = {};
  /// (steps skipped, requests), of hits.
  std::vector<std::pair<uint32_t, uint64_t>> skips;
  /// (steps that the match allows to skip, searches); 0 if there was no
  /// sufficiently similar match.
  std::vector<std::pair<uint32_t, uint64_t>> allowed;
  /// [ladder of the profile][predicted class]: requests.
  std::vector<std::vector<uint64_t>> predicted;
  /// Scores of light images, in bins of 0.005; the last one holds 1.
  std::vector<uint64_t> confidences;
  /// Edits, by eighths of their masked share.
  std::vector<uint64_t> edits;
  /// The last ones of the window, oldest first.
  std::vector<retrieval_sample> retrievals;
  /// By variant: legs that began to wait for it.
  std::vector<uint64_t> placed;
  /// By variant: the extra step time of the arrivals, if that variant drew them
  /// all, compared with the same number of images of its own size and steps; in
  /// such images. Empty: all arrivals have its own size and steps.
  std::vector<double> extra_work = {};
  /// By variant: the extra pixels of the images that it would draw for the
  /// arrivals, in images of its own size. Empty: all have that size.
  std::vector<double> extra_pixels = {};

  friend bool operator==(const demand_window&, const demand_window&) = default;
};

/// The demand on the cluster: finished windows, oldest first, and the queue.
struct demand {
  std::vector<demand_window> windows;
  uint64_t backlog = 0;
  /// The time of the call.
  core::time_point now;
  /// The period between two plans without an event; 0: unknown.
  core::timespan period{0};
  /// By variant: legs that wait for it.
  std::vector<uint64_t> waiting;
  /// By variant: waiting legs in the queue that all its hosts serve; 0 without
  /// such a queue.
  std::vector<uint64_t> waiting_shared;
};

} // namespace atelier::planning
