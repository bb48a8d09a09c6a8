// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/probes.hpp>

#include <utility>

namespace atelier::actors {

namespace {

/// Marks the numbers of probes; those of requests rise from 1 and never have
/// it.
constexpr uint64_t probe_bit = uint64_t{1} << 63;

} // namespace

bool probes::is_due(core::timespan every, core::time_point now) const {
  return !since_ && every.count() > 0 && now >= core::after(last_, every);
}

core::request_id probes::next(core::time_point now) {
  last_ = now;
  return core::request_id{probe_bit | ++count_};
}

void probes::begin(core::time_point now) {
  since_ = now;
}

std::optional<core::time_point> probes::end(core::request_id id) {
  if (id.value != (probe_bit | count_))
    return std::nullopt;
  return std::exchange(since_, std::nullopt);
}

std::optional<core::time_point> probes::end_late(core::timespan most,
                                                 core::time_point now) {
  if (!since_ || now < core::after(*since_, most))
    return std::nullopt;
  return std::exchange(since_, std::nullopt);
}

bool probes::is_probe(core::request_id id) {
  return (id.value & probe_bit) != 0;
}

} // namespace atelier::actors
