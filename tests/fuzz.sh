#!/bin/sh
# The fuzzers of the parsers. Run from the project's folder.
#   fuzz.sh check COMPILER                 names the missing parts if the compiler cannot link libFuzzer
#   fuzz.sh run BUILD SECONDS TARGET...    runs each target for SECONDS on the inputs found before and on tests/corpus
set -eu
. .ci/signals

case $1 in
check)
    echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
        "$2" -x c - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null ||
        { echo "fuzz: $2 cannot link libFuzzer; on Debian 12: apt-get install clang libclang-rt-14-dev" >&2 && exit 1; }
    ;;
run)
    corpus=$PWD/tests/corpus
    seconds=$3
    cd "$2"
    shift 3
    for target; do
        echo "  FUZZ    $target, $seconds s"
        mkdir -p "found_$target"
        waited "./fuzz_$target" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 "found_$target" "$corpus/$target" >"$target.log" 2>&1 ||
            { tail -n 30 "$target.log" >&2 && exit 1; }
        grep -h 'Done\|number_of_executed_units' "$target.log"
    done
    ;;
esac
