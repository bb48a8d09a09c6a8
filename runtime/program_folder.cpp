// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/program_folder.hpp>

#include <system_error>

namespace atelier::runtime {

namespace fs = std::filesystem;

fs::path vocabulary_folder() {
  std::error_code failed;
  const auto self = fs::read_symlink("/proc/self/exe", failed);
  // Programs lie in bin/ or libexec/atelier/ of an installation, or of a build
  // tree build/PRESET; other programs of a build anywhere below it.
  for (auto at = self.parent_path(); !failed && at.has_relative_path();
       at = at.parent_path())
    for (const auto* below :
         {"share/atelier/clip-vocabulary", "clip-vocabulary"})
      if (auto found = at / below; fs::is_directory(found, failed))
        return found;
  return {};
}

} // namespace atelier::runtime
