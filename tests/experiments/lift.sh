#!/usr/bin/env bash
# The question lift as a user meets it: devices that refuse, run out of memory, hang, crash or compute wrong results (a
# fake OpenCL in the place of libOpenCL.so.1), slips, and a small run if there is an OpenCL device. Run from the
# project's folder; BUILD has the programs (default build).
set -u

program=${BUILD:-build}/lift
# shellcheck source=tests/check.bash
. tests/check.bash

cat >"$work/tiny.csv" <<END
name,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,dilation_w
a/one,4,6,6,8,3,3,1,1,1,1,1,1,1,1,1
same,4,6,6,8,3,3,1,1,1,1,1,1,1,1,1
END
tiny=("MODEL=$work/tiny.csv" 'LAYERS=*' POINTS=2 NEAR=1 MEMORY=0 STORE=no REPLAY=0)

runs() { # runs WORDS ARGUMENTS...: exit status 0, and the words, if any, are said
    rm -rf "$work/results"
    succeeds MORE=1 "${tiny[@]}" "${@:2}" COMMIT=test
    [ -z "$1" ] || says "$1" err
}

refuses "POINTS" POINTS=0
refuses "no layer" LAYERS=conv9_9

if "$program" "${tiny[@]}" DEVICE=999 "RESULTS=$work/results" 2>&1 >/dev/null </dev/null | grep -q "built without OpenCL's header"; then
    refuses "install opencl-headers, ocl-icd-libopencl1 and pocl-opencl-icd" "${tiny[@]}"
    finish "; built without OpenCL's header, so nothing was run"
    exit
fi

if "${CC:-cc}" -shared -fPIC -o "$work/libOpenCL.so.1" tests/data/fake_opencl.c 2>"$work/err"; then
    export LD_LIBRARY_PATH=$work
    FAKE_CL='no driver' refuses "OpenCL has no driver: install one, such as pocl-opencl-icd" "${tiny[@]}"
    FAKE_CL=none refuses "OpenCL has 1 devices, and no number 3" "${tiny[@]}" DEVICE=3
    FAKE_CL=small refuses "a buffer has at most 1000" "${tiny[@]}"
    FAKE_CL=none refuses "'speed' is no parameter" "${tiny[@]}" ONLY=speed=2
    FAKE_CL=none refuses "no point fulfils all constraints" "${tiny[@]}" ONLY=tile=5,windows=4
    FAKE_CL=none refuses "without this one some would: the memory: all buffers" "${tiny[@]}" MEMORY=105
    FAKE_CL=refuse runs "the device refuses it: line 7: error: no such register (OpenCL error -11)"
    FAKE_CL=memory runs "the device has no memory for it: input (OpenCL error -4)"
    FAKE_CL=group runs "the device refuses it: pad (OpenCL error -54)"
    FAKE_CL=crash runs "the process ended: Aborted"
    FAKE_CL=hang runs "it took longer than it may: 1 s" LIMIT=1
    FAKE_CL=none runs "another output than the reference: element "
    results=$work/results/host/lift
    check "equal layers are one" [ "$(grep -c '^a/one,' "$results/points.csv")" -eq 2 ]
    check "the reason stands in the table" grep -q ': another output than the reference' "$results/points.csv"
    check "the verdict says so" grep -q '^2 points of 1 layers were drawn, none refused by the constraints; 0 ran' "$results/verdict.txt"
    unset LD_LIBRARY_PATH
fi

"$program" "${tiny[@]}" DEVICE=999 "RESULTS=$work/results" >"$work/out" 2>"$work/err" </dev/null
if grep -q 'install' "$work/err"; then
    echo "lift: there is no OpenCL device: $(cat "$work/err")"
else
    rm -rf "$work/results"
    tiny=("MODEL=$work/tiny.csv" 'LAYERS=*' POINTS=1 NEAR=1 MEMORY=0 "STORE=$work/store" LIMIT=300)
    runs "" "ONLY=joined=1,lanes=4,kernels=4,vector=4"
    results=$work/results/host/lift
    has_files "$results" layers.csv points.csv numbers.csv memory.csv replay.csv ranks.csv verdict.txt report.html a_one.cl
    check "all ran" grep -q '2 ran, and all their outputs are right' "$results/verdict.txt"
    check "all 36 published numbers are there" [ "$(grep -vc '^#' "$results/numbers.csv")" -eq 37 ]
    check "the text is of the best point" grep -q '^__kernel .* void convolve(' "$results/a_one.cl"
    runs "" "ONLY=joined=1,lanes=4,kernels=4,vector=4"
    "${BUILD:-build}/experiment" MORE=1 "MODEL=$work/tiny.csv" LAYERS=a/one ALGO=base,kernels/plugin/lift.c "PLUGIN_PLAN=$results" \
        REPS=1 OBSERVE=0 STORE=no "RESULTS=$work/plugin" >"$work/out" 2>"$work/err" </dev/null
    check "the plug-in's values are not right: $(grep 'LIFT' "$work/out") $(tail -1 "$work/err")" \
        grep -q "a part of the plug-in's code runs unseen" "$work/out"
    printf 'wide,1,1,9,4,1,3,1,1,0,0,0,0,1,1,1\n' >>"$work/tiny.csv"
    runs "" "ONLY=joined=1,lanes=4,kernels=4,vector=4"
    check "a layer without points is not named" grep -q '^wide: no point fulfils all constraints' "$results/verdict.txt"
    check "it stops the others" grep -q '2 ran, and all their outputs are right' "$results/verdict.txt"
    succeeds "${tiny[@]}" "ONLY=joined=1,lanes=4,kernels=4,vector=4" LAYERS=a/one
    check "the screen has the answer: $(cat "$work/out")" grep -q "^The best point is [0-9.]* times as fast as im2col + OpenBLAS with [0-9]* % of the GEMM's memory" "$work/out"
    runs "" "ONLY=joined=1,lanes=4,kernels=4,vector=4" LAYERS=a/one
    check "nothing is run twice: $(grep store "$work/out")" grep -q '^2 points were in the store' "$work/out"
fi

finish
