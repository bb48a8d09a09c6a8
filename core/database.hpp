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

namespace atelier::core {

/// An error that SQLite reports. It does not leave the source that uses a
/// database.
struct database_error : std::runtime_error {
  database_error(int result, const std::string& text)
    : std::runtime_error(text), code(result) {}

  /// Returns whether the file is no database, or a damaged one.
  bool is_damage() const noexcept;

  /// SQLite's primary result code, without the extended bits; 0 if what was
  /// read is damaged for its reader.
  int code = 0;
};

/// A connection to an SQLite file. All members throw database_error.
/// Threads: one at a time.
class database {
public:
  /// Creates the file if it does not exist.
  explicit database(const std::filesystem::path& path);
  ~database();

  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void run(const std::string& statements);

  /// Returns the first value of a statement's first row.
  int64_t number(const std::string& statement);
  std::string text(const std::string& statement);

  /// @throws database_error with SQLite's last message
  [[noreturn]] void complain(int result) const;

  /// Calls `work`, and undoes its changes if it throws.
  template <class F>
  void at_once(F work) {
    run("BEGIN IMMEDIATE");
    try {
      work();
      run("COMMIT");
    } catch (...) {
      undo();
      throw;
    }
  }

private:
  friend class statement;

  void undo() noexcept;

  sqlite3* it_ = nullptr;
};

/// A prepared statement. Members are called in the order of columns.
class statement {
public:
  statement(database& in, std::string_view text);
  ~statement();

  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  statement& put(int64_t x);
  statement& put(std::string_view x);
  statement& put(std::span<const uint8_t> x);

  /// Returns whether another row is available.
  bool next();

  /// Runs the statement to its end and resets it for the next run.
  void run();

  /// Resets the statement for the next run.
  void reset();

  int64_t get_number(int column) const;
  std::string get_text(int column) const;
  std::vector<uint8_t> get_bytes(int column) const;
  bool is_null(int column) const;

private:
  database& in_;
  sqlite3_stmt* it_ = nullptr;
  int next_ = 1;
};

} // namespace atelier::core
