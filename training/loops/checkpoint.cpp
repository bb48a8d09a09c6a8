// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/training/loops/checkpoint.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace atelier::gpu {

namespace {

using core::ec;
using core::fail;

constexpr std::string_view prefix = "checkpoint-";
constexpr std::string_view suffix = ".safetensors";
constexpr std::string_view format = "atelier-training-1";
constexpr size_t kept = 2;

tensor_type type_of(const torch::Tensor& x) {
  switch (x.scalar_type()) {
    case torch::kFloat32:
      return tensor_type::float32;
    case torch::kFloat16:
      return tensor_type::float16;
    case torch::kBFloat16:
      return tensor_type::bfloat16;
    case torch::kInt64:
      return tensor_type::int64;
    default:
      throw model_error{fail(ec::internal, "no tensors of type {} are written",
                             c10::toString(x.scalar_type()))};
  }
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number out{};
  const auto [end, fault] =
    std::from_chars(text.data(), text.data() + text.size(), out);
  if (fault != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return out;
}

std::optional<uint64_t> steps_of(const std::filesystem::path& file) {
  const auto name = file.filename().string();
  const std::string_view x = name;
  if (!x.starts_with(prefix) || !x.ends_with(suffix)
      || x.size() <= prefix.size() + suffix.size())
    return std::nullopt;
  return number_in<uint64_t>(
    x.substr(prefix.size(), x.size() - prefix.size() - suffix.size()));
}

} // namespace

core::result<void> write_tensors(
  const std::filesystem::path& file, const named_tensors& what,
  const std::map<std::string, std::string, std::less<>>& metadata) {
  std::vector<torch::Tensor> held;
  std::vector<named_tensor> out;
  for (const auto& [name, tensor] : what) {
    const auto& x = held.emplace_back(tensor.detach().cpu().contiguous());
    out.push_back(
      {name,
       {type_of(x),
        x.sizes().vec(),
        {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}}});
  }
  return write_safetensors(file, out, metadata);
}

core::result<void> read_tensors(const std::filesystem::path& file,
                                const named_tensors& what) {
  const auto opened = safetensors_file::open(file);
  if (!opened)
    return opened.why();
  const torch::NoGradGuard guard;
  for (const auto& [name, tensor] : what) {
    const auto found = (*opened)->find(name);
    if (!found)
      return fail(ec::bad_payload, "{}: tensor {} is missing", file.string(),
                  name);
    if (found->shape != tensor.sizes().vec() || found->type != type_of(tensor))
      return fail(
        ec::bad_payload, "{}: tensor {} is {} of {}, {} of {} is needed",
        file.string(), name, c10::str(torch::IntArrayRef{found->shape}),
        to_string(found->type), c10::str(tensor.sizes()),
        to_string(type_of(tensor)));
    const auto copy =
      torch::empty(tensor.sizes(), tensor.options().device(torch::kCPU));
    std::memcpy(copy.mutable_data_ptr(), found->bytes.data(),
                found->bytes.size());
    auto to = tensor;
    to.copy_(copy);
  }
  return {};
}

core::result<std::filesystem::path> write_checkpoint(
  const std::filesystem::path& folder, const named_tensors& state,
  const checkpoint_facts& facts) {
  const auto file = folder / fmt::format("{}{}{}", prefix, facts.steps, suffix);
  const auto written =
    write_tensors(file, state,
                  {{"format", std::string{format}},
                   {"part", facts.part},
                   {"seed", fmt::format("{}", facts.seed)},
                   {"steps", fmt::format("{}", facts.steps)},
                   {"samples", fmt::format("{}", facts.samples)},
                   {"busy_seconds", fmt::format("{}", facts.busy_seconds)}});
  if (!written)
    return written.why();
  const auto all = checkpoints_in(folder);
  for (size_t i = kept; i < all.size(); ++i) {
    std::error_code ignored;
    std::filesystem::remove(all[i], ignored);
  }
  return file;
}

std::vector<std::filesystem::path> checkpoints_in(
  const std::filesystem::path& folder) {
  std::vector<std::pair<uint64_t, std::filesystem::path>> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{folder, ignored})
    if (const auto steps = steps_of(entry.path()))
      found.emplace_back(*steps, entry.path());
  std::sort(found.rbegin(), found.rend());
  std::vector<std::filesystem::path> out;
  out.reserve(found.size());
  for (auto& x : found)
    out.push_back(std::move(x.second));
  return out;
}

core::result<checkpoint_facts> read_checkpoint(
  const std::filesystem::path& file, const named_tensors& state) {
  const auto opened = safetensors_file::open(file);
  if (!opened)
    return opened.why();
  const auto& notes = (*opened)->metadata();
  const auto note = [&](std::string_view key) {
    const auto found = notes.find(key);
    return found == notes.end() ? std::string{} : found->second;
  };
  if (note("format") != format)
    return fail(ec::bad_payload, "{} is no checkpoint of this version",
                file.string());
  const auto seed = number_in<uint64_t>(note("seed"));
  const auto steps = number_in<uint64_t>(note("steps"));
  const auto samples = number_in<uint64_t>(note("samples"));
  const auto busy = number_in<double>(note("busy_seconds"));
  if (!seed || !steps || !samples || !busy)
    return fail(ec::bad_payload, "{}: a note about the training is no number",
                file.string());
  if (auto ok = read_tensors(file, state); !ok)
    return ok.why();
  return checkpoint_facts{note("part"), *seed, *steps, *samples, *busy};
}

} // namespace atelier::gpu
