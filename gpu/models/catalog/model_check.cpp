// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/catalog/model_check.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/float_types.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/samplers/schedule.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <system_error>

namespace atelier::gpu {

namespace {

namespace fs = std::filesystem;
using core::ec;
using grade = model_finding::grade;

// A model's folder has some tens of files; many more are something else.
constexpr size_t most_files = 10'000;
constexpr size_t most_findings = 100;
constexpr size_t chunk_bytes = size_t{4} << 20;

class checker {
public:
  checker(const fs::path& from, const check_options& options)
    : from_(from), options_(options) {}

  core::result<model_check> check() {
    if (auto ok = list_files(); !ok)
      return ok.why();
    for (const auto& x : out_.files) {
      const auto before = out_.findings.size();
      check_file(x.path);
      const auto folder = x.path.lexically_relative(from_).parent_path();
      for (auto i = before; !folder.empty() && i < out_.findings.size(); ++i)
        folders_.emplace(i, folder.string());
    }
    open();
    forgive_unused();
    if (options_.scan)
      for (const auto* x : parts_)
        all_ += bytes_of_part(*x);
    if (options_.checksums)
      for (const auto& x : out_.files)
        all_ += x.bytes;
    if (options_.scan)
      for (const auto* x : parts_)
        if (auto ok = scan(*x); !ok)
          return ok.why();
    if (options_.checksums)
      for (auto& x : out_.files)
        if (auto ok = digest(x); !ok)
          return ok.why();
    return std::move(out_);
  }

private:
  void note(grade how, std::string text) {
    // The same problem is found again when the whole model is opened.
    const bool known =
      std::any_of(out_.findings.begin(), out_.findings.end(),
                  [&](const model_finding& x) { return x.text == text; });
    if (!known && out_.findings.size() < most_findings)
      out_.findings.push_back({how, std::move(text)});
  }

  core::result<void> list_files() {
    std::error_code error;
    const auto status = fs::status(from_, error);
    if (status.type() == fs::file_type::not_found)
      return core::fail(ec::not_found, "{}: no such file or folder",
                        from_.string());
    if (status.type() != fs::file_type::directory) {
      add_file(from_);
      return {};
    }
    for (fs::recursive_directory_iterator i{from_, error}, end;
         !error && i != end; i.increment(error)) {
      // Parts are one level down.
      if (i.depth() > 0)
        i.disable_recursion_pending();
      const bool hidden = i->path().filename().string().starts_with('.');
      if (hidden)
        i.disable_recursion_pending();
      else if (i->is_regular_file(error) && out_.files.size() < most_files)
        add_file(i->path());
    }
    if (error)
      return core::fail(ec::io_failed, "{}: {}", from_.string(),
                        error.message());
    std::sort(out_.files.begin(), out_.files.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return {};
  }

  void add_file(const fs::path& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    out_.files.push_back({path, error ? 0 : bytes, {}});
  }

  /// Checks a file on its own.
  void check_file(const fs::path& path) {
    const auto name = path.filename().string();
    if (path.extension() == ".safetensors" && path != from_) {
      if (const auto opened = safetensors_file::open(path); !opened)
        note(grade::problem, opened.why().text);
    } else if (name.ends_with(".json")
               && name.find(".safetensors.") != std::string::npos) {
      check_index(path);
    } else if (name.ends_with("config.json") || name == "model_index.json") {
      if (const auto read = detail::read_object(path); !read)
        note(grade::problem, read.why().text);
    }
  }

  /// Compares an index with all of its parts, and reports every difference.
  void check_index(const fs::path& index) {
    const auto object = detail::read_object(index, detail::most_index_bytes);
    if (!object) {
      note(grade::problem, object.why().text);
      return;
    }
    const auto map = object->find("weight_map");
    if (map == object->end() || !map->is_object())
      return;
    // The part that holds each tensor, and the parts.
    std::map<std::string, std::string> holders;
    std::map<std::string, std::shared_ptr<const safetensors_file>> parts;
    for (const auto& [tensor, file] : map->items())
      if (file.is_string()
          && file.get_ref<const std::string&>().find('/') == std::string::npos)
        parts.emplace(file.get<std::string>(), nullptr);
    for (auto& [name, part] : parts) {
      const auto opened = safetensors_file::open(index.parent_path() / name);
      if (!opened) {
        note(grade::problem, opened.why().text);
        continue;
      }
      part = *opened;
      for (const auto& held : part->names())
        if (const auto [at, fresh] = holders.emplace(held, name); !fresh)
          note(grade::problem,
               fmt::format("{}: tensor {} is in {} and in {}", index.string(),
                           detail::printable(held), at->second, name));
    }
    for (const auto& [tensor, file] : map->items()) {
      const auto i =
        file.is_string() ? parts.find(file.get<std::string>()) : parts.end();
      if (i != parts.end() && i->second && !i->second->find(tensor))
        note(grade::problem,
             fmt::format("{}: weight_map.{}: {} has no such tensor",
                         index.string(), detail::printable(tensor), i->first));
    }
    check_total(index, *object, parts);
  }

  template <class Parts>
  void check_total(const fs::path& index, const nlohmann::json& object,
                   const Parts& parts) {
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->is_object())
      return;
    const auto total = metadata->find("total_size");
    if (total == metadata->end() || !total->is_number_unsigned())
      return;
    uint64_t bytes = 0;
    for (const auto& [name, part] : parts) {
      if (!part)
        return;
      for (const auto& tensor : part->names())
        bytes += part->find(tensor)->bytes.size();
    }
    if (bytes != total->template get<uint64_t>())
      note(grade::note,
           fmt::format("{}: metadata.total_size: {}, but the parts hold {} "
                       "bytes",
                       index.string(), total->template get<uint64_t>(), bytes));
  }

  void open() {
    auto opened = open_parts(from_, options_.open);
    if (!opened) {
      note(grade::problem, opened.why().text);
      return;
    }
    out_.model = std::move(*opened);
    const auto& model = *out_.model;
    for (const auto& x : missing_parts(model))
      if (!x.starts_with("tokenizer") || fs::is_directory(from_))
        note(grade::problem,
             fmt::format("{}: {} is missing", from_.string(), x));
      else
        note(grade::note, fmt::format("{}: a single file holds no vocabulary",
                                      from_.string()));
    for (const auto* x : {&model.denoiser, &model.vae})
      if (x->weights)
        parts_.push_back(x);
    for (const auto* x :
         {&model.text_encoder, &model.text_encoder_2, &model.preview})
      if (*x)
        parts_.push_back(&**x);
    for (const auto* x : parts_)
      compare(*x);
    for (const auto& [words, encoder] :
         {std::pair{&model.tokenizer, &model.text_encoder},
          std::pair{&model.tokenizer_2, &model.text_encoder_2}})
      if (*words)
        check(load_words(**words, *encoder ? &**encoder : nullptr));
    if (!model.scheduler.empty())
      check(parse_scheduler(model.scheduler, model.scheduler_file));
    if (model.denoiser.weights && model.vae.weights)
      check(facts_by_family(model));
    note_unused();
  }

  /// Makes the problems of folders that are no part of the model notes.
  void forgive_unused() {
    if (!out_.model || out_.model->class_name.empty())
      return;
    const auto& model = *out_.model;
    for (const auto& [i, folder] : folders_) {
      const bool named =
        std::ranges::find(model.named_parts, folder) != model.named_parts.end();
      const bool skipped =
        std::ranges::find(model.not_loaded, folder) != model.not_loaded.end();
      if ((named && !skipped) || folder == "vae_preview")
        continue;
      auto& x = out_.findings[i];
      x.severity = grade::note;
      x.text += " (not used)";
    }
  }

  template <class T>
  void check(const core::result<T>& x) {
    if (!x)
      note(grade::problem, x.why().text);
  }

  void compare(const component& x) {
    for (const auto& name : x.weights->names()) {
      ++out_.tensors;
      out_.parameters += elements_of(*x.weights->find(name));
    }
    const auto faults = detail::compare_tensors(x);
    if (!faults)
      note(grade::problem, faults.why().text);
    else
      for (const auto& fault : *faults)
        note(grade::problem, fault);
  }

  void note_unused() {
    for (const auto& x : out_.model->not_loaded)
      note(grade::note, fmt::format("{}: {} is not used", from_.string(), x));
    std::set<fs::path> used;
    for (const auto* x : parts_)
      used.insert(x->files.begin(), x->files.end());
    const auto& skipped = out_.model->not_loaded;
    for (const auto& x : out_.files) {
      const auto extension = x.path.extension();
      const bool weights = extension == ".safetensors" || extension == ".bin"
                        || extension == ".ckpt";
      const auto folder = x.path.parent_path().filename().string();
      if (weights && !used.contains(x.path) && out_.files.size() > 1
          && std::find(skipped.begin(), skipped.end(), folder) == skipped.end())
        note(grade::note, fmt::format("{} is not used", x.path.string()));
    }
  }

  static uint64_t bytes_of_part(const component& x) {
    uint64_t out = 0;
    for (const auto& name : x.weights->names())
      out += x.weights->find(name)->bytes.size();
    return out;
  }

  core::result<void> proceed(uint64_t bytes) {
    done_ += bytes;
    if (options_.proceed && !options_.proceed(done_, all_))
      return core::fail(ec::cancelled, "the check was ended");
    return {};
  }

  core::result<void> scan(const component& x) {
    for (const auto& name : x.weights->names()) {
      const auto view = *x.weights->find(name);
      uint64_t bad = 0;
      for (size_t at = 0; at < view.bytes.size(); at += chunk_bytes) {
        const auto piece =
          view.bytes.subspan(at, std::min(chunk_bytes, view.bytes.size() - at));
        if (is_floating(view.type))
          bad += detail::count_non_finite(view.type, piece);
        if (auto ok = proceed(piece.size()); !ok)
          return ok;
      }
      if (bad > 0)
        note(grade::problem,
             fmt::format("{}: tensor {}: {} of {} numbers are infinite or NaN",
                         x.weights->where(), detail::printable(name), bad,
                         elements_of(view)));
      out_.non_finite += bad;
    }
    return {};
  }

  core::result<void> digest(checked_file& x) {
    const int fd = ::open(x.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
      return core::fail(ec::io_failed, "{}: {}", x.path.string(),
                        std::generic_category().message(errno));

    struct closer {
      int fd;

      ~closer() {
        ::close(fd);
      }
    } const guard{fd};

    core::sha256_stream digest;
    std::vector<std::byte> buffer(chunk_bytes);
    for (;;) {
      const auto n = ::read(fd, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return core::fail(ec::io_failed, "{}: {}", x.path.string(),
                          std::generic_category().message(errno));
      if (n == 0)
        break;
      const auto bytes = static_cast<size_t>(n);
      digest.update(std::span{buffer}.first(bytes));
      if (auto ok = proceed(bytes); !ok)
        return ok;
    }
    x.sha256 = core::to_hex(digest.finish());
    return {};
  }

  const fs::path& from_;
  const check_options& options_;
  model_check out_;
  std::vector<const component*> parts_;
  /// The folders of findings about a file in one, by number.
  std::map<size_t, std::string> folders_;
  uint64_t done_ = 0;
  uint64_t all_ = 0;
};

} // namespace

bool model_check::sound() const {
  return std::none_of(
    findings.begin(), findings.end(),
    [](const model_finding& x) { return x.severity == grade::problem; });
}

core::result<model_check> check_model(const fs::path& from,
                                      const check_options& options) {
  return checker{from, options}.check();
}

} // namespace atelier::gpu
