// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/log.hpp>
#include <atelier/index/store/detail/folder_medium.hpp>
#include <atelier/index/store/detail/private_folder.hpp>

#include <system_error>
#include <utility>

namespace atelier::index::detail {

using core::ec;

std::filesystem::path rows_of(const std::filesystem::path& folder) {
  return folder / "cache.sqlite";
}

std::filesystem::path payloads_of(const std::filesystem::path& folder) {
  return folder / "payload";
}

folder_medium::folder_medium(store_options options, folder_lock held,
                             catalog rows)
  : with_(std::move(options)),
    held_(std::move(held)),
    files_(payloads_of(with_.folder)),
    rows_(std::move(rows)),
    reads_(with_.most_failures, with_.retry),
    writes_(with_.most_failures, with_.retry) {}

core::result<std::unique_ptr<folder_medium>> folder_medium::open(
  store_options options) {
  std::error_code error;
  options.folder = std::filesystem::absolute(options.folder, error);
  if (error)
    return core::fail(ec::io_failed, "{}: {}", options.folder.string(),
                      error.message());
  if (auto ok = make_store_folder(options.folder); !ok)
    return ok.why();
  auto held = folder_lock::take(options.folder);
  if (!held)
    return held.why();
  if (auto ok = make_private_folder(payloads_of(options.folder)); !ok)
    return ok.why();
  auto rows = catalog::open(rows_of(options.folder));
  if (!rows)
    return rows.why();
  return std::make_unique<folder_medium>(std::move(options), std::move(*held),
                                         std::move(*rows));
}

uint64_t folder_medium::overhead(std::string_view key,
                                 std::string_view text) const {
  return stored_bytes(key, text, {});
}

bool folder_medium::is_lasting() const {
  return true;
}

core::result<loaded_medium> folder_medium::load(
  const std::function<void(entry_row)>& take) {
  auto there = files_.list();
  if (!there)
    return there.why();
  auto known = kept_vectors();
  if (!known)
    return known.why();
  loaded_medium out;
  std::vector<uint64_t> torn;
  std::map<uint64_t, std::string> unread;
  std::vector<unseen_image> unseen;
  if (auto ok = rows_.read([&](entry_row row) {
        const auto file = there->sizes.find(row.number);
        if (file == there->sizes.end() || file->second != row.file_bytes
            || row.parts.empty()) {
          torn.push_back(row.number);
          return;
        }
        there->sizes.erase(file);
        if (row.key.starts_with(with_.scope)) {
          if (auto vector = known->extract(row.number))
            out.vectors.insert(std::move(vector));
          else if (!with_.images)
            unread.emplace(row.number, row.text);
          else if (const auto* const image = row.part_of(0))
            unseen.push_back({row.number, *image, row.px});
        }
        take(std::move(row));
      });
      !ok)
    return ok.why();
  auto fresh = encoded_texts(unread);
  if (!fresh)
    return fresh.why();
  out.vectors.merge(*fresh);
  if (auto ok = encode_images(unseen, out); !ok)
    return ok.why();
  const auto last = rows_.last_number();
  if (!last)
    return last.why();
  out.last_number = *last;
  out.torn = torn.size();
  out.strays = there->sizes.size() + there->unfinished.size();
  if (auto ok = rows_.remove(torn); !ok)
    return ok.why();
  // The remaining files have no row.
  if (auto ok = files_.remove(*there); !ok)
    return ok.why();
  return out;
}

core::result<payload> folder_medium::read(uint64_t entry,
                                          const part_row& part) {
  const auto now = with_.now();
  {
    const std::lock_guard hold{lock_};
    if (!reads_.lets_through(now))
      return core::fail(ec::io_failed,
                        "entry {}: its disk is left out after failures", entry);
  }
  auto bytes = files_.read(entry, part.offset, part.bytes);
  const std::lock_guard hold{lock_};
  if (bytes) {
    if (reads_.worked())
      core::log_info("cache: {} can be read again", with_.folder.string());
    return payload{
      std::make_shared<const std::vector<std::byte>>(std::move(*bytes))};
  }
  if (bytes.why().code == ec::io_failed) {
    ++failed_;
    core::log_warn("cache: {}{}", bytes.why().text,
                   reads_.failed(now) ? "; nothing is found for a while" : "");
  }
  return bytes.why();
}

medium_state folder_medium::state() const {
  const auto now = with_.now();
  const std::lock_guard hold{lock_};
  return {failed_, !reads_.lets_through(now), !writes_.lets_through(now)};
}

bool folder_medium::accepts() {
  if (state().writes_left_out)
    return false;
  std::erase_if(stayed_, [&](const auto& x) {
    const auto ok = files_.remove(x.first);
    return ok || failed(ok.why());
  });
  return true;
}

bool folder_medium::add(entry_row& row, std::span<const payload> payloads,
                        std::span<const float> vector,
                        std::span<const numbered_uses> uses) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto& x : payloads)
    parts.emplace_back(*x);
  if (auto ok = files_.write(row.number, parts); !ok)
    return failed(ok.why());
  if (!worked(rows_.add(row, uses))) {
    erase_file(row.number, row.file_bytes);
    return false;
  }
  if (auto ok = keep_vectors({{row.number, {vector.begin(), vector.end()}}});
      !ok)
    failed(ok.why());
  return true;
}

bool folder_medium::note(std::span<const numbered_uses> uses) {
  return worked(rows_.note(uses));
}

core::result<void> folder_medium::strike(std::span<const victim> which) {
  std::vector<uint64_t> numbers;
  std::vector<numbered_part> alone;
  for (const auto& x : which)
    if (x.steps.empty())
      numbers.push_back(x.number);
    else
      for (const auto steps : x.steps)
        alone.push_back({x.number, steps});
  auto ok = rows_.remove(numbers, alone);
  if (!ok)
    failed(ok.why());
  return ok;
}

void folder_medium::erase(const entry_row& of) {
  erase_file(of.number, of.file_bytes);
}

void folder_medium::erase_file(uint64_t entry, uint64_t bytes) {
  if (auto ok = files_.remove(entry); !ok) {
    failed(ok.why());
    stayed_.emplace(entry, bytes);
  }
}

bool folder_medium::thin(const entry_row& of) {
  uint64_t end = 0;
  core::result<void> ok;
  const auto free_until = [&](uint64_t start) {
    if (ok && start > end)
      ok = files_.free(of.number, end, start - end);
  };
  for (const auto& x : of.parts) {
    free_until(x.offset);
    end = x.offset + x.bytes;
  }
  free_until(of.file_bytes);
  return ok || failed(ok.why());
}

uint64_t folder_medium::unerased_bytes() const {
  uint64_t out = 0;
  for (const auto& [entry, bytes] : stayed_)
    out += bytes;
  return out;
}

core::result<std::map<uint64_t, std::string>> folder_medium::texts(
  std::span<const uint64_t> numbers) {
  return rows_.texts(numbers);
}

bool folder_medium::worked(const core::result<void>& change) {
  if (!change)
    return failed(change.why());
  const std::lock_guard hold{lock_};
  if (writes_.worked())
    core::log_info("cache: {} can be written again", with_.folder.string());
  return true;
}

bool folder_medium::failed(const core::error& why) {
  const auto now = with_.now();
  bool is_out = false;
  {
    const std::lock_guard hold{lock_};
    ++failed_;
    is_out = writes_.failed(now);
  }
  core::log_warn("cache: {}{}", why.text,
                 is_out ? "; nothing is kept for a while" : "");
  return false;
}

} // namespace atelier::index::detail
