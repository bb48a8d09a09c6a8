// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/timeline_text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace atelier::runtime {

namespace {

using actors::timeline_event;
using kind = timeline_event::kind;

/// The two processes that a viewer shows.
constexpr uint32_t requests_pid = 1;
constexpr uint32_t workers_pid = 2;

std::string json_text(std::string_view x) {
  using json = nlohmann::json;
  return core::ascii_json_text(json(x));
}

std::string micros(core::timespan x) {
  const auto ns = x.count();
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string micros(core::time_point x) {
  return micros(x.time_since_epoch());
}

std::string metadata(std::string_view what, uint32_t pid, uint32_t tid,
                     std::string_view key, const std::string& value) {
  return fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},"
                     "\"args\":{{\"{}\":{}}}}},\n",
                     what, pid, tid, key, value);
}

std::string arguments_of(const timeline_event& x) {
  std::string out;
  const auto add = [&](std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}",
                   out.empty() ? "" : ",", key, value);
  };
  for (const auto& [key, value] : x.numbers)
    add(key, fmt::format("{}", value));
  for (const auto& [key, value] : x.texts)
    add(key, json_text(value));
  if (!x.rows.empty()) {
    std::string ids;
    for (const auto id : x.rows)
      fmt::format_to(std::back_inserter(ids), "{}{}", ids.empty() ? "" : ",",
                     id.value);
    add("requests", "[" + ids + "]");
  }
  return "{" + out + "}";
}

/// Returns an event of a request's own track. A viewer pairs begin and end
/// events by their number; it sorts by time.
std::string of_request(const timeline_event& x, std::string_view phase,
                       core::time_point when, const std::string& arguments) {
  const auto name = x.type == kind::accepted || x.type == kind::ended
                    ? fmt::format("request {}", x.request->value)
                    : std::string{x.name};
  return fmt::format("{{\"ph\":\"{}\",\"cat\":\"request\",\"id\":\"{}\","
                     "\"name\":{},\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{}}}"
                     ",\n",
                     phase, x.request->value, json_text(name), requests_pid,
                     micros(when), arguments);
}

} // namespace

std::string timeline_text::begin() {
  return "[\n"
       + metadata("process_name", requests_pid, 0, "name", "\"requests\"")
       + metadata("process_sort_index", requests_pid, 0, "sort_index", "0")
       + metadata("process_name", workers_pid, 0, "name", "\"workers\"")
       + metadata("process_sort_index", workers_pid, 0, "sort_index", "1");
}

std::string timeline_text::end(core::time_point now, uint64_t events,
                               uint64_t dropped) {
  return fmt::format("{{\"ph\":\"i\",\"s\":\"g\",\"name\":\"the timeline "
                     "ends\",\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{"
                     "\"events\":{},\"left_out\":{}}}}}\n]\n",
                     requests_pid, micros(now), events, dropped);
}

timeline_text::thread& timeline_text::thread_of(const actors::timeline_track& x,
                                                std::string& into) {
  const auto name = to_string(x);
  const auto [at, fresh] = threads_.try_emplace(name);
  auto& found = at->second;
  if (!fresh)
    return found;
  found.number = static_cast<uint32_t>(threads_.size());
  // Pools in path order around the devices.
  const auto order = static_cast<uint32_t>(x.role) * 1000 + x.index;
  into +=
    metadata("thread_name", workers_pid, found.number, "name", json_text(name));
  into += metadata("thread_sort_index", workers_pid, found.number, "sort_index",
                   fmt::format("{}", order));
  return found;
}

std::string timeline_text::lines_of(const timeline_event& x) {
  std::string out;
  const auto arguments = arguments_of(x);
  if (x.request) {
    switch (x.type) {
      case kind::accepted:
        return of_request(x, "b", x.from, arguments);
      case kind::ended:
        return of_request(x, "e", x.to, arguments);
      case kind::instant:
        return of_request(x, "n", x.to, arguments);
      case kind::span:
        return of_request(x, "b", x.from, arguments)
             + of_request(x, "e", x.to, "{}");
    }
  }
  auto* const on = x.track ? &thread_of(*x.track, out) : nullptr;
  const auto head = fmt::format(
    "\"name\":{},\"pid\":{},\"tid\":{},", json_text(x.name),
    on != nullptr ? workers_pid : requests_pid, on != nullptr ? on->number : 0);
  if (x.type != kind::span || on == nullptr)
    return out
         + fmt::format(
             "{{\"ph\":\"i\",\"s\":\"{}\",{}\"ts\":{},\"args\":{}}},\n",
             on != nullptr ? "t" : "p", head, micros(x.to), arguments);
  const auto from = std::max(x.from, std::min(on->busy_until, x.to));
  on->busy_until = std::max(on->busy_until, x.to);
  out += fmt::format("{{\"ph\":\"X\",{}\"ts\":{},\"dur\":{},\"args\":{}}},\n",
                     head, micros(from), micros(x.to - from), arguments);
  return out;
}

} // namespace atelier::runtime
