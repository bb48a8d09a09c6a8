# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root, logs, torch: see common.sh
# What set-up gets from the Python package index and can do without: CLIP's
# vocabulary, and the peers of the reference tests.
open_clip_version=3.3.0
# The version of tokenizers decides which Unicode transformers knows.
peers=(diffusers==0.42.1 transformers==5.23.0 tokenizers==0.23.3
  safetensors==0.8.0 accelerate==1.15.0 piexif==1.1.3
  openai==3.54.0 webuiapi==0.9.17 prometheus-client==0.26.0 playwright==1.65.2
  openapi-spec-validator==0.9.0)

# is_to_be_tried STAMP CONTENT: whether something is neither there nor failed
# within the last hour. A set-up without network would wait every time.
is_to_be_tried() {
  local stamp=$1 content=$2
  if [[ -f $stamp && $(< "$stamp") == "$content" ]]; then
    return 1
  fi
  [[ -z $(find "$stamp.failed" -mmin -60 2> /dev/null) ]]
}

# ensure_clip_vocabulary: vocab.json and merges.txt in build/clip-vocabulary,
# for models in one file, which carry none.
ensure_clip_vocabulary() {
  local dir=$root/build/clip-vocabulary stamp=$root/build/.clip-vocabulary
  local work=$root/build/.clip-download log=$logs/clip-vocabulary.log
  [[ -d $dir ]] || rm -f -- "$stamp"
  is_to_be_tried "$stamp" "$open_clip_version" || return 0
  rm -rf -- "$work"
  if download_clip_vocabulary "$work" > "$log" 2>&1 < /dev/null; then
    rm -rf -- "$dir"
    mv -- "$work/vocabulary" "$dir"
    printf '%s\n' "$open_clip_version" > "$stamp"
    rm -f -- "$stamp.failed"
  else
    touch "$stamp.failed"
    say "CLIP's vocabulary could not be downloaded; models in one file need" \
      "it ($log)"
  fi
  rm -rf -- "$work"
}

download_clip_vocabulary() {
  local work=$1 python=/usr/bin/python3
  [[ -x $python ]] || python=python3
  mkdir -p "$work" \
    && "$python" -m pip download --disable-pip-version-check --no-deps \
      --only-binary=:all: --retries 1 --dest "$work" \
      "open_clip_torch==$open_clip_version" \
    && "$python" "$root/config/setup/clip_vocabulary.py" \
      "$work"/open_clip_torch-*.whl "$work/vocabulary"
}

# ensure_peers: what the reference tests compare with, in an environment of ours
# alone.
ensure_peers() {
  local stamp=$torch/.peers log=$logs/peers.log
  [[ $torch == "$root/build/torch" ]] || return 0
  is_to_be_tried "$stamp" "${peers[*]}" || return 0
  say "getting diffusers, transformers and piexif to compare with:" \
    "a download of about 120 MB"
  # With the version of LibTorch, which is to stay.
  if "$torch/bin/python" -m pip install --disable-pip-version-check \
    --retries 1 "torch==$torch_version" "${peers[@]}" > "$log" 2>&1 \
    < /dev/null; then
    printf '%s\n' "${peers[*]}" > "$stamp"
    rm -f -- "$stamp.failed"
  else
    touch "$stamp.failed"
    say "diffusers, transformers, openai and others could not be installed;" \
      "the tests that need them are skipped ($log)"
  fi
}
