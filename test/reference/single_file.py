# SPDX-License-Identifier: Apache-2.0
"""Opens single-file checkpoints and compares the tensors, bit for bit, with those of
their source models, and the configurations with diffusers'.

Before that, diffusers' own conversion reads every file, so that the comparison uses a
layout that diffusers reads.
"""
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch_reference

program, folder = sys.argv[1:]
torch = torch_reference.load(folder)
os.environ["TRANSFORMERS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import diffusers
    import safetensors.torch
    import transformers
    from diffusers.loaders import single_file_utils as theirs
except ImportError as error:
    print(f"skipped: no diffusers to compare with ({error})")
    sys.exit(77)
import original_layout as layout
from original_models import (effect, original_config, text_model, unet_model,
                             vae_model)

torch.set_num_threads(2)
diffusers.utils.logging.set_verbosity_error()
transformers.logging.set_verbosity_error()
wrong = []
counts = {"tensors": 0, "configurations": 0}


def check(ok, *what):
    if not ok:
        wrong.append(what)
        print("not equal:", *what)


def compare_config(what, ours, expected, apart=()):
    counts["configurations"] += 1
    ours, expected = effect(ours), effect(expected)
    for key in sorted(set(ours) | set(expected)):
        if key not in apart:
            check(ours.get(key) == expected.get(key), what, key, ours.get(key),
                  expected.get(key))


def compare_tensors(what, ours, expected):
    check(set(ours) == set(expected), what, "names",
          sorted(set(ours) ^ set(expected))[:6])
    for name in set(ours) & set(expected):
        counts["tensors"] += 1
        a, b = ours[name], expected[name]
        same = (a.dtype == b.dtype and a.shape == b.shape and
                torch.equal(a.contiguous().view(torch.uint8),
                            b.contiguous().view(torch.uint8)))
        check(same, what, name, a.dtype, tuple(a.shape), b.dtype,
              tuple(b.shape))


class Opened:
    """The content of a model as the tested program reads it."""

    def __init__(self, model, *options):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([program, model, scratch, *options],
                                  capture_output=True, text=True, check=False)
            self.refusal = done.stderr.strip() if done.returncode else None
            if done.returncode:
                return
            self.tensors, self.configs = {}, {}
            for file in pathlib.Path(scratch).iterdir():
                if file.suffix == ".safetensors":
                    self.tensors[file.stem] = safetensors.torch.load(
                        file.read_bytes())
                else:
                    self.configs[file.stem] = json.loads(file.read_text())
            self.facts = self.configs.pop("model")
            self.scheduler = self.configs.pop("scheduler")


def expect_opened(what, *arguments):
    opened = Opened(*arguments)
    if opened.refusal:
        raise SystemExit(f"{what}: {opened.refusal}")
    return opened


def text_state(model, cut=None):
    state = layout.wrapped(model.state_dict())
    return {k: v for k, v in state.items()
            if cut is None or f".layers.{cut}." not in k}


class Family:
    """One kind of model, with its checkpoint."""

    def __init__(self, name, kind, unet, vae, texts, dtype, extra=None,
                 scheduler=diffusers.DDIMScheduler, prediction="epsilon",
                 loose=()):
        self.name, self.kind, self.unet, self.vae = name, kind, unet, vae
        self.texts, self.scheduler = texts, scheduler
        self.prediction, self.loose = prediction, loose
        for model in (unet, vae, *[x[1] for x in texts]):
            model.to(dtype)
        self.state = layout.prefixed("model.diffusion_model.",
                                     layout.unet(unet))
        self.state |= layout.prefixed("first_stage_model.", layout.vae(vae))
        for _, model, prefix, cut in texts:
            state = (layout.wrapped(model.state_dict())
                     if prefix.endswith("transformer.")
                     else layout.open_clip(model, torch))
            self.state |= layout.prefixed(prefix, state)
        self.state |= extra or {}
        self.state = {k: v.contiguous() for k, v in self.state.items()}

    def confirm(self):
        """Checks that diffusers reads the checkpoint as the models."""
        compare_tensors(f"{self.name}: diffusers' unet",
                        theirs.convert_ldm_unet_checkpoint(
                            dict(self.state), self.unet.config),
                        {k: v for k, v in self.unet.state_dict().items()
                         if "cond_proj" not in k})
        compare_tensors(f"{self.name}: diffusers' vae",
                        theirs.convert_ldm_vae_checkpoint(
                            dict(self.state), self.vae.config),
                        self.vae.state_dict())
        for part, model, prefix, cut in self.texts:
            if prefix.endswith("transformer."):
                state = layout.wrapped(theirs.convert_ldm_clip_checkpoint(
                    dict(self.state)))
            else:
                state = theirs.convert_open_clip_checkpoint(
                    model, dict(self.state), prefix)
            compare_tensors(f"{self.name}: diffusers' {part}", state,
                            text_state(model, cut))

    def write(self, file, metadata=None, state=None):
        safetensors.torch.save_file(state or self.state, file, metadata)
        return str(file)

    def compare(self, opened):
        what = self.name
        check(opened.facts["kind"] == self.kind, what, opened.facts)
        compare_tensors(f"{what} unet", opened.tensors["unet"],
                        self.unet.state_dict())
        compare_tensors(f"{what} vae", opened.tensors["vae"],
                        self.vae.state_dict())
        check({x[0] for x in self.texts}
              == {x for x in opened.tensors if x.startswith("text")}, what)
        for part, model, _, cut in self.texts:
            compare_tensors(f"{what} {part}", opened.tensors[part],
                            text_state(model, cut))
            self.compare_text_config(opened.configs[part], model, part, cut)
        self.compare_configs(opened)

    def compare_text_config(self, ours, model, part, cut):
        expected = model.config.to_dict()
        if cut is not None:
            expected["num_hidden_layers"] = cut
        ours = transformers.CLIPTextConfig(**ours).to_dict()
        compare_config(f"{self.name} {part}", ours, expected,
                       ("architectures", "dtype", "pad_token_id",
                        "transformers_version"))
        check(ours["architectures"] == [type(model).__name__], self.name, part)

    def compare_configs(self, opened):
        asked = original_config(self.unet, self.vae)
        unet = theirs.create_unet_diffusers_config_from_ldm(
            asked, self.state)
        vae = theirs.create_vae_diffusers_config_from_ldm(asked, self.state)
        for what, kind, ours, expected, apart in (
                ("unet", diffusers.UNet2DConditionModel,
                 opened.configs["unet"], unet, self.loose),
                ("vae", diffusers.AutoencoderKL, opened.configs["vae"], vae,
                 tuple(x for x in self.loose if x == "sample_size"))):
            with torch.device("meta"):
                ours = kind.from_config(ours)
                expected = kind.from_config(expected)
            compare_config(f"{self.name} {what}", dict(ours.config),
                           dict(expected.config), apart)
            check({k: v.shape for k, v in ours.state_dict().items()}
                  == {k: v.shape for k, v in expected.state_dict().items()},
                  self.name, what, "shapes")
        defaults = dict(theirs.SCHEDULER_DEFAULT_CONFIG)
        legacy = theirs._legacy_load_scheduler(
            self.scheduler, self.state, "scheduler", asked)
        theirs.SCHEDULER_DEFAULT_CONFIG.clear()
        theirs.SCHEDULER_DEFAULT_CONFIG.update(defaults)
        ours = self.scheduler.from_config(opened.scheduler)
        check(opened.scheduler["_class_name"] == self.scheduler.__name__,
              self.name, opened.scheduler)
        check(ours.config.prediction_type == self.prediction, self.name,
              ours.config)
        # Only keys that the class knows are compared.
        known = set(inspect.signature(self.scheduler.__init__).parameters)
        compare_config(f"{self.name} scheduler",
                       {k: v for k, v in ours.config.items() if k in known},
                       {k: v for k, v in legacy.config.items() if k in known})
        check(torch.equal(ours.alphas_cumprod, legacy.alphas_cumprod),
              self.name, "alphas")


def families():
    torch.manual_seed(torch_reference.generator().getrandbits(32))
    schedule = {"betas": torch.rand(5), "alphas_cumprod": torch.rand(5),
                "sqrt_alphas_cumprod": torch.rand(5),
                "model_ema.decay": torch.rand(1),
                "model_ema.num_updates": torch.tensor([1], dtype=torch.int32),
                "model_ema.diffusion_modelinput_blocks00weight":
                    torch.rand(3),
                "cond_stage_model.transformer.text_model.embeddings."
                "position_ids": torch.arange(77)[None],
                "first_stage_model.loss.logvar": torch.rand(1)}
    clip = text_model(64, 2, "quick_gelu")
    yield Family("SD 1", "stable_diffusion",
                 unet_model((32, 64), (1, 0), 64, False), vae_model(0.18215),
                 [("text_encoder", clip, "cond_stage_model.transformer.",
                   None)], torch.float32, schedule)
    yield Family("SD 1 inpainting", "stable_diffusion",
                 unet_model((32, 64, 96), (1, 1, 0), 64, False, in_channels=9),
                 vae_model(0.18215, (32, 32, 64)),
                 [("text_encoder", clip, "cond_stage_model.transformer.",
                   None)], torch.float16)
    open_clip = text_model(64, 24, "gelu")
    for steps, prediction in ((None, "v_prediction"), (875000, "epsilon"),
                              (470000, "v_prediction")):
        extra = {} if steps is None else {"global_step": torch.tensor(steps)}
        yield Family(f"SD 2 after {steps} steps", "stable_diffusion",
                     unet_model((64, 128), (1, 0), 1024, True),
                     vae_model(0.18215),
                     [("text_encoder", open_clip, "cond_stage_model.model.",
                       23)], torch.float32, extra, prediction=prediction,
                     # In the configuration that diffusers would download it is true;
                     # the one of the yaml file does not contain it. For the 512-pixel
                     # model diffusers uses the size of the other.
                     loose=("upcast_attention",)
                     + (("sample_size",) if prediction == "epsilon" else ()))
    first, second = (text_model(64, 2, "quick_gelu"),
                     text_model(128, 11, "gelu", 96))
    more = {"conditioner.embedders.1.model.logit_scale": torch.rand(())}
    yield Family("SDXL base", "stable_diffusion_xl",
                 unet_model((64, 128, 256), (0, 2, 3), 2048, True,
                            addition_embed_type="text_time",
                            addition_time_embed_dim=256,
                            projection_class_embeddings_input_dim=96 + 1536),
                 vae_model(0.13025),
                 [("text_encoder", first,
                   "conditioner.embedders.0.transformer.", None),
                  ("text_encoder_2", second, "conditioner.embedders.1.model.",
                   None)], torch.float16, more,
                 scheduler=diffusers.EulerDiscreteScheduler)
    yield Family("SDXL refiner", "stable_diffusion_xl_refiner",
                 unet_model((64, 128, 192, 192), (0, 2, 2, 0), 1280, True,
                            transformer_layers_per_block=2,
                            addition_embed_type="text_time",
                            addition_time_embed_dim=256,
                            projection_class_embeddings_input_dim=96 + 1280),
                 vae_model(0.13025),
                 [("text_encoder_2", second, "conditioner.embedders.0.model.",
                   None)], torch.bfloat16,
                 scheduler=diffusers.EulerDiscreteScheduler)


def compare_families(scratch, words):
    for family in families():
        family.confirm()
        file = family.write(scratch / "model.safetensors")
        if family.unet.config.in_channels != family.vae.config.latent_channels:
            # Nothing builds the other inputs of its network yet.
            refusal = Opened(file, words).refusal
            check("in_channels 9" in (refusal or ""), family.name, refusal)
            continue
        opened = expect_opened(family.name, file, words)
        family.compare(opened)
        compare_facts(family, opened)
        if family.name in ("SD 1", "SD 2 after None steps", "SDXL base"):
            compare_single_parts(family, scratch, words)


def compare_facts(family, opened):
    refines = family.kind.endswith("refiner")
    check(opened.facts["aesthetics"] == refines, family.name, "aesthetics")
    check(opened.facts["zeros"] == (not refines), family.name, "zeros")
    expected = {"SD 1": ["first_stage_model.loss", "model_ema",
                         "noise schedule"],
                "SDXL base": ["conditioner.embedders.1.model.logit_scale"]}
    if family.name in expected:
        check(opened.facts["not_loaded"] == expected[family.name], family.name,
              opened.facts["not_loaded"])
    padding = {part: json.loads(opened.facts[part])["pad_token"]
               for part in opened.facts if part.startswith("tokenizer")}
    after = ("!" if family.name.startswith("SD 2") else "<|endoftext|>")
    check(padding == {x[0].replace("text_encoder", "tokenizer"):
                      "!" if x[0].endswith("2") else after
                      for x in family.texts}, family.name, padding)


def compare_single_parts(family, scratch, words):
    """Opens only the denoiser, and only autoencoders, in both layouts."""
    whole = str(scratch / "model.safetensors")
    folder = scratch / "vae-folder"
    family.vae.save_pretrained(folder)
    plain = layout.vae(family.vae)
    forms = {"original": plain,
             "prefixed": layout.prefixed("first_stage_model.", plain),
             "diffusers": family.vae.state_dict(),
             "old diffusers": {
                 k.replace("0.to_q", "0.query").replace("0.to_k", "0.key")
                 .replace("0.to_v", "0.value")
                 .replace("0.to_out.0", "0.proj_attn"): v
                 for k, v in family.vae.state_dict().items()}}
    files = {"folder": str(folder)}
    for name, state in forms.items():
        files[name] = family.write(scratch / f"vae {name}.safetensors",
                                   state={k: v.contiguous()
                                          for k, v in state.items()})
    without = {k: v for k, v in family.state.items()
               if not k.startswith("first_stage_model.")}
    lone = family.write(scratch / "without.safetensors", state=without)
    refusal = Opened(lone, words).refusal
    check(refusal and "vae" in refusal, family.name, refusal)
    for name, file in files.items():
        opened = expect_opened(name, lone, words, file)
        compare_tensors(f"{family.name} vae, {name}", opened.tensors["vae"],
                        family.vae.state_dict())
        check(opened.configs["vae"]["scaling_factor"]
              == family.vae.config.scaling_factor, family.name, name)
    states = {"prefixed": {k: v for k, v in family.state.items()
                           if k.startswith("model.diffusion_model.")},
              "bare": layout.unet(family.unet),
              "diffusers": family.unet.state_dict()}
    folder = scratch / "unet-folder"
    family.unet.save_pretrained(folder)
    files = {"folder": str(folder)}
    for name, state in states.items():
        files[name] = family.write(scratch / f"unet {name}.safetensors",
                                   state={k: v.contiguous()
                                          for k, v in state.items()})
    for name, file in files.items():
        refusal = Opened(file, words).refusal
        check(refusal and "text_encoder" in refusal, family.name, refusal)
        opened = expect_opened(name, file, words, "-", whole)
        compare_tensors(f"{family.name} unet, {name}", opened.tensors["unet"],
                        family.unet.state_dict())
        check(opened.facts["kind"] == family.kind, family.name, opened.facts)
        check({x[0] for x in family.texts}
              == {x for x in opened.tensors if x.startswith("text")},
              family.name, name)
        ours = opened.scheduler["prediction_type"]
        check(ours == family.prediction or name == "prefixed", family.name,
              name, ours)


def compare_predictions(scratch, words):
    """Compares the prediction types given by a file, its metadata and the caller."""
    family = Family("SD 2 told", "stable_diffusion",
                    unet_model((64, 128), (1, 0), 1024, True),
                    vae_model(0.18215),
                    [("text_encoder", text_model(64, 24, "gelu"),
                      "cond_stage_model.model.", 23)], torch.float16)
    cases = [({"modelspec.prediction_type": "epsilon"}, "-", "epsilon", 512),
             ({"modelspec.prediction_type": "v"}, "-", "v_prediction", 768),
             ({"modelspec.architecture": "stable-diffusion-v2-512"}, "-",
              "epsilon", 512),
             ({"modelspec.architecture": "stable-diffusion-v2-768-v"}, "-",
              "v_prediction", 768),
             ({"modelspec.prediction_type": "v"}, "epsilon", "epsilon", 512)]
    for metadata, said, expected, size in cases:
        file = family.write(scratch / "told.safetensors", metadata)
        opened = expect_opened(str(metadata), file, words, "-", "-", said)
        check(opened.scheduler["prediction_type"] == expected, metadata, said)
        check(opened.configs["unet"]["sample_size"] == size // 2, metadata)
    for metadata in ({"modelspec.prediction_type": "flow"},
                     {"modelspec.architecture": "stable-diffusion-v1/lora"}):
        file = family.write(scratch / "told.safetensors", metadata)
        refusal = Opened(file, words).refusal
        check(refusal and list(metadata)[0] in refusal, metadata, refusal)


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        words = scratch / "vocabulary"
        words.mkdir()
        (words / "vocab.json").write_text(
            '{"<|startoftext|>": 0, "<|endoftext|>": 1, "!": 2}')
        (words / "merges.txt").write_text("")
        compare_families(scratch, str(words))
        compare_predictions(scratch, str(words))
    print(f"diffusers {diffusers.__version__}: {counts['tensors']} tensors, "
          f"{counts['configurations']} configurations, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
