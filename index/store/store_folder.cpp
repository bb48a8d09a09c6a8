// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/store/detail/folder_lock.hpp>
#include <atelier/index/store/detail/folder_medium.hpp>
#include <atelier/index/store/detail/payload_files.hpp>
#include <atelier/index/store/detail/private_folder.hpp>
#include <atelier/index/store/store_folder.hpp>
#include <atelier/ipc/checksum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace atelier::index {

namespace {

namespace fs = std::filesystem;
using core::ec;
using detail::entry_row;

core::result<detail::folder_lock> locked(const fs::path& folder) {
  std::error_code error;
  const bool there = fs::exists(detail::rows_of(folder), error);
  if (error)
    return core::fail(ec::io_failed, "cannot read the folder {}: {}",
                      folder.string(), error.message());
  if (!there)
    return core::fail(ec::not_found, "{}: no cache was found", folder.string());
  return detail::folder_lock::take(folder);
}

/// A folder's rows, which nothing else reads meanwhile.
struct locked_rows {
  detail::folder_lock held;
  detail::catalog rows;
};

core::result<locked_rows> rows_in(const fs::path& folder) {
  auto held = locked(folder);
  if (!held)
    return held.why();
  auto rows = detail::catalog::open(detail::rows_of(folder));
  if (!rows)
    return rows.why();
  return locked_rows{std::move(*held), std::move(*rows)};
}

/// Returns the fault of an entry's payloads; empty if they have none.
core::result<std::string> fault_of(const entry_row& row,
                                   const detail::payload_files& files) {
  for (const auto& part : row.parts) {
    const auto bytes = files.read(row.number, part.offset, part.bytes);
    if (!bytes && bytes.why().code == ec::io_failed)
      return bytes.why();
    if (!bytes)
      return bytes.why().text;
    if (ipc::xxh3(*bytes) != part.checksum)
      return part.steps == 0
             ? std::string{"the bytes of its image have changed"}
             : fmt::format("the bytes of its state after {} steps have changed",
                           part.steps);
  }
  return std::string{};
}

} // namespace

core::result<store_facts> facts_of_store(const fs::path& folder) {
  const auto opened = rows_in(folder);
  if (!opened)
    return opened.why();
  const auto& rows = opened->rows;
  store_facts out;
  std::set<core::tenant_id> tenants;
  if (auto ok = rows.read([&](const entry_row& row) {
        ++out.entries;
        out.bytes += detail::counted_bytes(row);
        out.payload_bytes += detail::payload_bytes(row);
        tenants.insert(row.whose);
        if (std::ranges::any_of(row.parts,
                                [](const auto& x) { return x.steps == 0; }))
          ++out.images;
        out.oldest =
          out.oldest == 0 ? row.made : std::min(out.oldest, row.made);
        out.newest = std::max(out.newest, row.made);
      });
      !ok)
    return ok.why();
  out.tenants = tenants.size();
  return out;
}

core::result<store_damage> verify_store(const fs::path& folder) {
  const auto opened = rows_in(folder);
  if (!opened)
    return opened.why();
  const auto& rows = opened->rows;
  store_damage out;
  auto faults = rows.faults();
  if (!faults)
    return faults.why();
  out.rows = std::move(*faults);
  const detail::payload_files files{detail::payloads_of(folder)};
  auto there = files.list();
  if (!there)
    return there.why();
  core::result<void> read;
  auto ok = rows.read([&](const entry_row& row) {
    if (!read)
      return;
    const auto size = there->sizes.find(row.number);
    ++out.checked;
    if (size == there->sizes.end()) {
      out.entries.push_back({row.number, "its file is missing"});
      return;
    }
    if (size->second != row.file_bytes) {
      out.entries.push_back(
        {row.number, fmt::format("its file has {} bytes, not {}", size->second,
                                 row.file_bytes)});
    } else if (auto why = fault_of(row, files); !why) {
      read = why.why();
    } else if (!why->empty()) {
      out.entries.push_back({row.number, std::move(*why)});
    } else {
      out.checked_bytes += detail::payload_bytes(row);
    }
    there->sizes.erase(size);
  });
  if (ok && !read)
    ok = read;
  if (!ok)
    return ok.why();
  out.files_without_entry = there->sizes.size() + there->unfinished.size();
  return out;
}

core::result<uint64_t> clear_store(const fs::path& folder) {
  const auto held = locked(folder);
  if (!held)
    return held.why();
  // A damaged folder may lack it.
  if (auto ok = detail::make_private_folder(detail::payloads_of(folder)); !ok)
    return ok.why();
  const detail::payload_files files{detail::payloads_of(folder)};
  const auto there = files.list();
  if (!there)
    return there.why();
  // The rows are removed first, because the next start removes a file without
  // one; of the rows, their file, because without its log it is only half of
  // them, and a log without a file is nothing to SQLite.
  const auto rows = detail::rows_of(folder);
  std::error_code error;
  for (const auto* const ending : {"", "-wal", "-shm"}) {
    fs::remove(rows.string() + ending, error);
    if (error)
      return core::fail(ec::io_failed, "{}{}: cannot be removed: {}",
                        rows.string(), ending, error.message());
  }
  if (auto ok = files.remove(*there); !ok)
    return ok.why();
  return there->sizes.size();
}

core::result<uint64_t> clear_store(const fs::path& folder,
                                   const entry_filter& which) {
  const auto opened = rows_in(folder);
  if (!opened)
    return opened.why();
  std::vector<uint64_t> leaving;
  if (auto ok = opened->rows.read([&](const entry_row& row) {
        if ((!which.tenant || row.whose == *which.tenant)
            && (!which.made_before || row.made < *which.made_before))
          leaving.push_back(row.number);
      });
      !ok)
    return ok.why();
  // The rows are removed first, because the next start removes a file without
  // one.
  if (auto ok = opened->rows.remove(leaving); !ok)
    return ok.why();
  const detail::payload_files files{detail::payloads_of(folder)};
  for (const auto entry : leaving)
    if (auto ok = files.remove(entry); !ok)
      return ok.why();
  return leaving.size();
}

core::result<void> read_texts(const fs::path& folder, std::string_view scope,
                              const std::function<void(kept_text)>& take) {
  const auto opened = rows_in(folder);
  if (!opened && opened.why().code == ec::not_found)
    return {};
  if (!opened)
    return opened.why();
  const detail::payload_files files{detail::payloads_of(folder)};
  const auto there = files.list();
  if (!there)
    return there.why();
  return opened->rows.read([&](entry_row row) {
    const auto size = there->sizes.find(row.number);
    // The next start removes an entry whose file is not whole.
    if (!row.key.starts_with(scope) || size == there->sizes.end()
        || size->second != row.file_bytes)
      return;
    kept_text out;
    out.key = row.key.substr(scope.size());
    out.text = std::move(row.text);
    for (const auto& part : row.parts)
      if (part.steps == 0)
        out.has_image = true;
      else
        out.steps.push_back(part.steps);
    take(std::move(out));
  });
}

} // namespace atelier::index
