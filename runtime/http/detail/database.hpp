// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace atelier::runtime::http::detail {

/// What SQLite says; stops at the border of journal_file.
struct database_error : std::runtime_error {
  database_error(int result, const std::string& text)
    : std::runtime_error(text), code(result) {}

  /// As SQLite numbers it, without what it adds.
  int code = 0;
};

/// A connection to a file of SQLite. All members throw database_error.
/// Threads: one at a time.
class database {
public:
  /// Makes the file where there is none.
  explicit database(const std::filesystem::path& path);
  ~database();

  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void run(const std::string& statements);

  /// The first value of a statement's first row.
  int64_t number(const std::string& statement);
  std::string text(const std::string& statement);

  /// @throws with what SQLite says last
  [[noreturn]] void complain(int result) const;

private:
  friend class statement;

  sqlite3* it_ = nullptr;
};

/// One statement, ready to run; members are called in the order of columns.
class statement {
public:
  statement(database& in, std::string_view text);
  ~statement();

  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  statement& put(int64_t x);
  statement& put(std::string_view x);
  statement& put(std::span<const uint8_t> x);

  /// Whether there is one row more.
  bool next();

  /// Runs it to its end, and readies it to run anew.
  void run();

  int64_t get_number(int column) const;
  std::string get_text(int column) const;
  std::vector<uint8_t> get_bytes(int column) const;
  bool is_null(int column) const;

private:
  database& in_;
  sqlite3_stmt* it_ = nullptr;
  int next_ = 1;
};

} // namespace atelier::runtime::http::detail
