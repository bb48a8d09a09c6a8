// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/study_systems.hpp>

#include <algorithm>
#include <array>

namespace atelier::runtime::reuse_study {

namespace {

constexpr auto systems = std::to_array<study_system>({
  {.name = full_system, .policy = "vanilla"},
  {.name = "nirvana", .policy = "nirvana", .found = found_entries::nearest},
  {.name = "random-entry", .policy = "nirvana", .found = found_entries::any},
  {.name = "fewer-steps",
   .policy = "vanilla",
   .request = asked_for::fewer_steps},
  {.name = "turbo", .policy = "vanilla", .request = asked_for::turbo},
  {.name = "nirvana-paper",
   .policy = "nirvana-paper",
   .found = found_entries::nearest},
  {.name = "nirvana-words",
   .policy = "nirvana",
   .found = found_entries::nearest,
   .encoder = compared_by::words},
  {.name = "gptcache",
   .policy = "gptcache",
   .found = found_entries::nearest,
   .encoder = compared_by::words},
  {.name = "pinecone", .policy = "pinecone", .found = found_entries::nearest},
  {.name = "crs", .policy = "crs", .found = found_entries::by_image},
  {.name = "small-model", .policy = "small-model"},
});

} // namespace

std::span<const study_system> study_systems() {
  return systems;
}

const study_system* find_system(std::string_view name) {
  const auto* const at = std::ranges::find(systems, name, &study_system::name);
  return at == systems.end() ? nullptr : at;
}

} // namespace atelier::runtime::reuse_study
