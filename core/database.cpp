// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/database.hpp>

#include <sqlite3.h>

namespace atelier::core {

bool database_error::is_damage() const noexcept {
  return code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == 0;
}

database::database(const std::filesystem::path& path) {
  const int flags =
    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int result = sqlite3_open_v2(path.c_str(), &it_, flags, nullptr);
  if (result == SQLITE_OK) {
    // A process that was killed a moment ago may still hold its lock.
    sqlite3_busy_timeout(it_, 1000);
    return;
  }
  const std::string why =
    it_ != nullptr ? sqlite3_errmsg(it_) : sqlite3_errstr(result);
  sqlite3_close_v2(it_);
  throw database_error{result & 0xff, why};
}

database::~database() {
  sqlite3_close_v2(it_);
}

void database::complain(int result) const {
  throw database_error{result & 0xff, sqlite3_errmsg(it_)};
}

void database::run(const std::string& statements) {
  const int result =
    sqlite3_exec(it_, statements.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK)
    complain(result);
}

void database::undo() noexcept {
  // SQLite may have ended the transaction itself.
  sqlite3_exec(it_, "ROLLBACK", nullptr, nullptr, nullptr);
}

int64_t database::number(const std::string& query) {
  statement x{*this, query};
  return x.next() ? x.get_number(0) : 0;
}

std::string database::text(const std::string& query) {
  statement x{*this, query};
  return x.next() ? x.get_text(0) : std::string{};
}

statement::statement(database& in, std::string_view text) : in_(in) {
  const int result = sqlite3_prepare_v2(
    in.it_, text.data(), static_cast<int>(text.size()), &it_, nullptr);
  if (result != SQLITE_OK)
    in.complain(result);
}

statement::~statement() {
  sqlite3_finalize(it_);
}

statement& statement::put(int64_t x) {
  if (const int result = sqlite3_bind_int64(it_, next_++, x);
      result != SQLITE_OK)
    in_.complain(result);
  return *this;
}

statement& statement::put(std::string_view x) {
  if (const int result = sqlite3_bind_text64(it_, next_++, x.data(), x.size(),
                                             SQLITE_TRANSIENT, SQLITE_UTF8);
      result != SQLITE_OK)
    in_.complain(result);
  return *this;
}

// SQLite does not copy the bytes: they outlive the statement's run.
statement& statement::put(std::span<const uint8_t> x) {
  if (const int result =
        sqlite3_bind_blob64(it_, next_++, x.data(), x.size(), SQLITE_STATIC);
      result != SQLITE_OK)
    in_.complain(result);
  return *this;
}

bool statement::next() {
  const int result = sqlite3_step(it_);
  if (result == SQLITE_ROW)
    return true;
  if (result != SQLITE_DONE)
    in_.complain(result);
  return false;
}

void statement::run() {
  while (next()) {
  }
  reset();
}

void statement::reset() {
  sqlite3_reset(it_);
  next_ = 1;
}

int64_t statement::get_number(int column) const {
  return sqlite3_column_int64(it_, column);
}

std::string statement::get_text(int column) const {
  const auto* const text = sqlite3_column_text(it_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(it_, column));
  return text == nullptr
         ? std::string{}
         : std::string{reinterpret_cast<const char*>(text), size};
}

std::vector<uint8_t> statement::get_bytes(int column) const {
  const auto* const bytes =
    static_cast<const uint8_t*>(sqlite3_column_blob(it_, column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(it_, column));
  return bytes == nullptr ? std::vector<uint8_t>{}
                          : std::vector<uint8_t>(bytes, bytes + size);
}

bool statement::is_null(int column) const {
  return sqlite3_column_type(it_, column) == SQLITE_NULL;
}

} // namespace atelier::core
