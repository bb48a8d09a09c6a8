// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>

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

/// One row at a worker, or waiting in its own lane.
struct worker_row {
  /// Masked share of its picture; 1 where it is no edit, or runs in full.
  double masked = 1;
  uint64_t steps_left = 0;
  bool running = false;

  friend bool operator==(const worker_row&, const worker_row&) = default;
};

/// One living denoise worker as policies see it.
struct worker_view {
  core::worker_id worker;
  /// "cpu", "cuda", or as its operator calls it: which costs apply
  /// (profile::kinds).
  std::string device_kind;
  std::vector<core::variant_id> hosting;
  /// What it hosts when the changes under way have ended.
  std::vector<core::variant_id> becoming;
  /// What it may host, and all of it together in bytes; empty and 0: any.
  std::vector<core::variant_id> may_host;
  uint64_t memory_bytes = 0;
  uint32_t max_batch = 1;
  uint32_t seats_free = 0;
  uint32_t seats_taken = 0;
  /// Steps that its rows still have to run.
  uint64_t steps_left = 0;
  uint32_t level = 0;
  /// Requests that wait in its own lane.
  uint64_t waiting = 0;
  /// Variants that its rows run, by rising id.
  std::vector<core::variant_id> running = {};
  /// Its rows, running ones first; empty: not told, as long as no mask is
  /// known.
  std::vector<worker_row> rows;

  friend bool operator==(const worker_view&, const worker_view&) = default;
};

/// One retrieval as it went.
struct retrieval_sample {
  double seconds = 0;
  /// It timed out, or the index or its store was down.
  bool failed = false;
  /// When it ended.
  core::time_point at{};

  friend bool operator==(const retrieval_sample&,
                         const retrieval_sample&) = default;
};

/// What a variant took of late where it ran. What is 0 is not measured.
struct variant_cost {
  /// Time of its steps, as a multiple of the profile's.
  double pace = 0;
  core::timespan text{0};
  core::timespan decode{0};
  core::timespan load{0};

  friend bool operator==(const variant_cost&, const variant_cost&) = default;
};

/// What variants took of late on devices of one kind.
struct kind_costs {
  /// As worker_view::device_kind; empty: any.
  std::string kind;
  /// By variant.
  std::vector<variant_cost> costs;

  friend bool operator==(const kind_costs&, const kind_costs&) = default;
};

/// So many devices of a kind.
struct device_group {
  std::string kind;
  uint32_t count = 0;

  friend bool operator==(const device_group&, const device_group&) = default;
};

/// All living denoise workers, by rising worker_id.
struct cluster_view {
  std::vector<worker_view> workers;
  /// Variants that legs wait for and that no worker hosts, or will: the one
  /// that is waited for the longest first. Told when that begins.
  std::vector<core::variant_id> unhosted = {};
  /// The last retrievals, oldest first; told where the policy calls for a plan
  /// because of them.
  std::vector<retrieval_sample> retrievals = {};
  /// By variant: legs that wait in the lane that all its hosts serve. Told
  /// where the plan in force groups rows and some found no seat; else empty.
  std::vector<uint64_t> waiting = {};
  /// What running variants took, as last told: first on devices of any kind,
  /// then, where they are of several, by kind. Empty: nothing is measured, or
  /// nothing differs from the profile.
  std::vector<kind_costs> costs = {};
};

/// One leg that waits in a lane.
struct waiting {
  core::request_id request;
  core::tenant_id tenant = {};
  core::priority prio = core::priority::normal;
  core::time_point since;
  core::time_point deadline = core::never;
  /// The time that the rest of the request will take at least.
  core::timespan still_needs{0};
  bool may_answer_best = false;
  /// Where it waits; set by `lanes`.
  core::lane_id lane;

  friend bool operator==(const waiting&, const waiting&) = default;
};

/// Counts of one window, as the monitor keeps them: the raw material of every
/// policy's estimators. What is not counted yet stays empty.
struct demand_window {
  core::time_point begin;
  core::timespan length{0};
  uint64_t arrived = 0;
  uint64_t refused = 0;
  uint64_t answered = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t late = 0;
  /// Searches for something near, and those that found it near enough.
  uint64_t searched = 0;
  uint64_t hits = 0;
  /// (steps skipped, requests), of hits.
  std::vector<std::pair<uint32_t, uint64_t>> skips;
  /// (steps that what was found allows to skip, searches); 0 where nothing was
  /// near enough.
  std::vector<std::pair<uint32_t, uint64_t>> allowed;
  /// [ladder of the profile][predicted class]: requests.
  std::vector<std::vector<uint64_t>> predicted;
  /// Scores of light pictures, in bins of 0.005; the last one holds 1.
  std::vector<uint64_t> confidences;
  /// By eighths of their masked share: edits.
  std::vector<uint64_t> edits;
  /// The last ones of the window, oldest first.
  std::vector<retrieval_sample> retrievals;
  /// By variant: legs that began to wait for it.
  std::vector<uint64_t> placed;
  /// By variant: the steps' time of what arrived, were all of it drawn by that
  /// variant, less that of as many images of its own size and steps; in such
  /// images. Empty: what arrived asks for no other.
  std::vector<double> extra_work = {};

  friend bool operator==(const demand_window&, const demand_window&) = default;
};

/// What is asked of the cluster: finished windows, oldest first, and what
/// waits.
struct demand {
  std::vector<demand_window> windows;
  uint64_t backlog = 0;
  /// When it was asked.
  core::time_point now;
  /// Between two plans that no event asks for; 0: not told.
  core::timespan period{0};
  /// By variant: legs that wait for it.
  std::vector<uint64_t> waiting;
  /// By variant: those of them in the lane that all its hosts serve, and nobody
  /// where there is none.
  std::vector<uint64_t> waiting_shared;
};

} // namespace atelier::planning
