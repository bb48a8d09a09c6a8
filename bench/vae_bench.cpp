// SPDX-License-Identifier: Apache-2.0
// How long does a Stable Diffusion autoencoder take to decode a latent, and how
// much memory, compared with diffusers?
//
// The peer is vae_peer.py, which also makes the model, with random weights.
// Both sides are children of this process. They decode in turns on the same
// number of threads; a turn begins when the other side's turn has ended. Times
// are medians of the wall clock and of the processors' time. Memory is the
// greatest resident set of a child; the number in brackets is the part that was
// added after its libraries were loaded. The images of both sides are compared
// before anything is timed.
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/vae/autoencoder.hpp>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace atelier;
namespace fs = std::filesystem;

// Ends the program through `main`, so that destructors remove what it created.
[[noreturn]] void stop(const std::string& why) {
  throw std::runtime_error{why};
}

/// A folder for the models, which the destructor removes.
struct scratch_folder {
  scratch_folder() {
    char name[] = "/tmp/vae_bench_XXXXXX";
    if (mkdtemp(name) == nullptr)
      stop("no folder for the model");
    path = name;
  }

  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  fs::path path;
};

double seconds_of(const timeval& x) {
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) * 1e-6;
}

struct usage {
  double wall;
  double processors;
  long peak_kib;
};

usage now() {
  rusage x{};
  getrusage(RUSAGE_SELF, &x);
  const auto at = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(at).count(),
          seconds_of(x.ru_utime) + seconds_of(x.ru_stime), x.ru_maxrss};
}

torch::Tensor read(const fs::path& file, std::string_view name) {
  auto in = gpu::safetensors_file::open(file);
  if (!in)
    stop(in.why().text);
  const auto x = (*in)->find(name);
  if (!x)
    stop(file.string() + " has no such tensor");
  return torch::from_blob(const_cast<std::byte*>(x->bytes.data()), x->shape,
                          torch::kFloat32)
    .clone();
}

// Runs our side's child, which prints the same lines as vae_peer.py.
int run(const fs::path& folder, const std::string& type, int64_t side,
        int64_t batch, int threads) {
  at::set_num_threads(threads);
  gpu::component from;
  from.config_file = (folder / "config.json").string();
  std::ifstream config{from.config_file};
  from.config.assign(std::istreambuf_iterator<char>{config}, {});
  from.class_name = "AutoencoderKL";
  const auto before = now();
  auto file =
    gpu::safetensors_file::open(folder / "diffusion_pytorch_model.safetensors");
  if (!file)
    stop(file.why().text);
  from.weights = *file;
  const auto vae = gpu::autoencoder::load(
    from,
    {torch::kCPU, type == "bfloat16" ? torch::kBFloat16 : torch::kFloat32});
  if (!vae)
    stop(vae.why().text);
  std::cout << "loaded " << now().wall - before.wall << " " << before.peak_kib
            << std::endl;
  const auto latent = read(folder / "latent.safetensors", "latent")
                        .narrow(0, 0, batch)
                        .narrow(2, 0, side / 8)
                        .narrow(3, 0, side / 8);
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = now();
    const auto image = (*vae)->decode(latent);
    const auto end = now();
    if (line.starts_with("compare ")) {
      const auto theirs = read(line.substr(8), "picture");
      const auto off =
        (image - theirs).square().mean().sqrt() / theirs.square().mean().sqrt();
      std::cout << "differs " << off.item<double>() << std::endl;
    } else {
      std::cout << "took " << end.wall - start.wall << " "
                << end.processors - start.processors << std::endl;
    }
  }
  std::cout << "peak " << now().peak_kib << std::endl;
  return 0;
}

class child {
public:
  explicit child(std::vector<std::string> command) {
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
      stop("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      for (const auto fd : {to[0], to[1], from[0], from[1]})
        close(fd);
      std::vector<char*> arguments;
      arguments.reserve(command.size() + 1);
      for (auto& x : command)
        arguments.push_back(x.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    in_ = fdopen(to[1], "w");
    out_ = fdopen(from[0], "r");
  }

  ~child() {
    std::fclose(out_);
    waitpid(pid_, nullptr, 0);
  }

  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void ask(const std::string& what) {
    std::fprintf(in_, "%s\n", what.c_str());
    std::fflush(in_);
  }

  // Reads a line that begins with `word`; returns its numbers.
  std::pair<double, double> hear(const std::string& word) {
    char line[256];
    if (!std::fgets(line, sizeof line, out_)
        || std::string{line}.compare(0, word.size(), word) != 0)
      stop("a child did not say " + word);
    std::pair<double, double> out{0, 0};
    std::sscanf(line + word.size(), "%lf %lf", &out.first, &out.second);
    return out;
  }

  double finish() {
    std::fclose(in_);
    return hear("peak").first;
  }

private:
  pid_t pid_ = -1;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
};

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

struct side_of {
  std::vector<double> wall;
  std::vector<double> processors;
  double load = 0;
  double before_mib = 0;
  double peak_mib = 0;
};

void print(const char* name, const side_of& x) {
  std::printf("  %-10s %7.3f s  %7.3f s of processors  %6.0f MiB (%+.0f)  "
              "loaded in %.3f s\n",
              name, median(x.wall), median(x.processors), x.peak_mib,
              x.peak_mib - x.before_mib, x.load);
}

void compare(const std::string& self, const std::string& python,
             const fs::path& folder, const std::string& type, int side,
             int batch, int threads, int turns) {
  const std::vector<std::string> rest{
    folder.string(), type, std::to_string(side), std::to_string(batch),
    std::to_string(threads)};
  const auto with = [&](std::vector<std::string> first) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  child peer{with({python, ATELIER_BENCH_DIR "/vae_peer.py", "run"})};
  child ours{with({self, "run"})};
  side_of a;
  side_of b;
  std::tie(a.load, a.before_mib) = ours.hear("loaded");
  std::tie(b.load, b.before_mib) = peer.hear("loaded");
  const auto image = (folder / "picture.safetensors").string();
  peer.ask("save " + image);
  peer.hear("took");
  ours.ask("compare " + image);
  const auto off = ours.hear("differs").first;
  if (!(off < (type == "float32" ? 1e-4 : 5e-2)))
    stop("the images differ by " + std::to_string(off));
  for (int i = 0; i < turns; ++i)
    for (auto* side_now : {&a, &b}) {
      auto& who = side_now == &a ? ours : peer;
      who.ask("go");
      const auto [wall, processors] = who.hear("took");
      side_now->wall.push_back(wall);
      side_now->processors.push_back(processors);
    }
  a.peak_mib = ours.finish() / 1024;
  b.peak_mib = peer.finish() / 1024;
  a.before_mib /= 1024;
  b.before_mib /= 1024;
  std::printf("%s %dx%d batch %d, images differ by %.1e (root mean square)\n",
              type.c_str(), side, side, batch, off);
  print("atelier", a);
  print("diffusers", b);
  std::printf("  ratio      %7.3f    %7.3f                  %6.3f (%.3f)\n",
              median(a.wall) / median(b.wall),
              median(a.processors) / median(b.processors),
              a.peak_mib / b.peak_mib,
              (a.peak_mib - a.before_mib) / (b.peak_mib - b.before_mib));
  std::fflush(stdout);
}

int bench(int argc, char** argv) {
  if (argc == 7 && std::string{argv[1]} == "run")
    return run(argv[2], argv[3], std::atoi(argv[4]), std::atoi(argv[5]),
               std::atoi(argv[6]));
  if (argc < 2)
    stop("usage: vae_bench PYTHON [TYPE [SIDE [BATCH [TURNS]]]], where PYTHON "
         "has diffusers");
  const std::string python = argv[1];
  const auto self = fs::read_symlink("/proc/self/exe").string();
  const auto threads = at::get_num_threads();
  const auto turns = argc > 5 ? std::atoi(argv[5]) : 5;
  std::vector<int> sides{256, 512};
  std::vector<int> batches{1, 4};
  if (argc > 3)
    sides = {std::atoi(argv[3])};
  if (argc > 4)
    batches = {std::atoi(argv[4])};
  const scratch_folder base;
  std::printf("%d threads\n", threads);
  for (const std::string type : {"float32", "bfloat16"}) {
    if (argc > 2 && type != argv[2])
      continue;
    const auto folder = base.path / type;
    const auto make =
      fmt::format("'{}' {}/vae_peer.py make {} {} 2> /dev/null", python,
                  ATELIER_BENCH_DIR, folder.string(), type);
    if (std::system(make.c_str()) != 0)
      stop("no diffusers: " + make);
    for (const auto side : sides)
      for (const auto batch : batches)
        compare(self, python, folder, type, side, batch, threads, turns);
  }
  return 0;
}

} // namespace

// usage: vae_bench PYTHON [TYPE [SIDE [BATCH [TURNS]]]]
int main(int argc, char** argv) {
  try {
    return bench(argc, argv);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "vae_bench: %s\n", why.what());
    return 1;
  }
}
