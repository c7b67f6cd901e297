#!/usr/bin/env bash
# cachesim as a user meets it: golden outputs, pipes, what it says to bad input, and the library that is installed with it.
# Run from the project's folder; CACHESIM is the program (default build/cachesim), BUILD its folder. GOLDEN=update rewrites
# the golden outputs. EMULATED says that CACHESIM is a program for another CPU.
set -u

BUILD=${BUILD:-build}
cachesim=${CACHESIM:-$BUILD/cachesim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

ok() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "cachesim: FAILED: $*" >&2
}

skip() {
    skipped=$((skipped + 1))
    echo "cachesim: skipped: $*"
}

check() { # check DESCRIPTION COMMAND...: the command succeeds
    local what=$1
    shift
    if "$@"; then ok; else bad "$what"; fi
}

# golden NAME ARGUMENTS...: the output is that of tests/golden/NAME
golden() {
    local name=$1
    shift
    "$cachesim" "$@" >"$work/out" 2>"$work/err" </dev/null
    check "$*: exit status $?: $(cat "$work/err")" [ $? -eq 0 ]
    [ "${GOLDEN:-}" != update ] || cp "$work/out" "tests/golden/$name"
    check "$*: differs from tests/golden/$name" diff -u "tests/golden/$name" "$work/out"
}

# refuses WORDS ARGUMENTS...: exit status 2, nothing on stdout, one line on stderr that holds WORDS
refuses() {
    local words=$1 status
    shift
    "$cachesim" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status, not 2" [ "$status" -eq 2 ]
    check "$*: wrote to stdout" [ ! -s "$work/out" ]
    check "$*: not one line: $(cat "$work/err")" [ "$(wc -l <"$work/err")" -eq 1 ]
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

goldens() {
    golden rows.table --machine toy --tags tests/golden/rows.text
    golden rows.csv --machine toy --tags --output csv tests/golden/rows.text
    golden rows.json --machine toy --tags --output json tests/golden/rows.text
    golden rows.mrc --mrc --tags --line 16 tests/golden/rows.text
    golden rows.reuse --reuse --tags tests/golden/rows.text
    golden rows.wss --wss 50 tests/golden/rows.text
    golden mix.table --machine toy tests/golden/mix.din
    golden mix_fetches.table --machine toy --fetches --din-bytes 2 tests/golden/mix.din
    golden mix_warm.csv --l1 512,2,32 --l2 2k,4,32 --passes 2 --warmup pass --flush --output csv tests/golden/mix.din
    golden full.table --machine tests/golden/full.cfg --tags tests/golden/rows.text
    golden full.csv --machine tests/golden/full.cfg --output csv --fetches tests/golden/mix.din
    golden full.json --machine tests/golden/full.cfg --output json tests/golden/mix.din
    golden mix_3c.json --machine toy --3c --output json tests/golden/mix.din
}

# counts ARGUMENTS...: the counts, without the lines that name the trace
counts() {
    "$cachesim" --output csv "$@" | grep -v '^#'
}

equal() { # equal DESCRIPTION FILE FILE
    check "$1" cmp -s "$2" "$3"
}

formats() {
    local f
    counts --machine toy --tags tests/golden/rows.text >"$work/rows"
    counts --machine toy tests/golden/mix.din >"$work/mix"
    for f in text binary; do
        check "converts to $f" "$cachesim" --convert $f "$work/rows.$f" tests/golden/rows.text
        counts --machine toy --tags "$work/rows.$f" >"$work/again"
        equal "$f keeps everything" "$work/rows" "$work/again"
    done
    for f in text binary din lackey; do
        check "converts to $f" "$cachesim" --convert $f "$work/mix.$f" tests/golden/mix.din
        counts --machine toy "$work/mix.$f" >"$work/again"
        equal "$f keeps the accesses" "$work/mix" "$work/again"
    done
    check "binary is compact" [ "$(wc -c <"$work/rows.binary")" -lt 200 ]
    gzip -c "$work/mix.binary" | gzip -dc | counts --machine toy --format binary - >"$work/again"
    equal "through a compressing pipe" "$work/mix" "$work/again"
    "$cachesim" --convert text - --format text - <tests/golden/rows.text | counts --machine toy --tags --format text - >"$work/again"
    equal "from pipe to pipe" "$work/rows" "$work/again"
}

metamorphic() {
    local once twice
    counts --machine toy --passes 2 tests/golden/mix.din >"$work/a"
    grep -v '^#' tests/golden/mix.din | cat - <(grep -v '^#' tests/golden/mix.din) >"$work/twice.din"
    counts --machine toy "$work/twice.din" >"$work/b"
    equal "two passes are the trace twice" "$work/a" "$work/b"
    counts --machine toy --warmup 271 "$work/twice.din" >"$work/a"
    counts --machine toy --passes 2 --warmup pass tests/golden/mix.din >"$work/b"
    equal "a pass of warm-up is as many accesses of warm-up" "$work/a" "$work/b"
    # A fully associative cache of 8 lines misses as the curve says at 8 lines, and the same holds after --convert.
    once=$("$cachesim" --mrc --line 64 tests/golden/mix.din | grep -v '^[#l]' | awk -F, '$1 <= 8 { m = $3 } END { print m }')
    twice=$(counts --l1 512,8,64 tests/golden/mix.din | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
        $3 == "L1" { print $c["read_misses"] + $c["write_misses"] }')
    check "the miss-ratio curve at 8 lines is $once, the cache misses $twice" [ "$once" = "$twice" ]
}

# as_dinero: tests/golden/dinero.csv, filled by this simulator
as_dinero() {
    local machine
    sed -n '/^#/p; /^machine/p' tests/golden/dinero.csv
    for machine in back through fifo; do
        counts --machine "tests/golden/dinero_$machine.cfg" tests/golden/dinero.din | awk -F, -v OFS=, -v machine=$machine '
            NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
            $3 ~ /^L/ { print machine, $3, $c["reads"], $c["read_misses"], $c["writes"], $c["write_misses"], $c["compulsory_misses"],
                $c["capacity_misses"], $c["conflict_misses"] }'
    done
}

dinero() {
    as_dinero >"$work/out"
    check "counts are those of Dinero IV" diff tests/golden/dinero.csv "$work/out"
}

estimate() {
    sed 's/^latency_cycles.*/&\nbandwidth_bytes_per_cycle = 8/; s/^memory_latency.*/&\nmemory_bandwidth_bytes_per_cycle = 2/' \
        sim/machines/toy.cfg >"$work/moves.cfg"
    "$cachesim" --machine "$work/moves.cfg" tests/golden/mix.din >"$work/out"
    # 95 lines of 64 bytes come from memory at 2 bytes per cycle; 251 + 138 move between L1 and L2 at 8: the slowest
    check "a bandwidth makes transfers" grep -qE '^memory +45 +4500 +3040$' "$work/out"
    check "the slowest transfer is named" grep -qx 'slowest_transfer_cycles 3112' "$work/out"
    "$cachesim" --l1 512,2,32 --output csv tests/golden/mix.din >"$work/out"
    check "no latencies, no estimate" [ "$(grep -c ',,,,$' "$work/out")" -eq 3 ]
    "$cachesim" --l1 512,2,32 tests/golden/mix.din >"$work/out"
    check "nor in the table" [ "$(grep -c estimate "$work/out")" -eq 0 ]
}

lackey() {
    if ! command -v valgrind >/dev/null; then
        skip "no valgrind: lackey traces of a real program"
        return
    fi
    valgrind --tool=lackey --trace-mem=yes /bin/true 2>&1 | "$cachesim" --machine clx4208 --format lackey - >"$work/out" 2>"$work/err"
    check "valgrind's trace: $(cat "$work/err")" [ "${PIPESTATUS[1]}" -eq 0 ]
    # shellcheck disable=SC2016  # that is awk's $3
    check "has accesses" awk '/^trace/ { exit !($3 > 10000) }' "$work/out"
    check "has fetches and valgrind's lines" grep -q 'instruction fetches, .* lines of valgrind' "$work/out"
}

bad_options() {
    refuses "cachesim: no trace is given"
    refuses "cachesim: unknown option; cachesim --help lists them, '--l9'" --l9 1k,1,64 a.din
    refuses "unknown option" --fast a.din
    refuses "--format: is missing" a.trc
    refuses "--format: its value is missing" a.trc --format
    refuses "--format: not din, lackey, text or binary, 'xml'" --format xml a.trc
    refuses "a second trace is given, 'b.din'" a.din b.din
    refuses "a.din, No such file or directory" --machine toy a.din
    refuses "unknown machine" --machine pdp11 tests/golden/mix.din
    refuses "no/such.cfg" --machine no/such.cfg tests/golden/mix.din
    refuses "--l1: size is not a multiple of ways * line, '1000,3,64'" --l1 1000,3,64 tests/golden/mix.din
    refuses "--l1: line is not a power of two" --l1 1k,2,48 tests/golden/mix.din
    refuses "--l1: bad number of ways" --l1 1k,0,64 tests/golden/mix.din
    refuses "--l1: not SIZE,WAYS,LINE" --l1 1k,2 tests/golden/mix.din
    refuses "--l1: not SIZE,WAYS,LINE" --l1 1k,2,64,lru,x tests/golden/mix.din
    refuses "policy" --l1 1k,2,64,best tests/golden/mix.din
    refuses "--l3: there is no level before it" --l1 1k,2,64 --l3 8k,2,64 tests/golden/mix.din
    refuses "--passes: not a number from 1, '0'" --passes 0 tests/golden/mix.din
    refuses "--passes: standard input can be read only once" --passes 2 --format din -
    refuses "--warmup: neither" --warmup -1 tests/golden/mix.din
    refuses "--warmup: needs --passes" --warmup pass tests/golden/mix.din
    refuses "--warmup, the trace has fewer accesses" --machine toy --warmup 272 tests/golden/mix.din
    refuses "--output: not table, csv or json" --output xml tests/golden/mix.din
    refuses "only one of" --mrc --reuse tests/golden/mix.din
    refuses "are for simulating a machine only" --mrc --flush tests/golden/mix.din
    refuses "--wss: not a number of accesses" --wss 0 tests/golden/mix.din
    refuses "--line: not a power of two" --mrc --line 48 tests/golden/mix.din
    refuses "--convert: not din" --convert xml out tests/golden/mix.din
    refuses "--convert: its value is missing" tests/golden/mix.din --convert din
}

bad_traces() {
    printf '0 10 4\n7 20 4\n' >"$work/bad.din"
    refuses "bad.din:2: wrong label" --machine toy "$work/bad.din"
    printf '0 10 4\n0 20 0\n' >"$work/bad.din"
    refuses "bad.din:2: access of no bytes, '0'" --machine toy "$work/bad.din"
    printf '0 fffffffffffffffff 4\n' >"$work/bad.din"
    refuses "bad.din:1: number of more than 64 bits" --mrc "$work/bad.din"
    printf '0 10 4\n0 2' >"$work/bad.din"
    refuses "bad.din:2: cut short" --reuse "$work/bad.din"
    : >"$work/bad.din"
    refuses "bad.din, no access in it" --machine toy "$work/bad.din"
    refuses "Is a directory" --machine toy --format din /
    "$cachesim" --convert binary "$work/t.binary" tests/golden/mix.din
    head -c 500 "$work/t.binary" >"$work/cut.binary"
    refuses "cut.binary:byte " --machine toy "$work/cut.binary"
    refuses "not a binary trace" --machine toy --format binary tests/golden/mix.din
    printf '[machine]\nname = x\n' >"$work/bad.cfg"
    refuses "bad.cfg:" --machine "$work/bad.cfg" tests/golden/mix.din
}

bad_output() {
    local status
    "$cachesim" --machine toy tests/golden/mix.din >/dev/full 2>"$work/err"
    status=$?
    check "full disk: exit status $status, not 1" [ $status -eq 1 ]
    check "full disk: says so" grep -q 'No space left' "$work/err"
    "$cachesim" --convert text /dev/full tests/golden/mix.din 2>"$work/err"
    status=$?
    check "converting to a full disk: exit status $status, not 1" [ $status -eq 1 ]
    check "converting to a full disk: says so" grep -q '/dev/full, No space left' "$work/err"
}

manual() {
    local option
    "$cachesim" --help >"$work/help"
    check "--help" [ $? -eq 0 ]
    sed 's/\\-/-/g' sim/cachesim.1 >"$work/manual"
    for option in $(grep -oE '^  --[a-z0-9-]+' "$work/help") --help; do
        check "the manual has $option" grep -qF -e "$option" "$work/manual"
    done
    if command -v groff >/dev/null; then
        check "the manual formats without warnings" [ -z "$(groff -ww -man -Tutf8 sim/cachesim.1 2>&1 >/dev/null)" ]
    else
        skip "no groff: the manual's formatting"
    fi
}

installation() {
    local root=$work/root header
    if [ -n "${SAN:-}${EMULATED:-}" ]; then
        skip "${EMULATED:-built with sanitizers}: the installed library"
        return
    fi
    check "make install" make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/x install
    check "the installed cachesim finds its machines" sh -c "cd / && '$root/opt/x/bin/cachesim' --machine toy '$PWD/tests/golden/mix.din' >/dev/null"
    for header in "$root"/opt/x/include/convsim/sim/*.h; do
        check "$(basename "$header") needs only what is installed" "${CC:-cc}" -std=c17 -fsyntax-only -x c -I"$root/opt/x/include/convsim" "$header"
    done
    if command -v pkg-config >/dev/null; then
        export PKG_CONFIG_PATH=$root/opt/x/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
        # shellcheck disable=SC2046  # flags are words
        check "the example builds with pkg-config" "${CC:-cc}" -o "$work/example" sim/example.c $(pkg-config --cflags --libs convsim)
        check "shared: it runs" sh -c "LD_LIBRARY_PATH='$root/opt/x/lib' '$work/example' >'$work/out'"
        check "and counts: $(cat "$work/out")" grep -q '^columns: 262144 loads, 262144 miss L1' "$work/out"
        # shellcheck disable=SC2046
        check "static: it builds" "${CC:-cc}" -o "$work/static" sim/example.c $(pkg-config --cflags convsim) "$root/opt/x/lib/libconvsim.a" -lhwloc -lm
        check "static: it runs" sh -c "'$work/static' | grep -q '^columns: 262144 loads, 262144 miss L1'"
    else
        skip "no pkg-config: the installed library"
    fi
    check "make uninstall" make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/x uninstall
    check "nothing is left" [ -z "$(find "$root" -type f -o -type l)" ]
}

goldens
formats
metamorphic
dinero
estimate
lackey
bad_options
bad_traces
bad_output
manual
installation
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
