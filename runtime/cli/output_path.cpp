// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/ascii.hpp>
#include <atelier/runtime/cli/output_path.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <cctype>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using target_kind = output_target::kind;

std::string_view extension_of(std::string_view format) {
  return format == "jpeg" ? "jpg" : format;
}

target_kind kind_of(const std::string& output) {
  const std::filesystem::path path = output;
  std::error_code error;
  const auto found = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(found))
    return target_kind::folder;
  if (std::filesystem::exists(found))
    return target_kind::file;
  return !path.has_filename() || !path.has_extension() ? target_kind::folder
                                                       : target_kind::file;
}

core::result<std::string> format_of_file(const std::string& file,
                                         std::optional<std::string> asked) {
  const auto named = format_of(file);
  if (named && asked && *named != *asked)
    return fail(ec::invalid_argument,
                "--format: '{}' contradicts the extension of -o {}", *asked,
                show_value(file));
  if (named)
    return *named;
  if (asked)
    return *asked;
  return fail(ec::invalid_argument,
              "-o: {} does not end in .png, .jpg, .jpeg or .webp; use one of "
              "these, or set --format",
              show_value(file));
}

} // namespace

std::optional<std::string> format_of(const std::filesystem::path& file) {
  const auto extension = core::lower_case(file.extension().string());
  if (extension == ".png" || extension == ".jpeg" || extension == ".webp")
    return extension.substr(1);
  if (extension == ".jpg")
    return "jpeg";
  return std::nullopt;
}

core::result<output_target> read_output(std::optional<std::string> output,
                                        std::optional<std::string> format,
                                        uint64_t images) {
  if (format)
    if (auto ok = check_choice("--format", *format); !ok)
      return ok.why();
  if (!output)
    return output_target{target_kind::folder, ".", format.value_or("png")};
  if (output->empty() || *output == "-")
    return fail(ec::invalid_argument, "-o: '{}' names no file or folder",
                *output);
  if (kind_of(*output) == target_kind::folder)
    return output_target{target_kind::folder, *output, format.value_or("png")};
  if (images > 1)
    return fail(
      ec::invalid_argument,
      "-o: {} is one file, but {} images are requested; name a folder",
      show_value(*output), images);
  auto chosen = format_of_file(*output, std::move(format));
  if (!chosen)
    return chosen.why();
  return output_target{target_kind::file, *output, std::move(*chosen)};
}

std::filesystem::path path_of(const output_target& target, uint64_t index,
                              uint64_t seed) {
  if (target.type == target_kind::file)
    return target.path;
  const auto name =
    fmt::format("{:05}-{}.{}", index, seed, extension_of(target.format));
  return target.path == "." ? std::filesystem::path{name} : target.path / name;
}

} // namespace atelier::runtime::cli
