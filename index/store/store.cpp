// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/store/detail/folder_medium.hpp>
#include <atelier/index/store/store.hpp>

#include <utility>

namespace atelier::index {

store::store(cache_rules rules, std::unique_ptr<detail::medium> folder)
  : cache(std::move(rules), std::move(folder)) {}

core::result<std::shared_ptr<store>> store::open(store_options options) {
  auto folder = detail::folder_medium::open(options);
  if (!folder)
    return folder.why();
  const std::shared_ptr<store> out{new store{options, std::move(*folder)}};
  const auto strays = out->load();
  if (!strays)
    return strays.why();
  const auto counts = out->counts();
  core::log_info("cache: {} holds {} entries of {} bytes; {} were torn, {} "
                 "files had no entry",
                 options.folder.string(), counts.entries, counts.bytes,
                 counts.dropped_torn, *strays);
  return out;
}

uint64_t stored_bytes(std::string_view key, std::string_view text,
                      const leftover& what) {
  return detail::entry_overhead + key.size() + text.size()
       + detail::payload_bytes(what);
}

} // namespace atelier::index
