// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/help_text.hpp>

#include <fmt/format.h>

namespace atelier::runtime::cli {

namespace {

constexpr std::string_view usual_statuses =
  "  0 done; 2 bad usage or input; 3 model, file or device not found;\n"
  "  130 interrupted; 1 any other failure\n";

constexpr std::string_view image_statuses =
  "  0 done; 2 bad usage or input; 3 no such model, device or server;\n"
  "  4 refused or too late; 130 interrupted; 1 any other failure. With "
  "several\n"
  "  images: that of the first failure.\n";

struct command_help {
  std::string_view command;
  std::string_view takes;
  std::string_view notes;
  std::string_view examples;
  std::string_view statuses = usual_statuses;
};

constexpr command_help table[] = {
  {"", "", "",
   "  atelier generate \"a red circle above a blue square\" -o image.png\n"
   "  atelier help generate\n"},
  {"generate", " PROMPT...", "",
   "  atelier generate \"a red circle above a blue square\" -o image.png\n"
   "  atelier generate --prompts prompts.txt -n 4 --seed 7 -o images/\n",
   image_statuses},
  {"edit", " IMAGE --mask MASK PROMPT...",
   "PROMPT describes the whole image, and names the place that the mask\n"
   "uncovers: what it puts elsewhere is not repainted.\n",
   "  atelier edit ring.png --mask 64x64+64+0 -o edited.png \\\n"
   "    \"a blue square in the top right corner on a navy background\"\n"
   "  atelier edit ring.png --mask mask.png --strength 0.8 -n 4 -o edited/ \\\n"
   "    \"a red star in the bottom left corner on a navy background\"\n",
   image_statuses},
  {"serve", "", "",
   "  atelier serve\n"
   "  atelier serve --listen 0.0.0.0:7860 --set http.keys=keys --model turbo\n",
   "  0 ended by a signal; 130 by two; 2 bad usage or configuration; 3 the\n"
   "  address is in use, or a model or device was not found; 1 any other "
   "failure\n"},
  {"status", "", "",
   "  atelier status\n"
   "  atelier status --server https://studio.example --cacert "
   "certificate.pem\n",
   "  0 the server is well; 1 it is starting, stopping or degraded; 2 bad "
   "usage;\n"
   "  3 no server found\n"},
  {"stop", "", "",
   "  atelier stop\n"
   "  atelier stop --data /srv/atelier\n",
   "  0 the server has ended; 2 bad usage; 3 no server found;\n"
   "  130 interrupted; 1 any other failure\n"},
  {"jobs", " [list | cancel ID]",
   "Without a word: list. The jobs are those of the key, newest first. An "
   "image\n"
   "that is cancelled alone leaves the job's other images as they are.\n",
   "  atelier jobs\n"
   "  atelier jobs cancel job_4b1d8e02c6f957a3e80d41f26b9c7a15 --image 2\n",
   "  0 done; 2 bad usage; 3 no such server, job or image; 1 any other "
   "failure,\n"
   "  such as a job that has ended\n"},
  {"models", " [list | show NAME | import FILE | check NAME]",
   "Without a word: list. NAME is a model of Atelier's own, one in the data\n"
   "folder, or a path.\n",
   "  atelier models check base --scan\n"
   "  atelier models import sd_xl_base_1.0.safetensors --name xl\n",
   "  0 done; 2 bad usage, or the model is not sound; 3 no such model;\n"
   "  130 interrupted; 1 any other failure\n"},
  {"cache", " verify | stats | clear | warm",
   "The folder of a cache that no server uses: cache.folder. 'verify' reads "
   "every\nentry and changes none, 'clear' removes all of them, those of one "
   "key, or old\nones. 'warm' draws a list of prompts with the devices of the "
   "configuration, so\nthat later requests start from their work; prompts that "
   "are there already are\nleft out. A running server draws them with "
   "--server.\n",
   "  atelier cache clear --config atelier.toml --key alice --older-than 30d\n"
   "  atelier cache warm --config atelier.toml --prompts prompts.txt\n",
   "  0 done, or all entries are sound; 2 bad usage, configuration or list;\n"
   "  3 no cache, model, device or server there, or a server uses the folder;\n"
   "  4 refused or too late; 130 interrupted; 1 any other failure: with "
   "'verify' a\n  damaged entry, with 'warm' a prompt that was not kept\n"},
  {"config", "", "",
   "  atelier config --example > atelier.toml\n"
   "  atelier config --config atelier.toml --set limits.steps=50\n",
   "  0 done; 2 bad usage or configuration; 1 any other failure\n"},
  {"doctor", "", "",
   "  atelier doctor\n"
   "  atelier doctor --json\n",
   "  0 all is well; 1 something needs attention; 2 bad usage\n"},
  {"profile", "", "",
   "  atelier profile --model turbo -o profile.json\n"
   "  atelier profile --model base --batch 1,2,4,8 --size 128x128\n"
   "  atelier profile --model base --cache --captions 200 -o profile.json\n"},
  {"plan", "", "",
   "  atelier plan --profiles examples/profiles/diffserve-sd-turbo.json \\\n"
   "    --demand 20 --workers 16\n"
   "  atelier plan --profiles profile.json --demand demand.json -o "
   "plan.json\n"},
  {"simulate", "", "",
   "  atelier simulate --profiles examples/profiles/diffserve-sd-turbo.json "
   "\\\n"
   "    --load ramp:4-32:600 --policy atelier,diffserve -o out\n"
   "  atelier simulate --reproduce nirvana --strict\n",
   "  0 done; 2 bad usage or input; 130 interrupted; 1 any other failure, and\n"
   "  with --strict a published result that is not reproduced\n"},
  {"bench", " serve", "",
   "  atelier bench serve --rate 5 --duration 60 --slo-ms 2000\n"
   "  atelier bench serve --load bursty:1-20:120 --server "
   "http://127.0.0.1:7860\n"},
  {"topology", " FILE", "",
   "  atelier topology config/topologies/two-cpu.toml\n"
   "  atelier topology server.toml -o server.svg\n"},
  {"train", " PART",
   "A network is trained from those before it. 'import' begins with the "
   "models\n"
   "that are shipped, so that each of them can be trained further.\n",
   "  atelier train import && atelier train tiny --minutes 10\n"
   "  atelier train all --minutes 600 -o models/\n",
   "  0 done; 2 bad usage or input; 3 a required network was not found;\n"
   "  130 interrupted, with a checkpoint; 1 any other failure\n"},
  {"evaluate", "", "",
   "  atelier evaluate --variants base@50,turbo@4 --captions 100 -o report/\n"
   "  atelier evaluate --variants turbo@4 --captions 8 --starts 0\n"
   "  atelier evaluate --cache --warm 60 --measured 60 -o reuse/\n"},
  {"completion", " SHELL", "",
   "  source <(atelier completion bash)\n"
   "  atelier completion fish > ~/.config/fish/completions/atelier.fish\n",
   "  0 done; 2 bad usage\n"},
  {"help", " [COMMAND]", "",
   "  atelier help\n"
   "  atelier help generate\n",
   "  0 done; 2 no such command\n"},
};

const command_help* find(std::string_view command) {
  for (const auto& x : table)
    if (x.command == command)
      return &x;
  return nullptr;
}

} // namespace

std::string_view takes_of(std::string_view command) {
  const auto* const x = find(command);
  return x ? x->takes : std::string_view{};
}

std::string help_end(std::string_view command) {
  const auto* const x = find(command);
  if (x == nullptr)
    return {};
  auto text =
    fmt::format("{}{}Examples:\n{}\nExit status:\n{}", x->notes,
                x->notes.empty() ? "" : "\n", x->examples, x->statuses);
  if (!command.empty())
    text += "\nOptions of every command: --config, --set, --data, --log, "
            "--json, --version\n('atelier --help').";
  return text;
}

} // namespace atelier::runtime::cli
