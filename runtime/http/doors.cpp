// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/a1111_routes.hpp>
#include <atelier/runtime/http/admin_routes.hpp>
#include <atelier/runtime/http/cluster_routes.hpp>
#include <atelier/runtime/http/description_routes.hpp>
#include <atelier/runtime/http/detail/jobs/encoded_previews.hpp>
#include <atelier/runtime/http/doors.hpp>
#include <atelier/runtime/http/drained_images.hpp>
#include <atelier/runtime/http/job_routes.hpp>
#include <atelier/runtime/http/jobs.hpp>
#include <atelier/runtime/http/metered_images.hpp>
#include <atelier/runtime/http/openai_routes.hpp>
#include <atelier/runtime/http/page_routes.hpp>

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace atelier::runtime::http {

namespace {

core::time_point steady_now() {
  return std::chrono::steady_clock::now();
}

/// Returns the processor time that the calling thread has used.
core::time_point worked_here() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return core::time_point{std::chrono::seconds{used.tv_sec}
                          + std::chrono::nanoseconds{used.tv_nsec}};
}

std::chrono::system_clock::time_point wall_now() {
  return std::chrono::system_clock::now();
}

/// From the system: names of jobs must not be guessed.
uint64_t draw() {
  thread_local std::random_device entropy;
  return uint64_t{entropy()} << 32 | entropy();
}

/// Returns what keys have per minute.
job_allowance allowance_of(const std::shared_ptr<access>& callers) {
  if (callers == nullptr)
    return {};
  return {
    [callers](const std::string& owner, uint64_t images,
              uint64_t steps) -> std::optional<failure> {
      const auto x = callers->take_images(owner, images, steps, steady_now());
      if (!x)
        return std::nullopt;
      const auto unit = x->limit.substr(0, x->limit.find('_'));
      if (!x->retry_after)
        return failure{
          std::string{core::to_string(core::ec::invalid_argument)},
          fmt::format("the call asks for {} {}, and its key has {} "
                      "per minute ({})",
                      x->asked, unit, x->value, x->limit),
          {}};
      return failure{
        std::string{jobs::limit_reached},
        fmt::format("the call asks for {} {}, and too few are left "
                    "of the {} that its key has per minute ({})",
                    x->asked, unit, x->value, x->limit),
        *x->retry_after};
    },
    [callers](const std::string& owner, uint64_t images, uint64_t steps) {
      callers->give_images_back(owner, images, steps);
    },
    [callers](const std::string& owner) { return callers->share_of(owner); }};
}

job_limits limits_of(const config::http_settings& x) {
  job_limits out;
  out.jobs = x.jobs;
  out.images = x.images;
  out.kept_bytes = x.results_bytes;
  out.kept_disk_bytes = x.results_disk_bytes;
  out.kept = x.results;
  out.retry = x.retry;
  return out;
}

/// Threads that work on pixels for the APIs: masks and crops.
constexpr unsigned pixel_threads = 1;

/// Threads that read the files of finished images.
constexpr unsigned file_threads = 1;

/// Previews that may wait to be encoded.
constexpr size_t most_previews = 1024;

/// What is under way holds the context, but must not be what ends the threads.
api_context::runner run_on(const std::shared_ptr<caller_turns>& threads) {
  return [weak = std::weak_ptr{threads}](const std::string& caller,
                                         std::function<void()> work) {
    const auto alive = weak.lock();
    return alive && alive->run(caller, std::move(work));
  };
}

} // namespace

doors doors::make(door_context from) {
  const auto& http = from.settings.http;
  doors out;
  out.counted = std::make_shared<metrics>();
  const auto recent = std::make_shared<recent_images>(steady_now);
  const auto images =
    metered(drained(from.images, from.condition), out.counted, recent);
  auto within = limits_of(http);
  within.allowance = allowance_of(from.callers);
  const auto all = std::make_shared<jobs>(
    images, std::move(within), jobs::clocks{steady_now, wall_now, draw},
    from.results, from.journal);
  all->restore(std::move(from.restored));

  // A connection has one request at a time.
  out.pixels = std::make_shared<caller_turns>(pixel_threads, http.connections,
                                              thread_share::background);
  out.files = std::make_shared<caller_turns>(file_threads, http.connections);
  api_context with;
  with.images = images;
  with.limits = from.settings.limits;
  with.images_of_call = http.images;
  with.answer_px = uint64_t{http.answer_mpx} << 20;
  with.wall = wall_now;
  with.worked = worked_here;
  with.steady = steady_now;
  with.decode_most = std::chrono::duration_cast<core::timespan>(
    from.settings.limits.decode * http.decode_factor);
  with.draw = draw;
  with.elsewhere = run_on(out.pixels);
  with.at_files = run_on(out.files);
  out.encoder = std::make_shared<thread_offload>(1, most_previews);
  with.previews = std::make_shared<detail::encoded_previews>(
    [weak = std::weak_ptr{out.encoder}](std::function<void()> work) {
      const auto alive = weak.lock();
      return alive && alive->run({}, std::move(work));
    });
  with.handed_in = [counted = out.counted](core::time_point received) {
    counted->count_door(metrics::door::submit,
                        core::to_seconds(steady_now() - received));
  };
  with.tls = !http.certificate.empty();

  cluster_context shown;
  shown.images = images;
  shown.condition = from.condition;
  shown.recent = recent;
  shown.counted = out.counted;
  shown.all = all;

  auto routes = std::make_shared<route_table>();
  add_health_route(*routes, from.condition);
  add_page_routes(*routes);
  add_description_routes(*routes);
  add_job_routes(*routes, all, with);
  add_openai_routes(*routes, all, with);
  add_a1111_routes(*routes, all, with);
  add_cluster_routes(*routes, shown);
  add_admin_routes(*routes, {images, from.condition, all, from.settings, with,
                             std::move(from.callers)});
  out.routes = std::move(routes);

  out.chores.emplace_back([all] { all->tick(); });
  out.chores.emplace_back([x = from.condition] { x->refresh(); });
  out.disk_chores.emplace_back([all] { all->put_away(); });
  return out;
}

} // namespace atelier::runtime::http
