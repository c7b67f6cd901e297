#!/usr/bin/env bash
# sconv-opt as a compiler's engineer meets it: modules go through sconv-opt and mlir-opt to programs with unchanged
# results; an operation that sconv-opt cannot slice is left unchanged, with a reason. Run from the project's folder;
# needs LLVM 19's MLIR (.ci/deps mlir).
set -u

program=${BUILD:-build}/sconv-opt
# shellcheck source=tests/check.bash
. tests/check.bash

if [ ! -x "$program" ]; then
    echo "opt: skipped: sconv-opt is not built: there is no libmlir-19-dev, or it is built for something else (.ci/deps mlir)"
    exit 0
fi
data=tests/data/mlir
opt() { "$program" "$@" >"$work/out" 2>"$work/err"; }
said() { grep -qF -- "$1" "$work/err"; }
holds() { grep -qF -- "$1" "$work/out"; }

# ---- wrong input ----

refuses "there is no module" MACHINE=toy
refuses "No such file" "$work/none.mlir" MACHINE=toy
refuses "did you mean" $data/net.mlir MACHIN=toy
refuses "unknown micro-kernel" $data/net.mlir MACHINE=toy UKR=avx3
echo 'func.func @f(%a: tensor<1x2xf32>) { return %b }' >"$work/bad.mlir"
refuses "bad.mlir:1:" "$work/bad.mlir" MACHINE=toy
refuses "cannot write" $data/net.mlir MACHINE=toy -o "$work/no/such/folder.mlir"
cp $data/net.mlir "$work/kept.mlir"
refuses "bad.mlir:1:" "$work/bad.mlir" MACHINE=toy -o "$work/kept.mlir"
check "what could not be read changes no file" cmp -s $data/net.mlir "$work/kept.mlir"

# ---- operations left unchanged, each with a reason and a place ----

left() { # left NAME REASON: $work/NAME.mlir is left as it is, for that reason
    check "$1 goes through: $(tail -n 1 "$work/err")" opt "$work/$1.mlir" MACHINE=toy
    check "$1: '$2' is not said: $(cat "$work/err")" grep -qE "^$work/$1.mlir:[0-9]+:[0-9]+: remark: '.*' is left as it is: .*$2" "$work/err"
    check "$1: nothing is sliced" said "0 of 1 convolution sliced"
    check "$1: the operation is there" grep -q 'linalg\.\(conv\|generic\|depthwise\)' "$work/out"
}
conv() { # conv INPUT FILTER OUTPUT [NAME]: a module with one convolution of such types
    cat <<END
func.func @f(%x: tensor<$1>, %w: tensor<$2>, %o: tensor<$3>) -> tensor<$3> {
  %r = linalg.${4:-conv_2d_nchw_fchw} {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<$1>, tensor<$2>) outs(%o : tensor<$3>) -> tensor<$3>
  return %r : tensor<$3>
}
END
}
conv 1x3x?x8xf32 4x3x3x3xf32 1x4x?x6xf32 >"$work/dynamic.mlir"
left dynamic "its input has a dynamic shape: tensor<1x3x[?]x8xf32>"
conv 1x3x8x8xf64 4x3x3x3xf64 1x4x6x6xf64 >"$work/doubles.mlir"
left doubles "elements that are not f32"
conv 1x3x8x8xf32 4x3x3x3xf16 1x4x6x6xf32 >"$work/halves.mlir"
left halves "its filter has elements that are not f32: tensor<4x3x3x3xf16>"
conv 1x3x8x8xi8 4x3x3x3xi8 1x4x6x6xi32 >"$work/bytes.mlir"
left bytes "elements that are not f32"
conv 1x3x8x8xf32 3x3x3xf32 1x3x6x6xf32 depthwise_conv_2d_nchw_chw >"$work/depthwise.mlir"
left depthwise "slices conv_2d_nchw_fchw and conv_2d_nhwc_hwcf"
cat >"$work/generic.mlir" <<'END'
func.func @f(%x: tensor<9xf32>, %w: tensor<3xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a + b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a)>],
    iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
END
left generic "generic operation"
sed 's/affine_map<(a, b) -> (a + b)>/affine_map<(a, b) -> (b)>/; s/tensor<9xf32>/tensor<3xf32>/g; s/(a)>\]/(a)>]/' "$work/generic.mlir" >"$work/sum.mlir"
check "what is no convolution is none: $(tail -n 1 "$work/err")" opt "$work/sum.mlir" MACHINE=toy
check "... it is as it was, and nothing is said of it" [ "$(grep -c linalg.generic "$work/out") $(cat "$work/err")" = "1 sconv-opt: 0 of 0 convolutions sliced" ]
cat >"$work/columns.mlir" <<'END'
func.func @f(%x: memref<1x3x8x8xf32, strided<[192, 64, 1, 8]>>, %w: memref<4x3x3x3xf32>, %o: memref<1x4x6x6xf32>) {
  linalg.conv_2d_nchw_fchw ins(%x, %w : memref<1x3x8x8xf32, strided<[192, 64, 1, 8]>>, memref<4x3x3x3xf32>) outs(%o : memref<1x4x6x6xf32>)
  return
}
END
left columns "rows are not contiguous"
sed 's/%x: memref<1x3x8x8xf32, strided<[^>]*>>/%x: memref<1x4x6x6xf32>/; s/%x, %w : memref<1x3x8x8xf32, [^>]*>>, memref<4x3x3x3xf32>/%o, %w : memref<1x4x6x6xf32>, memref<4x4x1x1xf32>/; s/%w: memref<4x3x3x3xf32>/%w: memref<4x4x1x1xf32>/' \
    "$work/columns.mlir" >"$work/same.mlir"
left same "its output is its input, too"
conv 1x3x8x8xf32 4x3x3x3xf32 1x4x6x6xf32 >"$work/plain.mlir"
check "no machine, no plan" opt "$work/plain.mlir"
check "... and that is said: $(cat "$work/err")" said "plain.mlir:2:8: remark: 'linalg.conv_2d_nchw_fchw' is left as it is: its module has no dlti.target_system_spec"
sed '1i module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU": #dlti.target_device_spec<#dlti.dl_entry<"max_vector_op_width", 256 : i32>>>} {' \
    "$work/plain.mlir" >"$work/spec.mlir"
echo '}' >>"$work/spec.mlir"
check "a target without caches is none" opt "$work/spec.mlir"
check "... and that is said: $(cat "$work/err")" said "has no L1_cache_size_in_bytes"

# ---- sliced operations ----

check "plans come from the module's own machine: $(cat "$work/err")" opt $data/net.mlir --analyse
check "... as JSON, one for each" [ "$(grep -c '"schedule"' "$work/out")" -eq 3 ]
check "... its caches, 0.9 of them" holds '"l1_bytes": 29491.2'
check "... its vectors: $(grep -m 1 f32_ "$work/out")" holds '"f32_16x6__avx2"'
opt $data/net.mlir --analyse MACHINE=toy
check "MACHINE comes first" holds '"l1_bytes": 921.6'
"${BUILD:-build}/sconv-plan" LAYER=ic3ih34oc32kh3 MACHINE=toy UKR=avx2 --json 2>/dev/null | sed -n '/"tiling"/,/}/p' >"$work/plan"
opt $data/net.mlir --analyse MACHINE=toy UKR=avx2
check "plans are sconv-plan's" cmp -s "$work/plan" <(sed -n '/"tiling"/,/}/p' "$work/out" | sed '/}/q')
check "a plan may be done" "${BUILD:-build}/sconv-gen" PLAN="$work/out" EMIT=c --out "$work/code.c"

opt $data/net.mlir
check "three convolutions are sliced: $(cat "$work/err")" said "3 of 3 convolutions sliced"
check "... none is left" eval '! grep -q linalg.conv "$work/out"'
check "... but micro-kernels are there" holds "vector.outerproduct"
check "... and the pooling, the ReLU and the target" [ "$(grep -c 'linalg.pooling_nchw_max\|arith.maximumf\|L1_cache_size_in_bytes' "$work/out")" -eq 3 ]
same_rest() { # of a module without convolutions nothing changes
    sed 's/linalg.conv_2d_n[a-z_]*/test.other/' "$work/out" >"$work/other.mlir"
    opt "$work/other.mlir" MACHINE=toy -o "$work/again.mlir" && opt "$work/again.mlir" MACHINE=toy && cmp -s "$work/out" "$work/again.mlir"
}
check "what is sliced is left alone by the next run" same_rest

if ! mlir-opt-19 --version >/dev/null 2>&1 || ! clang-19 --version >/dev/null 2>&1; then
    echo "opt: skipped: nothing is run; mlir-opt-19 and clang-19 are not here (.ci/deps mlir installs them)"
    echo "opt: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
fi

# ---- sliced programs compute the results of before ----

"${CC:-cc}" -O1 -o "$work/compare" $data/compare.c -ldl -lm
passes=(--one-shot-bufferize='bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map'
    --canonicalize --cse --drop-equivalent-buffer-results --buffer-results-to-out-params --canonicalize --cse --convert-linalg-to-loops '--convert-vector-to-scf=full-unroll=true'
    --canonicalize --cse --expand-strided-metadata --lower-affine --convert-scf-to-cf --convert-vector-to-llvm
    --convert-func-to-llvm=use-bare-ptr-memref-call-conv --finalize-memref-to-llvm --convert-arith-to-llvm --convert-index-to-llvm
    --convert-cf-to-llvm --canonicalize --reconcile-unrealized-casts)
llvm=/usr/lib/llvm-19/lib
lower() { # lower NAME: $work/NAME.mlir becomes NAME.so there
    mlir-opt-19 "${passes[@]}" "$work/$1.mlir" -o "$work/$1.llvm" 2>"$work/err" &&
        mlir-translate-19 --mlir-to-llvmir "$work/$1.llvm" -o "$work/$1.ll" 2>"$work/err" &&
        clang-19 -O1 -march=native -shared -fPIC -Wno-override-module -o "$work/$1.so" "$work/$1.ll" \
            -L$llvm -Wl,-rpath,$llvm -lmlir_c_runner_utils 2>"$work/err"
}
equal() { # equal: each "// run: NAME FLOATS... -> FLOATS" of before.mlir
    local line
    sed -n 's,^ *// run: ,,p; s/->//' "$work/before.mlir" | grep '^[a-z0-9]* [0-9 >-]*$' | tr -d '>-' >"$work/runs"
    [ -s "$work/runs" ] || return 1
    while read -r line; do
        # shellcheck disable=SC2086  # numbers are words
        "$work/compare" "$work/before.so" "$work/after.so" $line >"$work/err" || return 1
    done <"$work/runs"
}
runs() { # runs WHAT SLICED [OPTIONS...]: before.mlir becomes after.mlir, of whose convolutions so many are sliced, and does the same
    local what=$1 sliced=$2
    shift 2
    "$program" "$work/before.mlir" "$@" -o "$work/after.mlir" 2>"$work/err"
    check "$what: is not sliced: $(cat "$work/err")" said "$sliced convolution"
    check "$what: is not lowered: $(head -n 1 "$work/err")" lower after
    check "$what: is not lowered before: $(head -n 1 "$work/err")" lower before
    check "$what: does something else: $(cat "$work/err")" equal
}

cp $data/net.mlir "$work/before.mlir"
runs "a small network" "3 of 3"
runs "... with other tiles" "3 of 3" MACHINE=toy UKR=ref
runs "... and wider ones" "3 of 3" MACHINE=spr UKR=f32_16x24__avx512
constants() { # a module whose filters are constants: of a tensor, of NHWC, of a buffer; what is packed is computed nowhere
    values() { awk -v n="$1" 'BEGIN { split("0000803F 000000BF 0000403F 00000040 0000803E", x); for (i = 0; i < n; i++) printf x[(i * i + i) % 5 + 1] }'; }
    cat <<END
// run: tensors 2048 3456 -> 3780
// run: buffers 2048 -> 8640
module {
  memref.global "private" constant @weights : memref<60x8x3x3xf32> = dense<"0x$(values 4320)">
  func.func @tensors(%x: tensor<1x8x16x16xf32>, %y: tensor<1x12x16x18xf32>) -> tensor<1x15x14x18xf32> {
    %zero = arith.constant 0.0 : f32
    %w0 = arith.constant dense<"0x$(values 1080)"> : tensor<15x8x3x3xf32>
    %w1 = arith.constant dense<"0x$(values 864)"> : tensor<3x3x12x8xf32>
    %e = tensor.empty() : tensor<1x15x14x14xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x15x14x14xf32>) -> tensor<1x15x14x14xf32>
    %a = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x8x16x16xf32>, tensor<15x8x3x3xf32>) outs(%f : tensor<1x15x14x14xf32>) -> tensor<1x15x14x14xf32>
    %e1 = tensor.empty() : tensor<1x10x16x8xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x10x16x8xf32>) -> tensor<1x10x16x8xf32>
    %v = tensor.expand_shape %y [[0, 1], [2], [3], [4]] output_shape [1, 1, 12, 16, 18] : tensor<1x12x16x18xf32> into tensor<1x1x12x16x18xf32>
    %c = tensor.collapse_shape %v [[0, 1], [2], [3], [4]] : tensor<1x1x12x16x18xf32> into tensor<1x12x16x18xf32>
    %et = tensor.empty() : tensor<1x12x18x12xf32>
    %t = tensor.extract_slice %c[0, 0, 0, 0] [1, 12, 12, 18] [1, 1, 1, 1] : tensor<1x12x16x18xf32> to tensor<1x12x12x18xf32>
    %n = linalg.transpose ins(%t : tensor<1x12x12x18xf32>) outs(%et : tensor<1x12x18x12xf32>) permutation = [0, 1, 3, 2]
    %b = linalg.conv_2d_nhwc_hwcf ins(%n, %w1 : tensor<1x12x18x12xf32>, tensor<3x3x12x8xf32>) outs(%f1 : tensor<1x10x16x8xf32>) -> tensor<1x10x16x8xf32>
    %r = tensor.empty() : tensor<1x15x14x18xf32>
    %z = linalg.fill ins(%zero : f32) outs(%r : tensor<1x15x14x18xf32>) -> tensor<1x15x14x18xf32>
    %p = tensor.insert_slice %a into %z[0, 0, 0, 0] [1, 15, 14, 14] [1, 1, 1, 1] : tensor<1x15x14x14xf32> into tensor<1x15x14x18xf32>
    %q = tensor.extract_slice %b[0, 0, 0, 0] [1, 10, 14, 4] [1, 1, 1, 1] : tensor<1x10x16x8xf32> to tensor<1x10x14x4xf32>
    %s = tensor.insert_slice %q into %p[0, 0, 0, 14] [1, 10, 14, 4] [1, 1, 1, 1] : tensor<1x10x14x4xf32> into tensor<1x15x14x18xf32>
    return %s : tensor<1x15x14x18xf32>
  }
  func.func @buffers(%x: memref<1x8x16x16xf32>, %out: memref<1x60x12x12xf32>) {
    %zero = arith.constant 0.0 : f32
    %w = memref.get_global @weights : memref<60x8x3x3xf32>
    linalg.fill ins(%zero : f32) outs(%out : memref<1x60x12x12xf32>)
    linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%x, %w : memref<1x8x16x16xf32>, memref<60x8x3x3xf32>) outs(%out : memref<1x60x12x12xf32>)
    return
  }
}
END
}
constants >"$work/before.mlir"
runs "filters that are constants" "3 of 3" MACHINE=toy
runs "... and in one channel set" "3 of 3" MACHINE=spr UKR=avx2
check "... are rows with zeros between: $(grep -o 'dense<.*\|global.*' "$work/after.mlir" | sed 's/"0x[^"]*"/""/' | paste -sd ' ')" \
    [ "$(grep -c 'constant @sconv_filters[_0-9]* : memref<\(4800\|6912\|19200\)xi8>' "$work/after.mlir")" -eq 3 ]
check "... and no more what they were" eval '! grep -q "@weights\|dense<.*tensor<15x8x3x3xf32>\|dense<.*tensor<3x3x12x8xf32>" "$work/after.mlir"'
# Vector reads are of windows, products and sums; filters are read one by one, NHWC's filters by the micro-kernel.
check "... nothing packs them" eval '! grep "transfer_read.*vector<[0-9]*xf32>" "$work/after.mlir" | grep -q "tensor<3x3x12x8xf32>"'
cp $data/torch.mlir "$work/before.mlir"
runs "biases, and a result that is used twice" "2 of 2" MACHINE=toy
cp $data/buffers.mlir "$work/before.mlir"
runs "buffers" "3 of 3" MACHINE=toy
cp $data/loops.mlir "$work/before.mlir"
runs "a function that is called in a loop" "1 of 1" MACHINE=clx4208
mlir-opt-19 --pass-pipeline="$(sed -n 's,^// lower: ,,p' $data/tosa.mlir)" $data/tosa.mlir -o "$work/before.mlir"
grep '^// run' $data/tosa.mlir >>"$work/before.mlir"
runs "what TOSA becomes" "2 of 2" MACHINE=toy
awk -v "to=$work/more" '/^\/\/ -----/ { n++ } { print >(to n + 0 ".mlir") }' $data/more.mlir
for module in "$work"/more?.mlir; do
    cp "$module" "$work/before.mlir"
    runs "$(sed -n 's,^ *// run: \([a-z]*\).*,\1,p' "$module")" "$(sed -n 's,^ *// sliced: ,,p' "$module")" MACHINE=toy UKR=avx2
done
for net in squeezenet:2400000 inception_v1:1300000 inception_v2:9000000 resnet50:13000000 bvlc_alexnet:110000000; do
    file=experiments/models/onnx/light_${net%:*}.onnx
    "${BUILD:-build}/onnx2layers" "$file" 2>/dev/null | awk -v "most=${net#*:}" -f experiments/emit/layers_to_mlir.awk |
        awk '/^\/\/ run/ && ++n > 2 { exit } { print }' >"$work/before.mlir"
    n=$(grep -c '^func' "$work/before.mlir")
    runs "the first small layers of $net" "$n of $n" MACHINE=zen3
done

echo "opt: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
