#!/usr/bin/env bash
# Networks as a user meets them: layers of ONNX files, the seven networks of make models, and shapes beside the shapes
# inferred by python3-onnx. Run from the project's folder.
set -u

program=${BUILD:-build}/onnx2layers
bench=${BUILD:-build}/bench
# shellcheck source=tests/check.bash
. tests/check.bash

zoo=experiments/models/onnx
layers() { "$program" "$@" 2>"$work/notes"; }
first_line() { layers "$@" | head -n 1; }
notes() { grep -qF -- "$1" "$work/notes"; }

# ---- the zoo beside our tables ----

check "Inception v2 is our table" [ "$(first_line $zoo/light_inception_v2.onnx COMPARE=inceptionv2)" = \
    "light_inception_v2 has 69 convolutions, inceptionv2 has 69; 69 are equal" ]
check "SqueezeNet is 1.1" [ "$(first_line $zoo/light_squeezenet.onnx COMPARE=experiments/models/alt/squeezenet_v11.csv)" = \
    "light_squeezenet has 26 convolutions, squeezenet_v11 has 26; 26 are equal" ]
layers $zoo/light_resnet50.onnx COMPARE=resnet50 >"$work/out"
check "six layers of ResNet-50 differ: $(cat "$work/out")" [ "$(wc -l <"$work/out")" -eq 7 ]
check "the stride is on the 3x3" grep -qx 'n39 (stage2_block0_conv1): in_h 56 (28), in_w 56 (28), stride_h 2 (1), stride_w 2 (1)' "$work/out"
check "what is beside convolutions is counted: $(cat "$work/notes")" notes "beside them 53 BatchNormalization, 49 Relu, 1 MaxPool, 16 Sum, "
layers $zoo/light_inception_v1.onnx COMPARE=googlenet >"$work/out"
check "GoogLeNet's pools round down" [ "$(grep -c 'in_h 27 (28)\|in_h 13 (14)\|in_h 6 (7)' "$work/out")" -eq 54 ]
layers $zoo/light_vgg19.onnx COMPARE=vgg16 >"$work/out"
check "VGG-19 has three more: $(cat "$work/out")" [ "$(grep -c ': only light_vgg19 has it$' "$work/out")" -eq 3 ]

# ---- tables ----

layers $zoo/light_vgg19.onnx >"$work/vgg19.csv"
check "a table is a model again" [ "$(first_line "$work/vgg19.csv" COMPARE=$zoo/light_vgg19.onnx)" = \
    "vgg19 has 16 convolutions, light_vgg19 has 16; 16 are equal" ]
layers $zoo/light_vgg19.onnx BATCH=3 INPUT=3x224x224 LAYERS=n0 OUT="$work/one.csv"
check "BATCH and LAYERS are heeded: $(cat "$work/notes")" grep -qx 'n0,3,3,224,224,64,3,3,1,1,1,1,1,1,1,1,1' "$work/one.csv"
check "a table takes BATCH, too" [ "$(layers vgg16 BATCH=5 LAYERS=conv1_1 | tail -n 1)" = conv1_1,5,3,224,224,64,3,3,1,1,1,1,1,1,1,1,1 ]
fails_with 2 "node 'n37' (Reshape): a shape of 1x512x8x8 cannot become 1x25088" "$program" $zoo/light_vgg19.onnx INPUT=3x256x256
fails_with 2 "INPUT: 'vgg16' is no network" "$program" vgg16 INPUT=3x9x9
fails_with 2 "none.onnx: No such file" "$program" "$work/none.onnx"
printf 'no network' >"$work/text.onnx"
fails_with 2 "$work/text.onnx: no ONNX file: byte " "$program" "$work/text.onnx"
"$bench" experiment MODEL=$zoo/light_squeezenet.onnx LAYERS=n7 MACHINE=clx4208 TIMING=0 OBSERVE=0 STORE=no RESULTS="$work/results" >"$work/out" 2>"$work/notes"
check "an experiment takes a network: $(cat "$work/notes")" grep -q '^light_squeezenet,4,n7,base,' "$work/results/clx4208/light_squeezenet,n7/layers.csv"

# ---- a cache of Hugging Face: a network of one convolution, opset 22; network and filter d are links ----

mkdir -p "$work/hub/blobs" "$work/hub/snapshots/1"
printf '%b' '\010\012\022\000:n\012\017\012\001x\012\001w\022\001y\042\004Conv\022\001g*\036\010\001\010\001\010\001\010\001\020\001B\001wj\015\012\010location' \
    '\022\001dp\001Z\033\012\001x\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\002b\033\012\001y\022\026\012\024\010\001\022\020\012\002' \
    '\010\001\012\002\010\001\012\002\010\002\012\002\010\002B\004\012\000\020\026' >"$work/hub/blobs/a"
printf 'abcd' >"$work/hub/blobs/b"
ln -s ../../blobs/a "$work/hub/snapshots/1/net.onnx"
ln -s ../../blobs/b "$work/hub/snapshots/1/d"
net=$work/hub/snapshots/1/net.onnx
fails_with 2 "external data 'd': not in the folder of the network: a link leads out; LINKS=yes follows it" "$program" "$net"
check "links of the cache are followed" [ "$(layers "$net" LINKS=yes | tail -n 1)" = y,1,1,2,2,1,1,1,1,1,0,0,0,0,1,1,1 ]
layers "$net" LINKS=yes FORMAT=values >"$work/values"
check "in values, too: $(cat "$work/notes")" grep -q '^w,float,1x1x1x1,1,' "$work/values"
"$bench" network MODEL="$net" LINKS=yes TIMING=0 SIMULATE=no MACHINE=clx4208 RESULTS="$work/results" >"$work/out" 2>"$work/notes"
check "a network follows them: $(tail -n 1 "$work/notes")" [ -e "$work/results/clx4208/network/net/network.csv" ]
"$bench" experiment MODEL="$net" LINKS=yes ALGO=base MACHINE=clx4208 TIMING=0 OBSERVE=0 STORE=no RESULTS="$work/results" >"$work/out" 2>"$work/notes"
check "an experiment follows them: $(tail -n 1 "$work/notes")" [ -e "$work/results/clx4208/net/layers.csv" ]

# ---- the seven ----

"$bench" models WEIGHTS=none TO="$work/none" >"$work/out" 2>&1
check "seven are written: $(cat "$work/out")" [ "$(wc -l <"$work/out")" -eq 7 ]
for network in googlenet inceptionv2 resnet18 resnet50 resnet152 squeezenet vgg16; do
    said=$(layers "$work/none/$network.onnx" COMPARE=$network)
    rows=$(grep -vc '^#\|^name,' experiments/models/$network.csv)
    check "$network has its table's convolutions: $said" [ "$said" = "$network has $rows convolutions, $network has $rows; $rows are equal" ]
    layers "$work/none/$network.onnx" FORMAT=values >"$work/values"
    check "$network ends with classes" grep -q '^prob,float,1x1000,0,prob,Softmax,$' "$work/values"
done
for to in a b; do "$bench" models MODEL=squeezenet TO="$work/$to" >"$work/out" 2>&1; done
check "the same seed makes the same file" cmp -s "$work/a/squeezenet.onnx" "$work/b/squeezenet.onnx"
"$bench" models MODEL=squeezenet SEED=2 TO="$work/b" >"$work/out" 2>&1
check "another seed makes another" [ "$(cmp "$work/a/squeezenet.onnx" "$work/b/squeezenet.onnx" 2>&1 | grep -c differ)" -eq 1 ]
check "weights are in the file" [ "$(stat -c %s "$work/a/squeezenet.onnx")" -gt 4900000 ]
fails_with 2 "'three' is none of the paper's seven" "$bench" models MODEL=tests/data/three.csv TO="$work/c"

# ---- a second inference ----

infers() { # infers PYTHON: it has what infers
    "$1" -c 'import onnx.shape_inference' 2>/dev/null
}

python=
for p in python3 /usr/bin/python3; do [ -n "$python" ] || ! infers $p || python=$p; done
official=(/usr/share/libonnx-testdata/data/*/*/model.onnx)
if [ -z "$python" ] || [ ! -e "${official[0]}" ]; then
    echo "onnx: skipped: shapes beside those of python3-onnx (.ci/deps tests installs it)"
else
    mkdir "$work/copies"
    "$python" tests/experiments/onnx_infer.py "$work/copies" "${official[@]}" $zoo/*.onnx "$work"/none/*.onnx >"$work/theirs"
    layers FORMAT=values MODEL="$(printf '%s\n' "$work"/copies/*.onnx | paste -sd,)" >"$work/values"
    awk -F, '/^# the values of / { file = substr($0, 17); next }
        { name = $1; gsub(/"/, "", name); print file "\t" name "\t" $2 "\t" $3 }' "$work/values" >"$work/ours"
    awk -F'\t' 'NR == FNR { ours[$1, $2] = $3 "\t" $4; next }
        ours[$1, $2] ~ /[^\t]$/ && ours[$1, $2] != $3 "\t" $4 { print $1, $2, $3, $4, "not", ours[$1, $2] }
        ours[$1, $2] == $3 "\t" $4 { equal++ }
        END { print equal + 0 }' "$work/ours" "$work/theirs" >"$work/compared"
    check "no shape is another: $(head -n 3 "$work/compared")" [ "$(wc -l <"$work/compared")" -eq 1 ]
    check "3,500 shapes are equal: $(tail -n 1 "$work/compared")" [ "$(tail -n 1 "$work/compared")" -gt 3500 ]
    check "ONNX's checker takes what is written" \
        "$python" -c 'import onnx, sys; onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True)' "$work/a/squeezenet.onnx"
fi

finish
