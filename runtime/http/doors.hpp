// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/picture_service.hpp>
#include <atelier/runtime/http/result_files.hpp>
#include <atelier/runtime/http/route_table.hpp>
#include <atelier/runtime/thread_offload.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace atelier::runtime::http {

/// What the doors are made from.
struct door_context {
  std::shared_ptr<picture_service> pictures;
  std::shared_ptr<health> condition;
  const config::settings& settings;
  /// Where pictures of jobs that ended go; null: they stay in memory.
  std::shared_ptr<const result_files> results = nullptr;
  /// Of asynchronous jobs, with what it has of servers before; null: none is
  /// kept.
  std::shared_ptr<job_journal> journal = nullptr;
  journal_contents restored = {};
};

/// Everything that a server answers to.
struct doors {
  std::shared_ptr<const route_table> routes;
  /// What is to be done about every half second, on a housekeeper's thread.
  std::vector<std::function<void()>> chores;
  /// Likewise, on a thread of their own: they wait for the disk.
  std::vector<std::function<void()>> disk_chores;
  /// Works on pixels; to be kept until the server has ended.
  std::shared_ptr<thread_offload> pixels;
  /// To be told of the server's exchanges and counts.
  std::shared_ptr<metrics> counted;

  /// The one place that knows all APIs. They may ask for variants only once a
  /// request comes: the engine may start later.
  static doors make(door_context from);
};

} // namespace atelier::runtime::http
