// SPDX-License-Identifier: Apache-2.0
// Long, because all statements of one file of SQLite are here.
#include <atelier/index/store/detail/catalog.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace atelier::index::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;

/// The letters "ATKW", for kept work of Atelier.
constexpr int64_t application_id = 0x41544b57;

// AUTOINCREMENT gives each number once, even after removals.
constexpr std::string_view versions[] = {
  "CREATE TABLE entries("
  " number INTEGER PRIMARY KEY AUTOINCREMENT,"
  " key BLOB NOT NULL, text TEXT NOT NULL, tenant INTEGER NOT NULL,"
  " depth INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,"
  " made INTEGER NOT NULL, used INTEGER NOT NULL);"
  "CREATE TABLE parts("
  " entry INTEGER NOT NULL, steps INTEGER NOT NULL, bytes INTEGER NOT NULL,"
  " checksum INTEGER NOT NULL, PRIMARY KEY(entry, steps)) WITHOUT ROWID;",
  "ALTER TABLE entries ADD COLUMN saved_steps INTEGER NOT NULL DEFAULT 0;"};

// Belongs to no version: programs that do not know the table leave it alone, so
// that vectors may outlive their entries until the file is opened again.
constexpr std::string_view vector_table =
  "CREATE TABLE IF NOT EXISTS vectors("
  " entry INTEGER PRIMARY KEY, encoder TEXT NOT NULL, vector BLOB NOT NULL);"
  "DELETE FROM vectors WHERE entry NOT IN (SELECT number FROM entries);";

/// The exception for a fault that SQLite reports. It is caught in this source.
struct catalog_fault : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Converts a number to SQLite's numbers, which have a sign.
int64_t stored(uint64_t x) {
  return static_cast<int64_t>(x);
}

/// Makes the file if it is missing. Only its owner can access it.
core::result<void> make_file(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return core::fail(ec::io_failed, "{}: cannot be opened: {}", file.string(),
                      std::generic_category().message(errno));
  close(fd);
  return {};
}

} // namespace

std::span<const std::string_view> catalog_versions() {
  return versions;
}

uint64_t payload_bytes(const entry_row& row) {
  uint64_t out = 0;
  for (const auto& x : row.parts)
    out += x.bytes;
  return out;
}

uint64_t counted_bytes(const entry_row& row) {
  return entry_overhead + row.key.size() + row.text.size() + payload_bytes(row);
}

class catalog::connection {
public:
  explicit connection(fs::path file) : file_(std::move(file)) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    const int result = sqlite3_open_v2(file_.c_str(), &it_, flags, nullptr);
    if (result == SQLITE_OK)
      return;
    const std::string why =
      it_ != nullptr ? sqlite3_errmsg(it_) : sqlite3_errstr(result);
    sqlite3_close_v2(it_);
    throw catalog_fault{why};
  }

  ~connection() {
    sqlite3_close_v2(it_);
  }

  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  const fs::path& file() const {
    return file_;
  }

  void run(std::string_view statements) {
    if (sqlite3_exec(it_, std::string{statements}.c_str(), nullptr, nullptr,
                     nullptr)
        != SQLITE_OK)
      complain();
  }

  [[noreturn]] void complain() const {
    throw catalog_fault{sqlite3_errmsg(it_)};
  }

  sqlite3* handle() const {
    return it_;
  }

private:
  fs::path file_;
  sqlite3* it_ = nullptr;
};

namespace {

/// One statement of a connection.
template <class Connection>
class query {
public:
  query(Connection& in, std::string_view text) : in_(in) {
    if (sqlite3_prepare_v2(in.handle(), text.data(),
                           static_cast<int>(text.size()), &it_, nullptr)
        != SQLITE_OK)
      in.complain();
  }

  ~query() {
    sqlite3_finalize(it_);
  }

  query(const query&) = delete;
  query& operator=(const query&) = delete;

  query& put(int64_t x) {
    return bound(sqlite3_bind_int64(it_, next_++, x));
  }

  // Texts are not copied: they exist until the statement has run.
  query& put_text(std::string_view x) {
    return bound(sqlite3_bind_text64(it_, next_++, x.data(), x.size(),
                                     SQLITE_STATIC, SQLITE_UTF8));
  }

  query& put_blob(std::string_view x) {
    return bound(
      sqlite3_bind_blob64(it_, next_++, x.data(), x.size(), SQLITE_STATIC));
  }

  /// Returns whether the statement has another row.
  bool next() {
    const int result = sqlite3_step(it_);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
      in_.complain();
    return result == SQLITE_ROW;
  }

  /// Runs the statement to its end.
  void run() {
    while (next()) {
    }
    reset();
  }

  /// Prepares the statement to run again.
  void reset() {
    sqlite3_reset(it_);
    next_ = 1;
  }

  int64_t number(int column) const {
    return sqlite3_column_int64(it_, column);
  }

  std::string bytes(int column) const {
    const auto* const at =
      static_cast<const char*>(sqlite3_column_blob(it_, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(it_, column));
    return at == nullptr ? std::string{} : std::string{at, size};
  }

private:
  query& bound(int result) {
    if (result != SQLITE_OK)
      in_.complain();
    return *this;
  }

  Connection& in_;
  sqlite3_stmt* it_ = nullptr;
  int next_ = 1;
};

template <class Connection>
int64_t number_of(Connection& in, std::string_view text) {
  query x{in, text};
  return x.next() ? x.number(0) : 0;
}

/// Runs `what` as a whole or not at all.
template <class Connection, class F>
void at_once(Connection& in, F what) {
  in.run("BEGIN IMMEDIATE");
  try {
    what();
    in.run("COMMIT");
  } catch (const catalog_fault&) {
    // SQLite may have ended the transaction itself.
    sqlite3_exec(in.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

/// Calls `what`, and turns a fault of SQLite into an error that names the file.
template <class Connection, class F>
core::result<void> guarded(const Connection& in, F what) {
  try {
    what();
    return {};
  } catch (const catalog_fault& e) {
    return core::fail(ec::io_failed, "{}: {}", in.file().string(), e.what());
  }
}

template <class Connection>
void note_uses(Connection& in, std::span<const numbered_uses> uses) {
  query update{in, "UPDATE entries SET used = ?, saved_steps = ?"
                   " WHERE number = ?"};
  for (const auto& x : uses)
    update.put(stored(x.uses.last))
      .put(stored(x.uses.saved_steps))
      .put(stored(x.number))
      .run();
}

/// Upgrades the file to the newest version; returns the reason if that fails.
template <class Connection>
std::optional<std::string> upgrade(Connection& in,
                                   std::span<const std::string_view> steps) {
  const auto newest = static_cast<int64_t>(steps.size());
  const auto version = number_of(in, "PRAGMA user_version");
  const bool empty = number_of(in, "SELECT count(*) FROM sqlite_schema") == 0;
  if (!empty && number_of(in, "PRAGMA application_id") != application_id)
    return "is a file of another program";
  if (version > newest || version < 0)
    return fmt::format("is of version {}, and this program knows 1..{}",
                       version, newest);
  if (version == newest)
    return std::nullopt;
  at_once(in, [&] {
    for (const auto& x : steps.subspan(static_cast<size_t>(version)))
      in.run(x);
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
    to->run(vector_table);
    return catalog{std::move(to)};
  } catch (const catalog_fault& e) {
    return core::fail(ec::io_failed, "{}: {}", file.string(), e.what());
  }
}

core::result<void> catalog::read(
  const std::function<void(entry_row)>& take) const {
  return guarded(*to_, [&] {
    query rows{*to_,
               "SELECT number, key, text, tenant, depth, width, height,"
               " made, used, saved_steps FROM entries ORDER BY used, number"};
    query parts{*to_, "SELECT steps, bytes, checksum FROM parts"
                      " WHERE entry = ? ORDER BY steps"};
    while (rows.next()) {
      entry_row x;
      x.number = static_cast<uint64_t>(rows.number(0));
      x.key = rows.bytes(1);
      x.text = rows.bytes(2);
      x.whose = core::tenant_id{static_cast<uint32_t>(rows.number(3))};
      x.depth = static_cast<uint32_t>(rows.number(4));
      x.px = {static_cast<uint32_t>(rows.number(5)),
              static_cast<uint32_t>(rows.number(6))};
      x.made = rows.number(7);
      x.uses.last = static_cast<uint64_t>(rows.number(8));
      x.uses.saved_steps = static_cast<uint64_t>(rows.number(9));
      parts.put(rows.number(0));
      while (parts.next())
        x.parts.push_back({static_cast<uint32_t>(parts.number(0)),
                           static_cast<uint64_t>(parts.number(1)),
                           static_cast<uint64_t>(parts.number(2))});
      parts.reset();
      take(std::move(x));
    }
  });
}

core::result<uint64_t> catalog::last_number() const {
  uint64_t out = 0;
  if (auto ok = guarded(*to_,
                        [&] {
                          out = static_cast<uint64_t>(
                            number_of(*to_, "SELECT seq FROM sqlite_sequence"
                                            " WHERE name = 'entries'"));
                        });
      !ok)
    return ok.why();
  return out;
}

core::result<void> catalog::add(const entry_row& row,
                                std::span<const numbered_uses> uses) const {
  return guarded(*to_, [&] {
    at_once(*to_, [&] {
      query{*to_, "INSERT INTO entries"
                  " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"}
        .put(stored(row.number))
        .put_blob(row.key)
        .put_text(row.text)
        .put(row.whose.value)
        .put(row.depth)
        .put(row.px.width)
        .put(row.px.height)
        .put(row.made)
        .put(stored(row.uses.last))
        .put(stored(row.uses.saved_steps))
        .run();
      query part{*to_, "INSERT INTO parts VALUES(?, ?, ?, ?)"};
      for (const auto& x : row.parts)
        part.put(stored(row.number))
          .put(x.steps)
          .put(stored(x.bytes))
          .put(stored(x.checksum))
          .run();
      note_uses(*to_, uses);
    });
  });
}

core::result<void> catalog::remove(std::span<const uint64_t> numbers) const {
  return guarded(*to_, [&] {
    at_once(*to_, [&] {
      query entry{*to_, "DELETE FROM entries WHERE number = ?"};
      query parts{*to_, "DELETE FROM parts WHERE entry = ?"};
      query vector{*to_, "DELETE FROM vectors WHERE entry = ?"};
      for (const auto x : numbers) {
        entry.put(stored(x)).run();
        parts.put(stored(x)).run();
        vector.put(stored(x)).run();
      }
    });
  });
}

core::result<void> catalog::note(std::span<const numbered_uses> uses) const {
  return guarded(*to_, [&] { at_once(*to_, [&] { note_uses(*to_, uses); }); });
}

core::result<void> catalog::read_vectors(
  const std::function<void(vector_row)>& take) const {
  return guarded(*to_, [&] {
    query rows{*to_, "SELECT entry, encoder, vector FROM vectors"};
    while (rows.next()) {
      vector_row x;
      x.number = static_cast<uint64_t>(rows.number(0));
      x.encoder = rows.bytes(1);
      const auto bytes = rows.bytes(2);
      x.vector.resize(bytes.size() / sizeof(float));
      std::memcpy(x.vector.data(), bytes.data(),
                  x.vector.size() * sizeof(float));
      take(std::move(x));
    }
  });
}

core::result<void> catalog::put_vectors(
  std::span<const vector_row> rows) const {
  return guarded(*to_, [&] {
    at_once(*to_, [&] {
      query vector{*to_, "INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)"};
      for (const auto& x : rows)
        vector.put(stored(x.number))
          .put_text(x.encoder)
          .put_blob({reinterpret_cast<const char*>(x.vector.data()),
                     x.vector.size() * sizeof(float)})
          .run();
    });
  });
}

core::result<std::string> catalog::faults() const {
  std::string out;
  if (auto ok = guarded(*to_,
                        [&] {
                          query x{*to_, "PRAGMA integrity_check(1)"};
                          if (x.next())
                            out = x.bytes(0);
                        });
      !ok)
    return ok.why();
  return out == "ok" ? std::string{} : out;
}

} // namespace atelier::index::detail
