// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/database.hpp>
#include <atelier/core/error.hpp>
#include <atelier/runtime/http/detail/jobs/journal_json.hpp>
#include <atelier/runtime/http/journal_file.hpp>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace atelier::runtime::http {

namespace {

namespace fs = std::filesystem;
using core::database;
using core::database_error;
using core::ec;
using core::fail;
using core::result;
using core::statement;

/// SQLite's `application_id` in our files: "ATLR".
constexpr int64_t mark = 0x41544c52;

constexpr const char* tables = R"(
CREATE TABLE job (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  wanted TEXT NOT NULL,
  ended TEXT,
  UNIQUE (id, owner)
);
CREATE TABLE file (
  job INTEGER NOT NULL,
  place INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (job, place)
);
CREATE TABLE forgotten (
  at INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  owner TEXT NOT NULL DEFAULT ''
);
)";

/// Converts a file of version 1 into one of version 2. In version 1 an id was
/// unique among all keys. The owners of forgotten ids are not known and stay
/// empty.
constexpr const char* from_version_1 = R"(
CREATE TABLE job_2 (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  wanted TEXT NOT NULL,
  ended TEXT,
  UNIQUE (id, owner)
);
INSERT INTO job_2 SELECT number, id, owner, idempotency_key, fingerprint,
  created_us, wanted, ended FROM job;
DROP TABLE job;
ALTER TABLE job_2 RENAME TO job;
ALTER TABLE forgotten ADD COLUMN owner TEXT NOT NULL DEFAULT '';
)";

constexpr const char* later_tables = R"(
CREATE TABLE IF NOT EXISTS suspicion (
  job INTEGER NOT NULL,
  place INTEGER NOT NULL,
  phase TEXT NOT NULL,
  stage INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  PRIMARY KEY (job, place)
);
CREATE TABLE IF NOT EXISTS cancelled_image (
  job INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (job, place)
);
)";

/// Creates the file before SQLite does, which would give it the permissions of
/// any file: it contains prompts.
result<void> make(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), error);
  const int it = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (it < 0)
    return fail(ec::io_failed, "cannot open '{}': {}", path.string(),
                std::strerror(errno));
  close(it);
  return {};
}

core::error error_of(const fs::path& path, const database_error& e) {
  switch (e.code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ec::unavailable, "another server uses the journal '{}'",
                  path.string());
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fail(ec::bad_config,
                  "the journal '{}' is broken: {}; it is left as it is, move "
                  "it away to start without its jobs",
                  path.string(), e.what());
    default:
      return fail(ec::io_failed, "the journal '{}' cannot be used: {}",
                  path.string(), e.what());
  }
}

/// Returns why the file cannot be used; empty if it can. Only reads.
std::string fault_of(database& in) {
  const auto found = in.number("PRAGMA application_id");
  const auto version = in.number("PRAGMA user_version");
  const auto pages = in.number("SELECT count(*) FROM sqlite_master");
  if (found == 0 && version == 0 && pages == 0)
    return {};
  if (found != mark)
    return "is a database of another program";
  if (version < 1 || version > journal_file::version)
    return fmt::format("has version {} of its schema; this program knows 1..{}",
                       version, journal_file::version);
  if (const auto said = in.text("PRAGMA quick_check(1)"); said != "ok")
    throw database_error{SQLITE_CORRUPT, said};
  return {};
}

} // namespace

class journal_file::impl {
public:
  impl(const fs::path& path, uint64_t names)
    : path_(path), names_(names), in_(path) {}

  std::string open() {
    // The lock starts with the first read, so that a second server gets an
    // error.
    in_.run("PRAGMA locking_mode = EXCLUSIVE");
    in_.run("BEGIN EXCLUSIVE");
    auto fault = fault_of(in_);
    in_.run("COMMIT");
    if (!fault.empty())
      return fault;
    in_.run("PRAGMA journal_mode = WAL");
    in_.run("PRAGMA synchronous = FULL");
    in_.run("PRAGMA journal_size_limit = 67108864");
    const bool made = in_.number("PRAGMA application_id") == mark;
    if (made && in_.number("PRAGMA user_version") == version) {
      in_.run(later_tables);
      return {};
    }
    in_.run("BEGIN");
    in_.run(made ? from_version_1 : tables);
    in_.run(later_tables);
    in_.run(fmt::format("PRAGMA application_id = {}", mark));
    in_.run(fmt::format("PRAGMA user_version = {}", version));
    in_.run("COMMIT");
    return {};
  }

  journal_contents read() {
    journal_contents out;
    statement all{in_, "SELECT number, id, owner, idempotency_key, fingerprint,"
                       " created_us, wanted, ended FROM job ORDER BY number"};
    while (all.next()) {
      auto& x = out.jobs.emplace_back();
      x.was.number = static_cast<uint64_t>(all.get_number(0));
      const bool open = all.is_null(7);
      const auto files = read_files(all.get_number(0));
      x.was.wanted =
        detail::read_wanted(all.get_text(6), open ? &files : nullptr);
      x.was.wanted.id = all.get_text(1);
      x.was.wanted.owner = all.get_text(2);
      x.was.wanted.idempotency_key = all.get_text(3);
      x.was.wanted.fingerprint = all.get_text(4);
      x.was.wanted.keeps = true;
      x.was.created = detail::read_wall(all.get_number(5));
      if (open) {
        read_suspicions(x.was);
        x.cancelled_images = read_cancelled(all.get_number(0));
        continue;
      }
      x.end = detail::read_end(all.get_text(7));
      x.end->number = x.was.number;
    }
    statement names{in_, "SELECT id, owner FROM forgotten ORDER BY at"};
    while (names.next())
      out.forgotten.emplace_back(names.get_text(0), names.get_text(1));
    return out;
  }

  void write(std::span<const record* const> all) {
    in_.at_once([&] {
      for (const auto* x : all)
        std::visit([this](const auto& y) { put(y); }, *x);
    });
  }

  const fs::path& path() const {
    return path_;
  }

private:
  std::vector<detail::file_bytes> read_files(int64_t job) {
    std::vector<detail::file_bytes> out;
    statement files{in_, "SELECT bytes FROM file WHERE job = ? ORDER BY place"};
    files.put(job);
    while (files.next())
      out.push_back(files.get_bytes(0));
    return out;
  }

  void read_suspicions(journalled_job& of) {
    statement all{in_, "SELECT place, phase, stage, steps, trials"
                       " FROM suspicion WHERE job = ?"};
    all.put(static_cast<int64_t>(of.number));
    while (all.next())
      of.wanted.images.at(static_cast<size_t>(all.get_number(0))).suspected = {
        all.get_text(1), static_cast<uint32_t>(all.get_number(2)),
        static_cast<uint32_t>(all.get_number(3)),
        static_cast<uint32_t>(all.get_number(4))};
  }

  std::vector<uint32_t> read_cancelled(int64_t job) {
    std::vector<uint32_t> found;
    statement all{in_, "SELECT place FROM cancelled_image WHERE job = ?"
                       " ORDER BY place"};
    all.put(job);
    while (all.next())
      found.push_back(static_cast<uint32_t>(all.get_number(0)));
    return found;
  }

  void put(const journalled_suspicion& x) {
    const auto number = static_cast<int64_t>(x.number);
    const auto place = static_cast<int64_t>(x.index);
    if (x.details.trials == 0) {
      statement{in_, "DELETE FROM suspicion WHERE job = ? AND place = ?"}
        .put(number)
        .put(place)
        .run();
      return;
    }
    statement{in_, "INSERT OR REPLACE INTO suspicion"
                   " (job, place, phase, stage, steps, trials)"
                   " SELECT number, ?, ?, ?, ?, ? FROM job"
                   " WHERE number = ? AND ended IS NULL"}
      .put(place)
      .put(x.details.phase)
      .put(static_cast<int64_t>(x.details.stage))
      .put(static_cast<int64_t>(x.details.steps))
      .put(static_cast<int64_t>(x.details.trials))
      .put(number)
      .run();
  }

  void put(const journalled_cancellation& x) {
    statement{in_, "INSERT OR IGNORE INTO cancelled_image (job, place)"
                   " SELECT number, ? FROM job"
                   " WHERE number = ? AND ended IS NULL"}
      .put(static_cast<int64_t>(x.index))
      .put(static_cast<int64_t>(x.number))
      .run();
  }

  void put(const journalled_job& x) {
    const auto number = static_cast<int64_t>(x.number);
    // A build that does not know a table may have left rows of this number.
    remove_facts(number);
    std::vector<std::span<const uint8_t>> files;
    const auto text = detail::wanted_text(x.wanted, files);
    statement{in_, "INSERT INTO job (number, id, owner, idempotency_key,"
                   " fingerprint, created_us, wanted)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?)"}
      .put(number)
      .put(x.wanted.id)
      .put(x.wanted.owner)
      .put(x.wanted.idempotency_key)
      .put(x.wanted.fingerprint)
      .put(detail::wall_number(x.created))
      .put(text)
      .run();
    statement insert{in_,
                     "INSERT INTO file (job, place, bytes) VALUES (?, ?, ?)"};
    for (size_t i = 0; i < files.size(); ++i)
      insert.put(number).put(static_cast<int64_t>(i)).put(files[i]).run();
  }

  void put(const journalled_end& x) {
    const auto number = static_cast<int64_t>(x.number);
    statement{in_, "UPDATE job SET ended = ? WHERE number = ?"}
      .put(detail::end_text(x))
      .put(number)
      .run();
    remove_parts(number);
  }

  void put(const forgotten_job& x) {
    const auto number = static_cast<int64_t>(x.number);
    statement{in_, "INSERT INTO forgotten (id, owner) SELECT id, owner FROM job"
                   " WHERE number = ?"}
      .put(number)
      .run();
    statement{in_, "DELETE FROM job WHERE number = ?"}.put(number).run();
    remove_parts(number);
    statement{in_, "DELETE FROM forgotten WHERE at <="
                   " (SELECT max(at) FROM forgotten) - ?"}
      .put(static_cast<int64_t>(names_))
      .run();
  }

  /// Removes what is known of the images of an open job.
  void remove_facts(int64_t job) {
    statement{in_, "DELETE FROM suspicion WHERE job = ?"}.put(job).run();
    statement{in_, "DELETE FROM cancelled_image WHERE job = ?"}.put(job).run();
  }

  void remove_parts(int64_t job) {
    remove_facts(job);
    statement{in_, "DELETE FROM file WHERE job = ?"}.put(job).run();
  }

  const fs::path path_;
  const uint64_t names_;
  database in_;
};

result<std::unique_ptr<journal_file>> journal_file::open(const fs::path& path,
                                                         uint64_t names) {
  if (auto there = make(path); !there)
    return there.why();
  try {
    auto made = std::make_unique<impl>(path, names);
    if (const auto fault = made->open(); !fault.empty())
      return fail(ec::bad_config,
                  "the journal '{}' {}; it is left as it is, move it away to "
                  "start without its jobs",
                  path.string(), fault);
    return std::unique_ptr<journal_file>{new journal_file{std::move(made)}};
  } catch (const database_error& e) {
    return error_of(path, e);
  }
}

journal_file::journal_file(std::unique_ptr<impl> x) : impl_(std::move(x)) {}

journal_file::~journal_file() = default;

result<journal_contents> journal_file::read() {
  try {
    return impl_->read();
  } catch (const database_error& e) {
    return error_of(impl_->path(), e);
  } catch (const std::exception& e) {
    return error_of(impl_->path(), {SQLITE_CORRUPT, e.what()});
  }
}

result<void> journal_file::write(std::span<const record* const> all) {
  try {
    impl_->write(all);
    return {};
  } catch (const std::exception& e) {
    return fail(ec::io_failed, "the journal '{}' cannot be written: {}",
                impl_->path().string(), e.what());
  }
}

} // namespace atelier::runtime::http
