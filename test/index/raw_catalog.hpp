// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace atelier::test {

/// Runs statements on a store's catalog, as no program of Atelier does.
inline void change_catalog(const std::filesystem::path& file,
                           const std::string& statements) {
  sqlite3* db = nullptr;
  BOOST_REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
  const int result =
    sqlite3_exec(db, statements.c_str(), nullptr, nullptr, nullptr);
  BOOST_TEST(result == SQLITE_OK, sqlite3_errmsg(db));
  sqlite3_close(db);
}

} // namespace atelier::test
