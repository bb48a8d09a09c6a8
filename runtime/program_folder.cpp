// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/program_folder.hpp>
#include <atelier/runtime/split/packaged_program.hpp>

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <system_error>
#include <vector>

namespace atelier::runtime {

namespace {

namespace fs = std::filesystem;

// Programs are in bin/ or libexec/atelier/ of an installation, or of a build
// tree build/PRESET; other programs of a build are anywhere below it. A host's
// program is somewhere else, but knows the package with which it was built.
fs::path find_beside(std::initializer_list<const char*> names,
                     const fs::path& that_has) {
  std::error_code ignored;
  for (const fs::path& start :
       {fs::read_symlink("/proc/self/exe", ignored),
        fs::path{packaged_program()}, fs::path{ATELIER_LIBEXEC_DIR} / "any"})
    for (auto at = start.parent_path(); at.has_relative_path();
         at = at.parent_path())
      for (const auto* below : names)
        if (auto found = at / below; fs::exists(found / that_has, ignored))
          return found;
  return {};
}

} // namespace

core::result<std::string> find_program(std::string_view name) {
  std::error_code ignored;
  const auto beside = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> places{beside.parent_path() / "libexec/atelier" / name,
                               beside / name};
  if (const fs::path told{packaged_program()}; !told.empty())
    places.push_back(told.parent_path() / name);
  places.push_back(fs::path{ATELIER_LIBEXEC_DIR} / name);
  std::string tried;
  for (const auto& x : places) {
    if (fs::is_regular_file(x, ignored) && access(x.c_str(), X_OK) == 0)
      return x.string();
    tried += (tried.empty() ? "" : ", ") + x.string();
  }
  return core::fail(core::ec::not_found, "not at any of {}", tried);
}

fs::path vocabulary_folder() {
  return find_beside({"share/atelier/clip-vocabulary", "clip-vocabulary"},
                     "vocab.json");
}

fs::path models_folder() {
  // Empty: no models.
  if (const char* named = std::getenv("ATELIER_MODELS"))
    return *named == '\0' ? fs::path{} : fs::absolute(named);
  // Distinguishes the family's folder from others of that name.
  return find_beside({"share/atelier/models", "models"},
                     "base/known_words.txt");
}

} // namespace atelier::runtime
