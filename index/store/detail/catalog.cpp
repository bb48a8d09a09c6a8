// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/database.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/index/store/detail/catalog.hpp>
#include <atelier/index/store/detail/private_folder.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <type_traits>

namespace atelier::index::detail {

namespace {

namespace fs = std::filesystem;
using core::database;
using core::database_error;
using core::ec;
using core::statement;

/// The letters "ATKW", for kept work of Atelier.
constexpr int64_t application_id = 0x41544b57;

// AUTOINCREMENT gives each number once, even after removals.
// A tenant is a blob of 16 bytes, whatever its column declares.
constexpr std::string_view versions[] = {
  "CREATE TABLE entries("
  " number INTEGER PRIMARY KEY AUTOINCREMENT,"
  " key BLOB NOT NULL, text TEXT NOT NULL, tenant INTEGER NOT NULL,"
  " depth INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,"
  " made INTEGER NOT NULL, used INTEGER NOT NULL);"
  "CREATE TABLE parts("
  " entry INTEGER NOT NULL, steps INTEGER NOT NULL, bytes INTEGER NOT NULL,"
  " checksum INTEGER NOT NULL, PRIMARY KEY(entry, steps)) WITHOUT ROWID;",
  "ALTER TABLE entries ADD COLUMN saved_steps INTEGER NOT NULL DEFAULT 0;",
  // Payloads leave alone, and have uses of their own. The uses of older entries
  // are shared out as if each of their states had been used equally often.
  "ALTER TABLE entries ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE parts ADD COLUMN start INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE parts ADD COLUMN used INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE parts ADD COLUMN saved_steps INTEGER NOT NULL DEFAULT 0;"
  "UPDATE entries SET file_bytes ="
  " (SELECT coalesce(sum(p.bytes), 0) FROM parts p"
  "  WHERE p.entry = entries.number);"
  "UPDATE parts SET start ="
  " (SELECT coalesce(sum(p.bytes), 0) FROM parts p"
  "  WHERE p.entry = parts.entry AND p.steps < parts.steps);"
  "UPDATE parts SET"
  " used = coalesce((SELECT e.used FROM entries e"
  "  WHERE e.number = parts.entry), 0),"
  " saved_steps = coalesce((SELECT CASE WHEN sum(p.steps) = 0"
  "   THEN e.saved_steps ELSE e.saved_steps * parts.steps / sum(p.steps) END"
  "  FROM entries e JOIN parts p ON p.entry = e.number"
  "  WHERE e.number = parts.entry), 0);",
  // A tenant had 32 bits before, as had the end of a key. Entries of
  // named tenants leave, because two names may have the same 32 bits.
  "DELETE FROM parts WHERE entry IN"
  " (SELECT number FROM entries WHERE tenant <> 0);"
  "DELETE FROM entries WHERE tenant <> 0;"
  "UPDATE entries SET key = CAST(key || zeroblob(12) AS BLOB),"
  " tenant = zeroblob(16);",
  // What drew older entries is unknown.
  "ALTER TABLE entries ADD COLUMN seeded INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE entries ADD COLUMN seed INTEGER NOT NULL DEFAULT 0;"};

/// The version from which on a tenant has 128 bits.
constexpr int64_t version_of_tenants = 4;

// Belongs to no version: programs that do not know the table leave it alone, so
// that vectors may outlive their entries until the file is opened again.
constexpr std::string_view vector_table =
  "CREATE TABLE IF NOT EXISTS vectors("
  " entry INTEGER PRIMARY KEY, encoder TEXT NOT NULL, vector BLOB NOT NULL);"
  "DELETE FROM vectors WHERE entry NOT IN (SELECT number FROM entries);";

/// Converts a number to SQLite's numbers, which have a sign.
int64_t stored(uint64_t x) {
  return static_cast<int64_t>(x);
}

/// Makes the file if it is missing. Only its owner can access it. SQLite would
/// follow links in place of it and of its logs.
core::result<void> make_file(const fs::path& file) {
  for (const auto* const ending : {"", "-wal", "-shm", "-journal"})
    if (auto ok = check_no_link(file.string() + ending); !ok)
      return ok;
  const int fd =
    open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return core::fail(ec::io_failed, "{}: cannot be opened: {}", file.string(),
                      std::generic_category().message(errno));
  close(fd);
  return {};
}

core::error error_of(const fs::path& file, const database_error& why) {
  if (!why.is_damage())
    return core::fail(ec::io_failed, "{}: {}", file.string(), why.what());
  return core::fail(ec::io_failed,
                    "{}: {}; to begin with an empty cache: atelier cache clear "
                    "--folder '{}'",
                    file.string(), why.what(), file.parent_path().string());
}

} // namespace

std::span<const std::string_view> catalog_versions() {
  return versions;
}

uint64_t counted_bytes(const entry_row& row) {
  return entry_overhead + row.key.size() + row.text.size() + payload_bytes(row);
}

/// A connection to the rows' file.
class catalog::connection : public database {
public:
  explicit connection(fs::path file) : database(file), file_(std::move(file)) {}

  const fs::path& file() const {
    return file_;
  }

private:
  fs::path file_;
};

namespace {

/// Calls `what`, and turns a fault of SQLite into an error that names the file.
template <class Connection, class F>
auto guarded(const Connection& in, F what) -> core::result<decltype(what())> {
  try {
    if constexpr (std::is_void_v<decltype(what())>) {
      what();
      return {};
    } else {
      return what();
    }
  } catch (const database_error& e) {
    return error_of(in.file(), e);
  }
}

/// Calls `take` with each entry, the least recently used first.
void take_entries(database& in, const std::function<void(entry_row)>& take) {
  statement rows{in, "SELECT number, key, text, tenant, depth, width, height,"
                     " made, used, saved_steps, file_bytes, seeded, seed"
                     " FROM entries ORDER BY used, number"};
  statement parts{in, "SELECT steps, bytes, checksum, start, used, saved_steps"
                      " FROM parts WHERE entry = ? ORDER BY steps"};
  const auto number = [](const statement& row, int column) {
    return static_cast<uint64_t>(row.get_number(column));
  };
  while (rows.next()) {
    entry_row x;
    x.number = number(rows, 0);
    const auto key = rows.get_bytes(1);
    x.key.assign(key.begin(), key.end());
    x.text = rows.get_text(2);
    const auto whose = core::tenant_in(rows.get_bytes(3));
    if (!whose)
      throw database_error{
        0, fmt::format("the tenant of entry {} is damaged", x.number)};
    x.whose = *whose;
    x.depth = static_cast<uint32_t>(rows.get_number(4));
    x.px = {static_cast<uint32_t>(rows.get_number(5)),
            static_cast<uint32_t>(rows.get_number(6))};
    x.made = rows.get_number(7);
    x.uses = {number(rows, 8), number(rows, 9)};
    x.file_bytes = number(rows, 10);
    if (rows.get_number(11) != 0)
      x.seed = number(rows, 12);
    parts.put(rows.get_number(0));
    while (parts.next())
      x.parts.push_back({static_cast<uint32_t>(parts.get_number(0)),
                         number(parts, 1),
                         number(parts, 2),
                         number(parts, 3),
                         {number(parts, 4), number(parts, 5)}});
    parts.reset();
    take(std::move(x));
  }
}

void note_uses(database& in, std::span<const numbered_uses> uses) {
  statement update{in, "UPDATE entries SET used = ?, saved_steps = ?"
                       " WHERE number = ?"};
  statement part{in, "UPDATE parts SET used = ?, saved_steps = ?"
                     " WHERE entry = ? AND steps = ?"};
  for (const auto& x : uses) {
    update.put(stored(x.uses.last))
      .put(stored(x.uses.saved_steps))
      .put(stored(x.number))
      .run();
    for (const auto& [steps, of] : x.parts)
      part.put(stored(of.last))
        .put(stored(of.saved_steps))
        .put(stored(x.number))
        .put(steps)
        .run();
  }
}

/// Logs how many entries leave with an upgrade.
void log_leaving(database& in, int64_t version, int64_t newest) {
  if (version < 1 || version >= version_of_tenants
      || newest < version_of_tenants)
    return;
  if (const auto leaving =
        in.number("SELECT count(*) FROM entries WHERE tenant <> 0");
      leaving > 0)
    core::log_warn("cache: {} entries of named clients leave, because an "
                   "earlier build kept them under a short hash of the names",
                   leaving);
}

/// Upgrades the file to the newest version; returns the reason if that fails.
std::optional<std::string> upgrade(database& in,
                                   std::span<const std::string_view> steps) {
  const auto newest = static_cast<int64_t>(steps.size());
  const auto version = in.number("PRAGMA user_version");
  const bool empty = in.number("SELECT count(*) FROM sqlite_schema") == 0;
  if (!empty && in.number("PRAGMA application_id") != application_id)
    return "is a file of another program";
  if (version > newest || version < 0)
    return fmt::format("is of version {}, and this program knows 1..{}",
                       version, newest);
  if (version == newest)
    return std::nullopt;
  log_leaving(in, version, newest);
  in.at_once([&] {
    for (const auto& x : steps.subspan(static_cast<size_t>(version)))
      in.run(std::string{x});
    in.run(fmt::format("PRAGMA application_id = {}", application_id));
    in.run(fmt::format("PRAGMA user_version = {}", newest));
  });
  return std::nullopt;
}

} // namespace

catalog::catalog(std::unique_ptr<connection> to) : to_(std::move(to)) {}

catalog::catalog(catalog&&) noexcept = default;
catalog& catalog::operator=(catalog&&) noexcept = default;
catalog::~catalog() = default;

core::result<catalog> catalog::open(const fs::path& file,
                                    std::span<const std::string_view> steps) {
  if (auto made = make_file(file); !made)
    return made.why();
  try {
    auto to = std::make_unique<connection>(file);
    // With exclusive access to its file, SQLite maps none of it, so a full disk
    // is an error and not a signal.
    to->run("PRAGMA locking_mode = EXCLUSIVE");
    to->run("PRAGMA journal_mode = WAL");
    to->run("PRAGMA synchronous = NORMAL");
    if (const auto why = upgrade(*to, steps))
      return core::fail(ec::incompatible, "{} {}", file.string(), *why);
    to->run(std::string{vector_table});
    return catalog{std::move(to)};
  } catch (const database_error& e) {
    return error_of(file, e);
  }
}

core::result<void> catalog::read(
  const std::function<void(entry_row)>& take) const {
  return guarded(*to_, [&] { take_entries(*to_, take); });
}

core::result<std::map<uint64_t, std::string>> catalog::texts(
  std::span<const uint64_t> numbers) const {
  return guarded(*to_, [&] {
    std::map<uint64_t, std::string> out;
    statement row{*to_, "SELECT text FROM entries WHERE number = ?"};
    for (const auto x : numbers) {
      row.put(stored(x));
      if (row.next())
        out.emplace(x, row.get_text(0));
      row.reset();
    }
    return out;
  });
}

core::result<uint64_t> catalog::last_number() const {
  return guarded(*to_, [&] {
    return static_cast<uint64_t>(
      to_->number("SELECT seq FROM sqlite_sequence WHERE name = 'entries'"));
  });
}

core::result<void> catalog::add(const entry_row& row,
                                std::span<const numbered_uses> uses) const {
  return guarded(*to_, [&] {
    const auto whose = core::bytes_of(row.whose);
    to_->at_once([&] {
      statement{*to_, "INSERT INTO entries"
                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"}
        .put(stored(row.number))
        .put(std::span{reinterpret_cast<const uint8_t*>(row.key.data()),
                       row.key.size()})
        .put(row.text)
        .put(std::span<const uint8_t>{whose})
        .put(row.depth)
        .put(row.px.width)
        .put(row.px.height)
        .put(row.made)
        .put(stored(row.uses.last))
        .put(stored(row.uses.saved_steps))
        .put(stored(row.file_bytes))
        .put(row.seed ? 1 : 0)
        .put(stored(row.seed.value_or(0)))
        .run();
      statement part{*to_, "INSERT INTO parts VALUES(?, ?, ?, ?, ?, ?, ?)"};
      for (const auto& x : row.parts)
        part.put(stored(row.number))
          .put(x.steps)
          .put(stored(x.bytes))
          .put(stored(x.checksum))
          .put(stored(x.offset))
          .put(stored(x.uses.last))
          .put(stored(x.uses.saved_steps))
          .run();
      note_uses(*to_, uses);
    });
  });
}

core::result<void> catalog::remove(
  std::span<const uint64_t> numbers,
  std::span<const numbered_part> parts_alone) const {
  return guarded(*to_, [&] {
    to_->at_once([&] {
      statement entry{*to_, "DELETE FROM entries WHERE number = ?"};
      statement parts{*to_, "DELETE FROM parts WHERE entry = ?"};
      statement vector{*to_, "DELETE FROM vectors WHERE entry = ?"};
      for (const auto x : numbers) {
        entry.put(stored(x)).run();
        parts.put(stored(x)).run();
        vector.put(stored(x)).run();
      }
      statement part{*to_, "DELETE FROM parts WHERE entry = ? AND steps = ?"};
      for (const auto& x : parts_alone)
        part.put(stored(x.number)).put(x.steps).run();
    });
  });
}

core::result<void> catalog::note(std::span<const numbered_uses> uses) const {
  return guarded(*to_, [&] { to_->at_once([&] { note_uses(*to_, uses); }); });
}

core::result<void> catalog::read_vectors(
  const std::function<void(vector_row)>& take) const {
  return guarded(*to_, [&] {
    statement rows{*to_, "SELECT entry, encoder, vector FROM vectors"};
    while (rows.next()) {
      vector_row x;
      x.number = static_cast<uint64_t>(rows.get_number(0));
      x.encoder = rows.get_text(1);
      const auto bytes = rows.get_bytes(2);
      if (bytes.size() >= sizeof(float)) {
        x.vector.resize(bytes.size() / sizeof(float));
        std::memcpy(x.vector.data(), bytes.data(),
                    x.vector.size() * sizeof(float));
      }
      take(std::move(x));
    }
  });
}

core::result<void> catalog::put_vectors(
  std::span<const vector_row> rows) const {
  return guarded(*to_, [&] {
    to_->at_once([&] {
      statement vector{*to_, "INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)"};
      for (const auto& x : rows)
        vector.put(stored(x.number))
          .put(x.encoder)
          .put(std::span{reinterpret_cast<const uint8_t*>(x.vector.data()),
                         x.vector.size() * sizeof(float)})
          .run();
    });
  });
}

core::result<std::string> catalog::faults() const {
  return guarded(*to_, [&] {
    statement x{*to_, "PRAGMA integrity_check(1)"};
    const auto out = x.next() ? x.get_text(0) : std::string{};
    return out == "ok" ? std::string{} : out;
  });
}

} // namespace atelier::index::detail
