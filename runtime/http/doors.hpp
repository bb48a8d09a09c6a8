// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/access.hpp>
#include <atelier/runtime/http/caller_turns.hpp>
#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/http/job_journal.hpp>
#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/result_files.hpp>
#include <atelier/runtime/http/route_table.hpp>
#include <atelier/runtime/thread_offload.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace atelier::runtime::http {

/// The parts from which the APIs are made.
struct door_context {
  std::shared_ptr<image_service> images;
  std::shared_ptr<health> condition;
  const config::settings& settings;
  /// Where images of ended jobs are stored; null: they stay in memory.
  std::shared_ptr<const result_files> results = nullptr;
  /// The journal of asynchronous jobs, with its content from previous servers;
  /// null: no journal is kept.
  std::shared_ptr<job_journal> journal = nullptr;
  journal_contents restored = {};
  /// The keys of the server, which have limits, and whose names lists show;
  /// null: none are known.
  std::shared_ptr<access> callers = nullptr;
};

/// All APIs that a server answers.
struct doors {
  std::shared_ptr<const route_table> routes;
  /// Work to be done about every half second, on a housekeeper's thread.
  std::vector<std::function<void()>> chores;
  /// Work with the same period, on a thread of its own: it waits for the disk,
  /// perhaps for long.
  std::vector<std::function<void()>> disk_chores;
  // These work on pixels and read the files of images; they must be kept until
  // the server has ended.
  std::shared_ptr<caller_turns> pixels;
  std::shared_ptr<caller_turns> files;
  /// Encodes previews; must be kept as long.
  std::shared_ptr<thread_offload> encoder;
  /// Receives the server's exchanges and counts.
  std::shared_ptr<metrics> counted;

  /// Makes all APIs; this is the only place that knows them all. They may query
  /// variants only once a request arrives: the engine may start later.
  static doors make(door_context from);
};

} // namespace atelier::runtime::http
