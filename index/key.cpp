// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/record.hpp>
#include <atelier/index/key.hpp>
#include <atelier/planning/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace atelier::index {

bool is_searched_for(const core::request& wanted) {
  return wanted.source == nullptr && core::reads(wanted.cache);
}

bool is_remembered(const core::request& wanted) {
  return wanted.source == nullptr && core::writes(wanted.cache)
      && wanted.kind != core::request_kind::probe;
}

std::string key_of(const core::recipe& how, std::string_view negative,
                   core::tenant_id whose) {
  auto any_seed = how;
  any_seed.seed = 0;
  std::vector<std::byte> bytes;
  core::record_writer sink{bytes};
  sink(any_seed, std::string{negative}, whose);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view tenant_part(std::string_view key) {
  // key_of writes the tenant last.
  return key.substr(key.size() - std::min(key.size(), sizeof(core::tenant_id)));
}

std::optional<core::recipe> recipe_in(std::string_view key) {
  core::recipe how;
  std::string negative;
  core::tenant_id whose;
  core::record_reader source{std::as_bytes(std::span{key})};
  if (!source(how, negative, whose) || source.left() > 0)
    return std::nullopt;
  return how;
}

std::string key_for(const core::request& wanted,
                    const planning::profile& known) {
  ATELIER_EXPECTS(known.reuse, "the profile says what may be reused");
  return key_of(planning::recipe_of(wanted, {}, known.reuse->full, known),
                wanted.text.negative, wanted.tenant);
}

} // namespace atelier::index
