#!/usr/bin/env bash
# cachesim as a user meets it: golden outputs, pipes, messages to bad input, and the installed library. Run from the
# project's folder; CACHESIM is the program (default build/cachesim), BUILD its folder. GOLDEN=update rewrites the
# golden outputs. EMULATED: CACHESIM is a program for another CPU. Arguments: the parts to run, functions of this file
# (default: all).
set -u

BUILD=${BUILD:-build}
cachesim=${CACHESIM:-$BUILD/cachesim}
program=$cachesim
# shellcheck source=tests/check.bash
. tests/check.bash
skipped=0

skip() {
    skipped=$((skipped + 1))
    echo "cachesim: skipped: $*"
}

# golden NAME ARGUMENTS...: the output equals tests/golden/NAME
golden() {
    local name=$1
    shift
    "$cachesim" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status: $(cat "$work/err")" [ "$status" -eq 0 ]
    [ "${GOLDEN:-}" != update ] || cp "$work/out" "tests/golden/$name"
    check "$*: differs from tests/golden/$name" diff -u "tests/golden/$name" "$work/out"
}

# refuses WORDS ARGUMENTS...: exit status 2, nothing on stdout, one line on stderr that holds WORDS
refuses() {
    fails_with 2 "$1" "$cachesim" "${@:2}"
    check "$*: wrote to stdout" [ ! -s "$work/out" ]
}

goldens() {
    golden rows.table --more --machine toy --tags tests/golden/rows.text
    golden rows.csv --machine toy --tags --output csv tests/golden/rows.text
    golden rows.json --machine toy --tags --output json tests/golden/rows.text
    golden rows.mrc --mrc --tags --line 16 tests/golden/rows.text
    golden rows.reuse --reuse --tags tests/golden/rows.text
    golden rows.wss --wss 50 tests/golden/rows.text
    golden mix.table --output table --machine toy tests/golden/mix.din
    golden mix_fetches.table --more --machine toy --fetches --din-bytes 2 tests/golden/mix.din
    golden mix_warm.csv --l1 512,2,32 --l2 2k,4,32 --passes 2 --warmup pass --flush --output csv tests/golden/mix.din
    golden full.table --more --machine tests/golden/full.cfg --tags tests/golden/rows.text
    golden rows.short --machine toy --tags tests/golden/rows.text
    golden mix_3c.short --machine toy --3c tests/golden/mix.din
    golden full.short --machine tests/golden/full.cfg --fetches tests/golden/mix.din
    golden full.csv --machine tests/golden/full.cfg --output csv --fetches tests/golden/mix.din
    golden full.json --machine tests/golden/full.cfg --output json tests/golden/mix.din
    golden mix_3c.json --machine toy --3c --output=json tests/golden/mix.din
    golden rows_mrc.json --mrc --tags --line=16 --output=json tests/golden/rows.text
    golden rows_reuse.json --reuse --output json tests/golden/rows.text
    golden rows_wss.json --wss 50 --output json tests/golden/rows.text
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
    # A fully associative cache of 8 lines misses as the curve says at 8 lines, before and after --convert.
    once=$("$cachesim" --mrc --line 64 tests/golden/mix.din >"$work/curve" && columns "$work/curve" lines misses | awk '$1 <= 8 { misses = $2 } END { print misses }')
    counts --l1 512,8,64 tests/golden/mix.din >"$work/out"
    twice=$(columns "$work/out" place read_misses write_misses | awk '$1 == "L1" { print $2 + $3 }')
    check "the miss-ratio curve at 8 lines is $once, the cache misses $twice" [ "$once" = "$twice" ]
}

# as_dinero: tests/golden/dinero.csv, filled by this simulator
as_dinero() {
    local machine
    sed -n '/^#/p; /^machine/p' tests/golden/dinero.csv
    for machine in back through fifo; do
        counts --machine "tests/golden/dinero_$machine.cfg" tests/golden/dinero.din >"$work/counts"
        columns "$work/counts" place reads read_misses writes write_misses compulsory_misses capacity_misses conflict_misses |
            awk -v OFS=, -v machine=$machine '$1 ~ /^L/ { for (i = 1; i <= NF; i++) if ($i == "-") $i = ""; $1 = $1; print machine, $0 }'
    done
}

dinero() {
    as_dinero >"$work/out"
    check "counts are those of Dinero IV" diff tests/golden/dinero.csv "$work/out"
}

estimate() {
    sed 's/^latency_cycles.*/&\nbandwidth_bytes_per_cycle = 8/; s/^memory_latency.*/&\nmemory_bandwidth_bytes_per_cycle = 2/' \
        sim/machines/toy.cfg >"$work/moves.cfg"
    "$cachesim" --more --machine "$work/moves.cfg" tests/golden/mix.din >"$work/out"
    # 95 lines of 64 bytes come from memory at 2 bytes per cycle; 251 + 138 move between L1 and L2 at 8: the slowest
    check "a bandwidth makes transfers" grep -qE '^memory +45 +4500 +95 +9500 +3040$' "$work/out"
    check "the slowest transfer is named" grep -qx 'slowest_transfer_cycles 3112' "$work/out"
    "$cachesim" --l1 512,2,32 --output csv tests/golden/mix.din >"$work/out"
    check "no latencies, no estimate" [ "$(grep -c ',,,,,,,$' "$work/out")" -eq 3 ]
    "$cachesim" --more --l1 512,2,32 tests/golden/mix.din >"$work/out"
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

# json_of EXPRESSION ARGUMENTS...: the output is JSON, and the EXPRESSION of the JSON (d) is true
json_of() {
    local expression=$1
    shift
    "$cachesim" --output=json "$@" >"$work/out" 2>"$work/err"
    check "$*: JSON with $expression: $(cat "$work/err")" \
        python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($expression))" "$work/out"
}

json() {
    if ! command -v python3 >/dev/null; then
        skip "no python3: what reads JSON"
        return
    fi
    json_of "d['total']['core']['loads'] == 128 and 'cells' not in d" --machine toy tests/golden/rows.text
    json_of "d['total']['core']['loads'] == 128 == sum(c['core']['loads'] for c in d['cells']) and len(d['cells']) == 4" \
        --machine toy --tags tests/golden/rows.text
    json_of "d['cells'] == [] and d['total']['L1']['reads'] == 0" --l1 1k,2,64 --passes 2 --warmup 542 --tags tests/golden/mix.din
    json_of "sum(r['uses'] for r in d['rows']) == 144 and d['rows'][-1]['distance'] == 'cold'" --reuse tests/golden/rows.text
    json_of "d['analysis'] == 'mrc' and d['rows'][0]['misses'] == 144 and d['rows'][0]['miss_ratio'] == 1" --mrc tests/golden/rows.text
    json_of "[r['end'] for r in d['rows']] == [50, 100, 144] and 'lines_tag7' in d['rows'][0]" --wss 50 --tags tests/golden/rows.text
    cp tests/golden/mix.din "$work/a \"quoted\" \\ name.din"
    json_of "d['trace']['name'].endswith('a \"quoted\" \\\\ name.din')" --machine toy "$work/a \"quoted\" \\ name.din"
}

questions() {
    local option
    for option in --version --help -h; do
        check "$option answers, whatever else is asked" sh -c "'$cachesim' --mrc $option --no-such-option >'$work/$option'"
    done
    check "--version says it" grep -qx "cachesim $(sed -n 's/^VERSION := //p' Makefile)" "$work/--version"
    equal "-h is --help" "$work/-h" "$work/--help"
    "$cachesim" --machine=toy --output=csv -- tests/golden/mix.din | grep -v '^#' >"$work/a"
    counts --machine toy tests/golden/mix.din >"$work/b"
    equal "a value after '=' is one" "$work/a" "$work/b"
}

# A transpose of 64 x 64 floats in blocks of $1: rows are read, columns written.
transpose() {
    awk -v b="$1" 'BEGIN {
        for (I = 0; I < 64; I += b) for (J = 0; J < 64; J += b)
            for (i = I; i < I + b; i++) for (j = J; j < J + b; j++)
                printf "0 %x 4\n1 %x 4\n", 65536 + (i * 64 + j) * 4, 131072 + (j * 64 + i) * 4 }'
}

# is PLACE COLUMN VALUE: in the CSV report $work/out
is() {
    local value
    value=$(columns "$work/out" place "$2" | awk -v place="$1" '$1 == place { print $2 }')
    check "$1 $2 is $value, not $3" [ "$value" = "$3" ]
}

# L1's 64 lines hold a block's 32 lines, but not a column's 64 and the row's. Loads miss alike.
stores() {
    transpose 64 >"$work/plain.din"
    transpose 16 >"$work/blocked.din"
    "$cachesim" --machine toy --l1 4k,64,64 --output csv "$work/plain.din" >"$work/out"
    is L1 load_miss_percent 6.25
    is L1 read_miss_percent 6.25
    is L1 write_miss_percent 100
    is L1 miss_percent 53.125
    is core sconv_eq6_cycles 25600
    is core eq6_lines_cycles 70400 # 512 lines from memory; the others' last write-back left them in L2
    "$cachesim" --machine toy --l1 4k,64,64 --output csv "$work/blocked.din" >"$work/out"
    is L1 load_miss_percent 6.25
    is L1 write_miss_percent 6.25
    is L1 miss_percent 6.25
    is core sconv_eq6_cycles 25600
    is core eq6_lines_cycles 51200
}

# A level has the machine's name of the level in every output.
names() {
    local format
    sed 's/\[cache L3\]/[cache SLC]/' sim/machines/toy.cfg >"$work/slc.cfg"
    for format in table csv json; do
        "$cachesim" --machine "$work/slc.cfg" --output $format tests/golden/mix.din >"$work/out"
        check "$format names the SLC" grep -q SLC "$work/out"
        check "$format knows no L3" [ "$(grep -c L3 "$work/out")" -eq 0 ]
    done
    sed 's/^name = .*/name = ..\/x/' sim/machines/toy.cfg >"$work/bad.cfg"
    refuses "bad.cfg:4: a machine's name has letters" --machine "$work/bad.cfg" tests/golden/mix.din
}

# unchanged FILE N: FILE is the old trace, and the folder holds N files
unchanged() {
    local dir=${1%/*}
    equal "$1 is as it was" "$1" tests/golden/mix.din
    check "$dir holds $(ls -A "$dir"), not $2 files" [ "$(find "$dir" -mindepth 1 | wc -l)" -eq "$2" ]
}

# fails_to_convert WORDS ARGUMENTS...: exit status 1, one line on stderr that holds WORDS
fails_to_convert() {
    local words=$1 status
    shift
    "$cachesim" --convert "$@" 2>"$work/err"
    status=$?
    check "--convert $*: exit status $status, not 1" [ $status -eq 1 ]
    check "--convert $*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

# A converted trace is whole, or the old file stays; the source trace is never touched.
whole_or_not() {
    local dir=$work/whole name format
    mkdir "$dir"
    cp tests/golden/mix.din "$dir/x.din"
    ln -s x.din "$dir/link.din"
    ln "$dir/x.din" "$dir/hard.din"
    for name in x link hard; do
        fails_to_convert "$name.din, this is the trace itself" din "$dir/$name.din" "$dir/x.din"
        fails_to_convert "x.din, this is the trace itself" din "$dir/x.din" "$dir/$name.din"
        unchanged "$dir/x.din" 3
    done
    # shellcheck disable=SC2094  # that is the mistake
    fails_to_convert "this is the trace itself" text "$dir/x.din" --format din - <"$dir/x.din"
    # shellcheck disable=SC2094
    fails_to_convert "stdout, this is the trace itself" text - "$dir/x.din" >>"$dir/x.din"
    unchanged "$dir/x.din" 3
    { cat tests/golden/mix.din && echo "7 20 4"; } >"$work/bad.din"
    for format in text din lackey binary; do
        refuses "wrong label" --convert $format "$dir/new" "$work/bad.din"
        unchanged "$dir/x.din" 3
        refuses "wrong label" --convert $format "$dir/x.din" "$work/bad.din"
        unchanged "$dir/x.din" 3
    done
    (trap '' XFSZ && ulimit -f 1 && exec "$cachesim" --passes 20 --convert text "$dir/x.din" tests/golden/mix.din) 2>"$work/err"
    check "no file may grow: $(cat "$work/err")" grep -q "File too large" "$work/err"
    unchanged "$dir/x.din" 3
    chmod 640 "$dir/x.din"
    check "converts through a link" "$cachesim" --convert text "$dir/link.din" tests/golden/mix.din
    check "the link stays" [ -L "$dir/link.din" ]
    check "permissions stay" [ "$(stat -c %a "$dir/x.din")" = 640 ]
    check "what it leads to is the new trace" grep -q '^L ' "$dir/x.din"
    (umask 027 && "$cachesim" --convert text "$dir/new" tests/golden/mix.din)
    check "a new file has the usual permissions" [ "$(stat -c %a "$dir/new")" = 640 ]
    check "a device is written as it is" "$cachesim" --convert text /dev/null tests/golden/mix.din
    check "and stays one" [ -c /dev/null ]
}

# A trace of a hundred runs of 4,000,000,000 accesses: few bytes, minutes of work.
long_trace() {
    printf '\x89CST\r\n\x1a\n\x01\0\0\0\0\0\0\0'
    printf '\x18\x04\0\xff\xcf\xac\xf3\x0e\x10'
    for _ in $(seq 2 100); do printf '\x10\0\xff\xcf\xac\xf3\x0e\x10'; done
    printf '\x80\x80\xc0\xee\x8e\xd2\x0b'
}

# has_signal PID FIELD SIGNAL: waits until the process is cachesim, and cachesim catches (SigCgt) or ignores (SigIgn) the signal
has_signal() {
    local bit=$((1 << ($(kill -l "$3") - 1))) mask
    for _ in $(seq 600); do
        mask=$(awk -v field="$2:" '$1 == "Name:" { name = $2 } $1 == field && name == "cachesim" { print $2 }' "/proc/$1/status" 2>/dev/null)
        [ $((0x${mask:-0} & bit)) -eq 0 ] || return 0
        sleep 0.1
    done
    return 1
}

# ends_by SIGNAL STATUS ARGUMENTS...: cachesim is ended by the signal within a second, whatever the caller ignores
ends_by() {
    local signal=$1 status=$2 pid start
    shift 2
    env --default-signal=INT,TERM,HUP "$cachesim" "$@" >"$work/out" 2>"$work/err" &
    pid=$!
    check "$*: $signal has a handler" has_signal $pid SigCgt "$signal"
    sleep 0.2
    start=$(date +%s%N)
    kill -s "$signal" $pid
    { gone $pid; wait $pid; } 2>/dev/null
    check "$*: exit status $? after $signal" [ $? -eq "$status" ]
    check "$*: $signal takes too long" [ $(($(date +%s%N) - start)) -lt 1000000000 ]
}

signals() {
    local dir=$work/signals arguments
    if [ -n "${EMULATED:-}" ]; then
        skip "$EMULATED: signals"
        return
    fi
    mkdir "$dir"
    long_trace >"$work/long.binary"
    mkfifo "$work/fifo.din"
    ends_by TERM 143 --machine toy "$work/long.binary"
    for arguments in "--machine toy" --mrc --reuse "--wss 100000000" "--machine toy --vary L1.ways=1,2" "--machine toy --output csv"; do
        # shellcheck disable=SC2086  # arguments are words
        ends_by INT 130 $arguments "$work/long.binary"
        check "$arguments: the counts so far are said to be partial: $(tail -1 "$work/out")" grep -q "interrupted: these counts are partial$" "$work/out"
        check "$arguments: and that it was interrupted: $(cat "$work/err")" grep -q "long.binary: interrupted after [0-9]* accesses" "$work/err"
    done
    for arguments in "--machine toy" --mrc; do
        # shellcheck disable=SC2086
        ends_by INT 130 $arguments --output json "$work/long.binary"
        check "$arguments: JSON says so" grep -q '"partial": true' "$work/out"
    done
    ends_by INT 130 --machine toy --warmup 390000000000 "$work/long.binary"
    check "no counts of a warm-up: $(cat "$work/err")" grep -q "interrupted before anything was counted" "$work/err"
    check "... at all" [ ! -s "$work/out" ]
    ends_by HUP 129 --machine toy "$work/fifo.din"
    ends_by INT 130 --convert text "$dir/out" "$work/long.binary"
    ends_by HUP 129 --convert din "$dir/out" "$work/long.binary"
    check "half traces are removed: $(ls -A "$dir")" [ -z "$(ls -A "$dir")" ]
    (trap '' HUP && exec "$cachesim" --mrc "$work/fifo.din" >"$work/out") &
    check "a signal that the caller ignores is ignored" has_signal $! SigIgn HUP
    kill -s HUP $!
    cat tests/golden/mix.din >"$work/fifo.din"
    check "an ignored signal stays ignored" wait $!
    (sleep 0.2 && env --default-signal=PIPE "$cachesim" --machine toy tests/golden/mix.din) | true
    check "a reader that went away: exit status ${PIPESTATUS[0]}, not 141" [ "${PIPESTATUS[0]}" -eq 141 ]
    (trap '' PIPE && sleep 0.2 && "$cachesim" --mrc tests/golden/mix.din 2>"$work/err") | true
    check "SIGPIPE ignored: exit status ${PIPESTATUS[0]}, not 1" [ "${PIPESTATUS[0]}" -eq 1 ]
    check "and says so: $(cat "$work/err")" grep -q 'cannot write, Broken pipe' "$work/err"
}

# until_it_speaks FILE ARG...: runs cachesim until there is a message in FILE; half a minute is enough on a busy
# computer.
until_it_speaks() {
    local file=$1 pid

    shift
    "$cachesim" "$@" 2>"$file" &
    pid=$!
    for _ in $(seq 300); do
        [ ! -s "$file" ] || break
        sleep 0.1
    done
    kill "$pid"
    wait "$pid" || true
}

# Compressed files are unpacked by their programs, under any name.
compressed() {
    local packer
    counts --machine toy tests/golden/mix.din >"$work/mix"
    for packer in gzip:gz zstd:zst xz:xz bzip2:bz2 lz4:lz4; do
        if ! command -v "${packer%:*}" >/dev/null; then
            skip "no ${packer%:*}: files that end in .${packer#*:}"
            continue
        fi
        "${packer%:*}" -c tests/golden/mix.din >"$work/mix.din.${packer#*:}"
        counts --machine toy "$work/mix.din.${packer#*:}" >"$work/again"
        equal "${packer%:*} is unpacked" "$work/mix" "$work/again"
        counts --machine toy --format din - <"$work/mix.din.${packer#*:}" >"$work/again"
        equal "${packer%:*} is unpacked from standard input" "$work/mix" "$work/again"
        # shellcheck disable=SC2002  # out of a pipe
        cat "$work/mix.din.${packer#*:}" | counts --machine toy --format din - >"$work/again"
        equal "${packer%:*} is unpacked out of a pipe" "$work/mix" "$work/again"
        cp "$work/mix.din.${packer#*:}" "$work/plain"
        counts --machine toy --passes 2 --format din "$work/plain" >"$work/again"
        counts --machine toy --passes 2 tests/golden/mix.din >"$work/twice"
        equal "${packer%:*} is told by its bytes, twice" "$work/twice" "$work/again"
        head -c 100 "$work/plain" >"$work/cut.din"
        refuses "cachesim: $work/cut.din, ${packer%:*} cannot unpack it" --machine toy "$work/cut.din"
        { cat tests/golden/mix.din && echo junk && cat tests/golden/mix.din; } | "${packer%:*}" -c >"$work/bad.din"
        (trap '' PIPE && refuses "wrong label" --machine toy "$work/bad.din"; echo "$failed" >"$work/failed")
        failed=$(cat "$work/failed")
        tar cf - -C tests/golden mix.din | "${packer%:*}" -c >"$work/tar.din"
        refuses "no trace of format din: it is an archive of tar (tar -xO unpacks it)" --machine toy "$work/tar.din"
    done
}

# Foreign files are refused by the name of their kind. Traces and other input files with bytes of other systems and
# editors are read, or refused by name.
foreign() {
    local f
    printf 'PK\3\4junk\n' >"$work/t.din"
    refuses "t.din:1: no trace of format din: it is a zip archive (unzip -p unpacks it)" --machine toy "$work/t.din"
    refuses "a program is no trace: cachesim run -- PROGRAM traces a program, '$cachesim'" --machine toy "$cachesim"
    refuses "t.din:byte 0: not a binary trace: it is a zip archive" --machine toy --format binary "$work/t.din"
    printf '<!doctype html>\n' >"$work/t.din"
    refuses "it is a page of HTML" --mrc "$work/t.din"
    printf ' L 10,4\nhello\n L 20,4\n' >"$work/t.lackey"
    refuses "t.lackey:2: neither an access (I, L, S or M) nor a line of Valgrind's own" --machine toy "$work/t.lackey"
    for f in 's/$/\r/' '1s/^/\xef\xbb\xbf/'; do
        sed "$f" tests/golden/mix.din >"$work/t.din"
        equal "a trace changed by $f" <(counts --machine toy "$work/t.din") <(counts --machine toy tests/golden/mix.din)
        sed "$f" sim/machines/toy.cfg >"$work/t.cfg"
        equal "a machine changed by $f" <(counts --machine "$work/t.cfg" tests/golden/mix.din) <(counts --machine toy tests/golden/mix.din)
        printf 'a 0 +0x1000000\n' | sed "$f" >"$work/ranges"
        check "ranges changed by $f" [ "$(counts --machine toy --ranges "$work/ranges" tests/golden/mix.din | grep -c '^1,0,core')" -eq 1 ]
    done
    tr '\n' '\r' <sim/machines/toy.cfg >"$work/t.cfg"
    equal "a machine with line ends of old Macs" <(counts --machine "$work/t.cfg" tests/golden/mix.din) <(counts --machine toy tests/golden/mix.din)
    printf '\xff\xfe[\0' >"$work/t.cfg"
    refuses "t.cfg:1: no machine file: it is, 'text in UTF-16" --machine "$work/t.cfg" tests/golden/mix.din
    sed 's/^ways =/ways\xc2\xa0=/' sim/machines/toy.cfg >"$work/t.cfg"
    refuses "t.cfg:10: a non-breaking blank" --machine "$work/t.cfg" tests/golden/mix.din
    for f in 'a 0010 0020' 'a 00000000404040 +8' 'a 0 010' 'a 0 10\0 x' 'a\xc2\xa00 10' 'a 0 10\rb 20 30' '\033x 0 10' 'a -1 10' 'a 0 +-1'; do
        # shellcheck disable=SC2059  # these are formats
        printf "$f\n" >"$work/ranges"
        refuses "ranges:1: " --machine toy --ranges "$work/ranges" tests/golden/mix.din
    done
    f=$work/$(printf 'a\377\n.din')
    cp tests/golden/mix.din "$f"
    check "a name with a newline is one line" [ "$("$cachesim" --machine toy "$f" | LC_ALL=C grep -ac '^trace.*271 accesses')" -eq 1 ]
    refuses "No such file" --machine toy "$f.din"
    ! command -v python3 >/dev/null || json_of "d['trace']['name'].endswith('a\\ufffd\\n.din')" --machine toy "$f"
}

# Input files are not overwritten, no file is written twice, and a file that cannot be written is refused at the start.
no_harm() {
    local option status
    cp tests/golden/mix.din "$work/x.din"
    cp sim/machines/toy.cfg "$work/x.cfg"
    for option in --annotate --callgrind --timeline; do
        for f in x.din x.cfg; do
            "$cachesim" --machine "$work/x.cfg" $option "$work/$f" "$work/x.din" >"$work/out" 2>"$work/err"
            status=$?
            check "$option $f: exit status $status" [ $status -eq 1 ]
            check "$option $f: $(cat "$work/err")" grep -q "$f, this file is read, too" "$work/err"
        done
    done
    equal "the trace is as it was" "$work/x.din" tests/golden/mix.din
    refuses "two files of this name are to be written" --machine toy --annotate "$work/y" --timeline "$work/y" "$work/x.din"
    refuses "--annotate: the file has no name" --annotate '' "$work/x.din"
    "$cachesim" --machine toy --annotate "$work/no/such" "$work/x.din" >"$work/out" 2>"$work/err"
    check "no folder: nothing is simulated: $(cat "$work/err")" [ ! -s "$work/out" ]
    for option in '--machine toy --mrc' '--line 64 --machine toy' '--l1 1k,2,64 --reuse' '--machine toy --output csv --convert din -'; do
        # shellcheck disable=SC2086
        "$cachesim" $option "$work/x.din" 2>&1 >/dev/null | grep -q 'does nothing here' || bad "$option: nothing is said"
    done
    if [ -n "${EMULATED:-}" ]; then
        skip "$EMULATED: closed standard descriptors, which the emulator itself takes"
        return
    fi
    "$cachesim" --machine toy "$work/x.din" 2>"$work/err" >&-
    check "standard output closed: exit status $?" [ $? -eq 1 ]
    "$cachesim" --convert text "$work/y" "$work/x.din" <&- >&- 2>&-
    equal "all closed: a file is whole" "$work/y" <("$cachesim" --convert text - "$work/x.din")
}

# place FILE TAG COLUMN: a count at the core, of a CSV file
place() {
    awk -F, -v tag="$2" -v column="$3" '/^#/ { next } !n { while (++n <= NF) name[$n] = n; next }
        $1 == tag && $3 == "core" { sum += $name[column] } END { print sum + 0 }' "$1"
}

ranges() {
    printf '# name begin end\nmatrix 0x10000 +0x100\nsums 0x20000 0x20008 # one\nmatrix 0x10100 0x10200\n' >"$work/ranges"
    "$cachesim" --machine toy --output csv --ranges "$work/ranges" tests/golden/rows.text >"$work/out"
    check "names are told" [ "$(grep -c -e '^# tag 0: elsewhere' -e '^# tag 1: matrix' -e '^# tag 2: sums' "$work/out")" -eq 3 ]
    check "the matrix has all of tag 0's loads" [ "$(place "$work/out" 1 loads)" -eq 128 ]
    printf 'half 0x10000 0x10100\n' >"$work/ranges"
    "$cachesim" --machine toy --output csv --ranges "$work/ranges" tests/golden/rows.text >"$work/out"
    check "half of the rows have half of the loads" [ "$(place "$work/out" 1 loads)" -eq 64 ]
    "$cachesim" --more --machine toy --ranges "$work/ranges" tests/golden/rows.text >"$work/table"
    check "a table ends with a row for each name" sh -c "tail -1 '$work/table' | grep -qE '^half +64 +0 '"
    check "... and what is elsewhere is the rest" [ "$(place "$work/out" 0 loads)" -eq 64 ]
    # A run of 1000 accesses downwards, over two borders, against the accesses one by one.
    "$cachesim" --convert binary "$work/down.binary" --format text - \
        < <(for ((a = 1000; a > 0; a--)); do printf 'L %x 4 0 0\n' $((a * 8)); done)
    printf 'low 0 1000\nhigh 4000 5001\n' >"$work/ranges"
    "$cachesim" --machine toy --output csv --ranges "$work/ranges" "$work/down.binary" >"$work/out"
    check "a run is cut at the borders" [ "$(place "$work/out" 1 loads) $(place "$work/out" 2 loads)" = "124 126" ]
    check "JSON has the names" "$cachesim" --machine toy --output json --fetches --ranges "$work/ranges" tests/golden/mix.din >"$work/out"
    check "... of instructions too" grep -q '"tag": 7, "name": "instructions"' "$work/out"
}

# The most ranges: each range counts as it counts alone, write-backs too, and the sum of the ranges is the whole.
many_ranges() {
    local i counts='loads|stores|.*miss|write_backs|memory_'
    awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) printf "%s %x 4 0 0\n", rand() < 0.4 ? "S" : "L", int(rand() * 65536) * 4 }' >"$work/many.text"
    awk 'BEGIN { for (i = 0; i < 62; i++) printf "r%d %d +4096\n", i, i * 4096 }' >"$work/ranges"
    "$cachesim" --machine toy --output csv --ranges "$work/ranges" "$work/many.text" >"$work/many" 2>"$work/err"
    check "62 ranges: $(cat "$work/err")" [ "$(grep -c '^# tag' "$work/many")" -eq 63 ]
    for i in 0 5 6 40 61; do
        grep "^r$i " "$work/ranges" >"$work/one"
        "$cachesim" --machine toy --output csv --ranges "$work/one" "$work/many.text" >"$work/out"
        check "range r$i counts alike alone" cmp -s <(rows "$work/out" 1) <(rows "$work/many" $((i + (i < 6 ? 1 : 2))))
    done
    check "all ranges make the sum" awk -F, '
        /^tag/ { for (k = 1; k <= NF; k++) if ($k ~ /^('"$counts"')/ && $k !~ /percent/) counted[k] = 1 }
        /^[0-9a-z]+,/ && !/^tag/ { for (k in counted) $1 == "all" ? all[$3, k] += $k : sum[$3, k] += $k }
        END { for (i in all) { if (all[i] != sum[i]) exit 1; n += all[i] > 0 }; exit n < 10 }' "$work/many"
    refuses 'a trace that is written has room for 6 names' --ranges "$work/ranges" --convert text "$work/x" "$work/many.text"
}

# The rows of a tag, without its number.
rows() {
    grep "^$2," "$1" | cut -d, -f2-
}

# Each row of --vary equals the machine alone.
vary() {
    local size ways extra
    for extra in '' '--passes 3 --warmup pass --flush' '--warmup 100'; do
        # shellcheck disable=SC2086
        "$cachesim" --machine toy $extra --vary 'L1.size=512,1K,2K L2.ways=2,4' tests/golden/mix.din >"$work/vary" 2>"$work/err"
        check "rows of six machines: $(cat "$work/err")" [ "$(grep -vc '^#' "$work/vary")" -eq 7 ]
        for size in 512 1K 2K; do
            for ways in 2 4; do
                # shellcheck disable=SC2086
                counts --l1 ${size/K/k},2,64 --l2 4k,$ways,64 --l3 16k,4,64 $extra tests/golden/mix.din |
                    awk -F, '!n { while (++n <= NF) name[$n] = n; next }
                        $3 ~ /^L/ { printf "%d,%d,", $name["load_misses"], $name["read_misses"] + $name["write_misses"] }
                        $3 == "memory" { print $name["memory_read_lines"] "," $name["memory_written_lines"] }' >"$work/alone"
                check "$size, $ways ways $extra: $(cat "$work/alone")" \
                    grep -q "^$size,$ways,$(cat "$work/alone")," "$work/vary"
            done
        done
    done
    "$cachesim" --machine toy --output json --vary 'L1.policy=lru,fifo; L1.prefetch={stream degree=2 distance=8}' tests/golden/mix.din >"$work/out" 2>"$work/err"
    check "two grids: $(cat "$work/err")" [ "$(grep -c '"L1_misses"' "$work/out")" -eq 3 ]
    refuses "no such key: 'L1.foo'" --machine toy --vary L1.foo=1 tests/golden/mix.din
    refuses "1000000 points; at most 1000" --machine toy --vary L1.size=1..1000000 tests/golden/mix.din
    refuses "--vary: counts all tags together" --machine toy --tags --vary L1.ways=1,2 tests/golden/mix.din
}

plots() {
    if ! command -v gnuplot >/dev/null; then
        skip "no gnuplot: --plot"
        return
    fi
    "$cachesim" --more --machine toy --plot "$work/it's.png" --tags tests/golden/rows.text >"$work/out" 2>"$work/err"
    check "misses are drawn: $(cat "$work/err")" [ "$(head -c 4 "$work/it's.png" | tail -c 3)" = PNG ]
    check "... beside the table" diff -q "$work/out" tests/golden/rows.table
    mkdir "$work/home"
    printf 'set terminal dumb\nset logscale y\nset decimalsign ","\n' >"$work/home/.gnuplot"
    HOME=$work/home LC_ALL=xx_YY "$cachesim" --machine toy --plot "$work/home.png" --tags tests/golden/rows.text >"$work/out" 2>"$work/err"
    check "a user's ~/.gnuplot changes the figure: $(cat "$work/err")" cmp -s "$work/home.png" "$work/it's.png"
    "$cachesim" --mrc --plot "$work/curve.svg" tests/golden/rows.text >"$work/out" 2>"$work/err"
    check "the curve is drawn: $(cat "$work/err")" grep -q '</svg>' "$work/curve.svg"
    check "... and says what is along its axes" grep -q 'size of the cache' "$work/curve.svg"
    check "... in units as elsewhere" sh -c "grep -q '>1 KiB<' '$work/curve.svg' && ! grep -q kiB '$work/curve.svg'"
    refuses "--plot: the name ends neither in .png nor in .svg, 'x.pdf'" --plot x.pdf tests/golden/rows.text
    refuses "--plot: there are figures of simulations and of --mrc" --plot x.png --reuse tests/golden/rows.text
    if [ -n "${EMULATED:-}" ]; then
        skip "$EMULATED: cachesim without gnuplot (without PATH there is no emulator either)"
        return
    fi
    PATH=/nowhere "$cachesim" --machine toy --plot "$work/no.png" tests/golden/rows.text >"$work/out" 2>"$work/err"
    check "without gnuplot nothing is begun" [ ! -s "$work/out" ]
    check "... and the package is named: $(cat "$work/err")" grep -q 'gnuplot-nox' "$work/err"
}

# Every member of the JSON that cachesim prints is explained in the manual, or is a counter or the name of a level.
json_members() {
    local member
    for member in $(grep -ohE '"[a-zA-Z0-9_]+":' tests/golden/*.json | tr -d '":' | sed 's/_tag[1-7]$/_tag0/' | grep -v '^D*[LT][LB1-8]*$' | sort -u); do
        check "the manual explains JSON's member $member" \
            grep -qE "(^|[^a-z_])$member([^a-z_]|\$)" <(sed -n '/^.SH JSON/,/^.SH EXIT/p' sim/programs/cachesim.1) sim/base/stats.h
    done
}

# A program that runs the action of its argument between two walks over data[]. Accesses of another process or another
# program to arrays of its own are not in the trace.
make_two() {
    cat >"$work/two.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile double data[1 << 14], others[1 << 14];
static double sum;
static void walk(volatile double *array)
{
    for (int i = 0; i < 1 << 14; i++)
        sum += array[i];
}
static void child(const char *what)
{
    if (!strcmp(what, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    walk(others);
    if (!strcmp(what, "killed"))
        abort();
    if (!strcmp(what, "exit"))
        exit(0);
    _exit(0);
}
static void go_on(const char *path, int sleeps)
{
    for (unsigned long n = 0;; n++) {
        if (n == 50) {
            FILE *out = fopen(path, "w");
            fprintf(out, "%ld\n", (long)getpid());
            fclose(out);
        }
        if (n == 50 && sleeps)
            sleep(1000);
        for (int i = 0; i < 1 << 14; i++)
            data[i * 797 % (1 << 14)] += 1;
    }
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status;
    walk(data);
    if (!strcmp(what, "become"))
        execl("/bin/true", "true", (char *)NULL);
    if (!strcmp(what, "close"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (!strcmp(what, "close-all") && (close_range(3, ~0U, 0) || open(argv[2], O_WRONLY | O_TRUNC) < 0))
        return 9;
    if (!strncmp(what, "child-", 6)) {
        if (!fork())
            child(what + 6);
        wait(&status);
    }
    if (!strcmp(what, "daemon")) {
        if (fork())
            return 0;
        sleep(5);
    }
    if (!strcmp(what, "goes-on") || !strcmp(what, "sleeps"))
        go_on(argv[2], *what == 's');
    walk(data);
    return 0;
}
END
    ${CC:-cc} -O1 -no-pie -o "$work/two" "$work/two.c" 2>/dev/null &&
        nm -S "$work/two" | awk '$4 == "data" || $4 == "others" { print $4, "0x" $1, "+0x" $2 }' | sort >"$work/two.ranges"
}

# two_loads TRACER ARGUMENT...: loads of data[], and of others[]
two_loads() {
    local tracer=$1
    shift
    "$cachesim" --tracer "$tracer" --machine toy --output csv --ranges "$work/two.ranges" run -- "$work/two" "$@" >"$work/out" 2>"$work/err" </dev/null &&
        echo "$(place "$work/out" 1 loads) $(place "$work/out" 2 loads)"
}

# A trace belongs to one process and one program.
one_process() {
    local tracer=$1 what loads
    for what in nothing child-_exit child-exit child-killed child-exec close; do
        loads=$(two_loads "$tracer" $what)
        check "$tracer, $what: loads of data and others are $loads: $(cat "$work/err")" [ "$loads" = "32768 0" ]
    done
    loads=$(two_loads "$tracer" daemon)
    check "$tracer, a daemon's first process: $loads: $(cat "$work/err")" [ "$loads" = "16384 0" ]
    "$cachesim" --tracer "$tracer" --machine toy run -- "$work/two" become >"$work/out" 2>"$work/err"
    check "$tracer, exec: exit status $?, not 2" [ $? -eq 2 ]
    check "$tracer, exec: $(cat "$work/err")" grep -qF "the program became another one (exec)" "$work/err"
    check "$tracer, exec: nothing is printed" [ "$(grep -c '^memory' "$work/err")" -eq 0 ]
    # Under QEMU the tracer's descriptor is one of the program's own; Valgrind keeps its own descriptors apart.
    : >"$work/victim"
    "$cachesim" --tracer "$tracer" --machine toy run -- "$work/two" close-all "$work/victim" >"$work/out" 2>"$work/err"
    check "$tracer, all descriptors closed: neither counted nor refused: $(cat "$work/err")" \
        grep -qE "^trace|or closed the tracer's descriptor" "$work/out" "$work/err"
    check "$tracer, all descriptors closed: the trace went into the program's file" [ ! -s "$work/victim" ]
}

# gone PID: the process ends within half a minute, enough on a busy computer.
gone() {
    for _ in $(seq 300); do
        [ -e "/proc/$1" ] || return 0
        sleep 0.1
    done
    kill -s KILL "$1"
    return 1
}

# interrupted TRACER WHAT SIGNAL STATUS: a signal ends cachesim, and the traced program, too.
interrupted() {
    local tracer=$1 what=$2 signal=$3 pid traced
    rm -f "$work/pid"
    env --default-signal=INT,TERM,HUP "$cachesim" --more --tracer "$tracer" --machine toy run -- "$work/two" "$what" "$work/pid" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    for _ in $(seq 600); do
        [ ! -s "$work/pid" ] || break
        sleep 0.1
    done
    traced=$(cat "$work/pid")
    kill -s "$signal" $pid
    { gone $pid; wait $pid; } 2>/dev/null
    check "$tracer, $what: exit status $? after $signal" [ $? -eq "$4" ]
    check "$tracer: a program that $what outlives $signal" gone "${traced:-1}"
}

# A program traced while running makes the accesses of its source.
traced() {
    local tracer loads status
    cat >"$work/sum.c" <<'END'
#include <stdlib.h>
static volatile double data[1 << 14];
int main(int argc, char **argv)
{
    double sum = 0;
    for (int i = 0; i < 1 << 14; i++)
        sum += data[i];
    if (argc > 2)
        abort();
    return argc > 1 ? atoi(argv[1]) : sum != 0;
}
END
    if [ -n "${EMULATED:-}" ] || ! ${CC:-cc} -O1 -no-pie -o "$work/sum" "$work/sum.c" 2>/dev/null; then
        skip "traced programs (no native compiler, or an emulated cachesim)"
        return
    fi
    nm -S "$work/sum" | awk '$4 == "data" { print $4, "0x" $1, "+0x" $2 }' >"$work/ranges"
    for tracer in qemu valgrind; do
        "$cachesim" --tracer $tracer --machine toy --output csv --ranges "$work/ranges" run -- "$work/sum" >"$work/out" 2>"$work/err"
        if grep -qE 'not installed|tracer is missing' "$work/err"; then
            skip "$(cat "$work/err")"
            continue
        fi
        loads=$(place "$work/out" 1 loads)
        check "$tracer: $loads loads of data[], not 16384: $(cat "$work/err")" [ "$loads" = 16384 ]
        check "$tracer: they are 8 bytes each" [ "$(place "$work/out" 1 load_bytes)" = 131072 ]
        "$cachesim" --tracer $tracer --machine toy run -- "$work/sum" 3 >"$work/out" 2>"$work/err"
        check "$tracer: the program's status is told" grep -q "sum ended with status 3" "$work/err"
        check "$tracer: ... and the counts all the same" grep -q '^memory' "$work/err"
        "$cachesim" --tracer $tracer --machine toy run -- "$work/sum" 0 x >"$work/out" 2>"$work/err"
        status=$?
        check "$tracer: a program that is killed is refused, status $status" [ $status -eq 2 ]
        check "$tracer: ... and nothing is printed" [ "$(grep -c '^memory' "$work/err")" -eq 0 ]
        check "$tracer: ... with the reason" grep -q "was ended by signal 6 .*; its trace is cut short" "$work/err"
        "$cachesim" --tracer $tracer --convert lackey "$work/sum.lackey" run -- "$work/sum" 2>/dev/null
        check "$tracer: its trace can be written" [ "$(grep -c . "$work/sum.lackey")" -gt 16384 ]
        if ! make_two; then
            skip "$tracer: programs that fork (a C library without close_range())"
            continue
        fi
        one_process $tracer
        interrupted $tracer sleeps TERM 143
        interrupted $tracer sleeps KILL 137
        interrupted $tracer sleeps INT 130
        interrupted $tracer goes-on INT 130
        check "$tracer: counts so far, said to be partial: $(cat "$work/err")" grep -q 'accesses.*; interrupted: these counts are partial' "$work/err"
    done
    refuses "run, 'no-such-program', no program is called so" run -- no-such-program
    refuses "no program is given behind --" run --
    refuses "run: -- is missing before the program" run "$work/sum"
    refuses "no program is given: cachesim" run
    refuses "--passes: a program is run once" --passes 2 run -- "$work/sum"
    refuses "--tracer: there is no program to trace" --tracer qemu tests/golden/mix.din
}

# User settings, odd paths of the program, and output of the program and the tracers do not change counts.
settings() {
    local tracer loads program
    program=$(realpath "$cachesim")
    printf 'static volatile double data[1 << 10];\nint main(void) { double s = 0; for (int i = 0; i < 1 << 10; i++) s += data[i]; __builtin_printf("%%g\\n", s); return 0; }\n' >"$work/few.c"
    if [ -n "${EMULATED:-}" ] || ! ${CC:-cc} -O1 -no-pie -o "$work/few" "$work/few.c" 2>/dev/null; then
        skip "settings of the tracers (no native compiler, or an emulated cachesim)"
        return
    fi
    nm -S "$work/few" | awk '$4 == "data" { print $4, "0x" $1, "+0x" $2 }' >"$work/ranges"
    mkdir "$work/my, to:ols"
    cp "$work/few" "$work/my, to:ols"
    echo '--log-file=x --trace-children=yes --leak-check=full' >"$work/my, to:ols/.valgrindrc"
    printf 'int main(void) { return __builtin_printf("hello\\n") < 0; }\n' | ${CC:-cc} -Wl,--dynamic-linker=/no/ld.so -x c -o "$work/none" - 2>/dev/null
    printf 'int main(void) { __asm__ volatile(".byte 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc0"); return 0; }\n' | ${CC:-cc} -x c -o "$work/wide" -
    for tracer in qemu valgrind; do
        (cd "$work/my, to:ols" && TMPDIR=/no/such QEMU_PLUGIN=/no/such.so QEMU_LOG=in_asm QEMU_RESERVED_VA=1 VALGRIND_OPTS=--tool=memcheck LC_ALL=xx_YY POSIXLY_CORRECT=1 \
            "$program" --tracer $tracer --machine toy --output csv --ranges "$work/ranges" run -- ./few) >"$work/out" 2>"$work/err" </dev/null
        if grep -qE 'not installed|tracer is missing' "$work/err"; then
            skip "$(cat "$work/err")"
            continue
        fi
        loads=$(place "$work/out" 1 loads)
        check "$tracer, settings: $loads loads: $(cat "$work/err")" [ "$loads" = 1024 ]
        check "$tracer: CSV on standard output, the program's words on the other" grep -qx 0 "$work/err"
        check "$tracer: a table leaves standard output to the program" [ "$("$cachesim" --tracer $tracer --machine toy run -- "$work/few" 2>"$work/err")" = 0 ]
        check "$tracer: ... and is on standard error" grep -q '^memory' "$work/err"
        [ ! -x "$work/none" ] || refused_run "$tracer" none "did not get it to run"
        [ "$(uname -m)" != x86_64 ] || refused_run "$tracer" wide "(AVX-512|Illegal instruction)"
    done
    refuses "it may not be executed" run -- "$work/few.c"
    refuses "it is a folder" run -- "$work"
}

# refused_run TRACER PROGRAM WORDS: exit status 2, nothing on stdout; the message has WORDS, and does not mention exec
refused_run() {
    "$cachesim" --tracer "$1" --machine toy run -- "$work/$2" >"$work/out" 2>"$work/err" </dev/null
    check "$1, $2: exit status $?, not 2" [ $? -eq 2 ]
    check "$1, $2: $(cat "$work/err")" grep -qE "^cachesim: .*$3" "$work/err"
    check "$1, $2: exec is blamed: $(cat "$work/err")" [ "$(grep -c exec, "$work/err")" -eq 0 ]
}

# A trace that takes more than a minute is announced after a second, unless it is a pipe.
announcement() {
    if [ -n "${EMULATED:-}" ]; then
        skip "$EMULATED: announcements"
        return
    fi
    until_it_speaks "$work/long.err" --machine toy "$work/long.binary" &
    until_it_speaks "$work/many.err" --passes 4000000000 --mrc tests/golden/mix.din &
    until_it_speaks "$work/unknown.err" --mrc --format binary <(cat "$work/long.binary") & # ten seconds
    timeout 1.6 "$cachesim" --mrc --format binary - <"$work/long.binary" 2>"$work/pipe.err" &
    wait
    check "a long binary trace is announced: $(cat "$work/long.err")" \
        grep -qE '^cachesim: .*long.binary: 0 %, about [0-9]+ (minutes|hours) to go' "$work/long.err"
    check "many passes are announced: $(cat "$work/many.err")" \
        grep -qE '^cachesim: .*mix.din: 0 %, about [0-9]+ (minutes|hours) to go' "$work/many.err"
    check "a pipe is not: $(cat "$work/pipe.err")" [ ! -s "$work/pipe.err" ]
    check "but later it says how far it is: $(cat "$work/unknown.err")" \
        grep -qE '^cachesim: .*: [1-9][0-9]* million accesses so far; Ctrl-C ends it$' "$work/unknown.err"
}

# Every policy in the program's list can be simulated, and is valid in a machine file; QLRU_ begins the names of a
# family.
check_policies() {
    local policy policies
    policies=$("$cachesim" --l1 1k,2,64,best tests/golden/mix.din 2>&1 | sed -n "s/.*there are //; s/, QLRU_.*//; s/,//gp")
    check "the policies that there are: '$policies'" [ "$(wc -w <<<"$policies")" -ge 2 ]
    for policy in $policies; do
        check "--l1: policy $policy" grep -q "^machine custom: L1 1 KiB 2-way 64 B lines $policy$" <("$cachesim" --l1 "1k,2,64,$policy" tests/golden/mix.din)
        sed "s/^policy = .*/policy = $policy/" sim/machines/toy.cfg >"$work/policy.cfg"
        check "a machine file: policy $policy" "$cachesim" --machine "$work/policy.cfg" tests/golden/mix.din >/dev/null
    done
}

bad_options() {
    refuses "cachesim: no trace is given"
    printf 'a 0 5\nb 4 9\n' >"$work/ranges"
    refuses "ranges:2: the range overlaps another one, 'b'" --ranges "$work/ranges" --machine toy tests/golden/mix.din
    printf 'a 9 5\n' >"$work/ranges"
    refuses "ranges:1: the range ends before it begins, '5'" --ranges "$work/ranges" --machine toy tests/golden/mix.din
    printf 'a 0x\n' >"$work/ranges"
    refuses "ranges:1: not a name, where it begins" --ranges "$work/ranges" --machine toy tests/golden/mix.din
    awk 'BEGIN { for (i = 0; i < 63; i++) print "r" i, i, i + 1 }' >"$work/ranges"
    refuses "ranges:63: more names than the simulator has tags for" --ranges "$work/ranges" --machine toy tests/golden/mix.din
    refuses "cachesim: unknown option; cachesim --help lists them, '--l9'" --l9 1k,1,64 a.din
    refuses "unknown option" --fast a.din
    refuses "--format: is missing" a.trc
    refuses "--format: its value is missing" a.trc --format
    refuses "--format: not din, lackey, text or binary, 'xml'" --format xml a.trc
    refuses "a second trace is given, 'b.din'" a.din b.din
    refuses "a.din, No such file or directory" --machine toy a.din
    refuses "unknown machine 'pdp11'; known: host apple-m1 " --machine pdp11 tests/golden/mix.din
    refuses "unknown machine 'hots', did you mean host? known: host " --machine hots tests/golden/mix.din
    refuses "unknown machine 'zen44', did you mean zen4? " --machine zen44 tests/golden/mix.din
    refuses "--l1: bad size; sizes take k, m and g, or KiB, MiB and GiB, '32kx,8,64'" --l1 32kx,8,64 tests/golden/mix.din
    counts --l1 32k,8,64 --l2 1m,16,64 tests/golden/mix.din >"$work/a"
    counts --l1 32KB,8,64 --l2 '1 MiB,16,64' tests/golden/mix.din >"$work/b"
    equal "32KB is 32k" "$work/a" "$work/b"
    refuses "no/such.cfg" --machine no/such.cfg tests/golden/mix.din
    refuses "--l1: size is not a multiple of ways * line, '1000,3,64'" --l1 1000,3,64 tests/golden/mix.din
    refuses "--l1: line is not a power of two" --l1 1k,2,48 tests/golden/mix.din
    refuses "--l1: bad number of ways" --l1 1k,0,64 tests/golden/mix.din
    refuses "--l1: not SIZE,WAYS,LINE" --l1 1k,2 tests/golden/mix.din
    refuses "--l1: not SIZE,WAYS,LINE" --l1 1k,2,64,lru,x tests/golden/mix.din
    refuses "--l1: unknown policy; there are lru, " --l1 1k,2,64,best tests/golden/mix.din
    check_policies
    refuses "QLRU_H.._M._R._U.[_UMO], '1k,2,64,QLRU_H99_M1_R0_U0'" --l1 1k,2,64,QLRU_H99_M1_R0_U0 tests/golden/mix.din
    refuses "the option takes no value, '--tags=1'" --tags=1 a.din
    refuses "unknown option; cachesim --help lists them, '-x'" -x a.din
    refuses "--output: the analyses and --vary print csv or json, 'table'" --mrc --output=table tests/golden/mix.din
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
    local status arguments
    for arguments in "--machine toy --output table" "--machine toy --output csv" "--machine toy --output json" --mrc --reuse "--wss 50" \
        "--mrc --output json" "--convert text -" --help --version; do
        # shellcheck disable=SC2086  # arguments are words
        "$cachesim" $arguments tests/golden/mix.din >/dev/full 2>"$work/err"
        status=$?
        check "$arguments, full disk: exit status $status, not 1" [ $status -eq 1 ]
        check "$arguments, full disk: says so" grep -q 'No space left' "$work/err"
    done
    "$cachesim" --convert text /dev/full tests/golden/mix.din 2>"$work/err"
    status=$?
    check "converting to a full disk: exit status $status, not 1" [ $status -eq 1 ]
    check "converting to a full disk: says so" grep -q '/dev/full, No space left' "$work/err"
}

manual() {
    local option
    "$cachesim" --help >"$work/help"
    check "--help" [ $? -eq 0 ]
    sed 's/\\-/-/g' sim/programs/cachesim.1 >"$work/manual"
    for option in $(grep -oE '^  --[a-z0-9-]+' "$work/help") -h --help; do
        check "the manual has $option" grep -qF -e "$option" "$work/manual"
    done
    if command -v groff >/dev/null; then
        check "the manual formats without warnings" [ -z "$(groff -ww -man -Tutf8 sim/programs/cachesim.1 2>&1 >/dev/null)" ]
    else
        skip "no groff: the manual's formatting"
    fi
}

# recipes PAGE: the lines in .nf blocks of a manual page, as a user types them
recipes() {
    sed -n '/^\.nf/,/^\.fi/{/^\.[nf][fi]/!p}' "$1" | sed 's/\\-/-/g; s/\\e/\\/g'
}

# The manual's commands can be typed unchanged.
manual_recipes() {
    local dir=$work/recipes recipe n=0
    mkdir "$dir" "$dir/bin"
    ln -s "$(realpath "$cachesim")" "$dir/bin/cachesim"
    printf '#include <stdio.h>\n#include <unistd.h>\nextern char **environ;\nstatic double a[999];\nint main(void) { for (int i = 0; i < 999; i++) a[i] += i; fprintf(stdout, "%%g %%d\\n", a[9], !environ); return 0; }\n' >"$dir/prog.c"
    if [ -n "${EMULATED:-}" ] || ! ${CC:-cc} -O1 -no-pie -o "$dir/prog" "$dir/prog.c" 2>/dev/null || ! command -v valgrind zstd jq >/dev/null; then
        skip "the manual's recipes (no native compiler, valgrind, zstd or jq)"
        return
    fi
    cp tests/golden/mix.din "$dir/gcc.din"
    cp tests/golden/rows.text "$dir/loop.text"
    "$cachesim" --convert binary - tests/golden/rows.text | zstd -q >"$dir/big.binary.zst"
    while read -r recipe; do
        n=$((n + 1))
        (cd "$dir" && HWLOC_SYNTHETIC='numa:1 pack:1 l2:1(size=65536) l1:1(size=32768) core:1 pu:1' PATH=$dir/bin:$PATH bash -e -o pipefail -c "$recipe") >"$work/out" 2>"$work/err" </dev/null
        status=$?
        check "the manual's '$recipe': exit status $status: $(tail -3 "$work/err")" [ "$status" -eq 0 ]
    done < <(recipes sim/programs/cachesim.1)
    check "the manual has $n recipes, not 13" [ $n -eq 13 ]
    check "prog.ranges names prog's data: $(cat "$dir/prog.ranges")" grep -q '^a 0x0*40' "$dir/prog.ranges"
    "$cachesim" --machine toy --output csv --ranges "$dir/prog.ranges" run -- "$dir/prog" >"$work/out" 2>"$work/err"
    check "a has its loads" [ "$(place "$work/out" "$(sed -n 's/^# tag \([0-9]*\): a$/\1/p' "$work/out")" loads)" -gt 998 ]
}

# The commands of the page for users of cachegrind can be typed unchanged, and cachegrind agrees as the page says.
from_cachegrind() {
    local dir=$work/cachegrind page=sim/from-cachegrind.md recipe n=0
    mkdir -p "$dir/bin" "$dir/build"
    ln -s "$(realpath "$cachesim")" "$dir/build/cachesim"
    printf '#!/bin/sh\n' >"$dir/bin/make" && chmod +x "$dir/bin/make"
    sed -n '/^```c$/,/^```$/{/^```/!p}' $page >"$dir/prog.c"
    if [ -n "${EMULATED:-}" ] || ! ${CC:-cc} -O1 -g -o "$dir/prog" "$dir/prog.c" 2>/dev/null || ! command -v valgrind cg_annotate >/dev/null; then
        skip "the page for users of cachegrind (no native compiler or valgrind)"
        return
    fi
    while read -r recipe; do
        n=$((n + 1))
        if [ -n "${SAN:-}" ] && [[ $recipe == *--heap* ]]; then
            skip "built with sanitizers: $recipe"
            continue
        fi
        (cd "$dir" && PATH=$dir/bin:$PATH bash -e -o pipefail -c "$recipe") >"$work/out" 2>"$work/err" </dev/null
        status=$?
        check "$page: '$recipe': exit status $status: $(tail -3 "$work/err")" [ "$status" -eq 0 ]
    done < <(sed -n 's/^    \(make\|build\|valgrind\)/\1/p' $page)
    check "$page has $n commands, not 7" [ $n -eq 7 ]
    check "a page of at most 500 words" [ "$(wc -w <$page)" -le 500 ]
    (cd "$dir" && build/cachesim --tracer valgrind --l1 32K,8,64 --l2 256K,8,64 --output csv run -- ./prog) >"$work/csv" 2>"$work/err"
    (cd "$dir" && valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=lines.out --I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64 ./prog) >"$work/out" 2>"$work/err"
    # shellcheck disable=SC2046
    set -- $(sed -n 's/,//g; s/.*D  *refs: .*(\([0-9]*\) rd .*/\1/p; s/.*D1  *misses: .*( *\([0-9]*\) rd .*/\1/p' "$work/err") \
        $(csv_rows "$work/csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $3 == "core" { loads = $at["loads"] } $3 == "L1" { print loads, $at["read_misses"]; exit }')
    check "cachegrind's loads and misses of L1 beside ours: $*" awk 'BEGIN { exit !(ARGC == 5 && ARGV[1] > 60000 && ARGV[2] > 60000 &&
        ARGV[3] / ARGV[1] > 0.999 && ARGV[3] / ARGV[1] < 1.001 && ARGV[4] / ARGV[2] > 0.99 && ARGV[4] / ARGV[2] < 1.01) }' "$@"
}

too_large() {
    printf '[machine]\nname = x\nmemory_latency_cycles = 9\n[cache L1]\nsize = 4096 MiB\nways = 16\nline = 64\nlatency_cycles = 4\n' >"$work/large.cfg"
    if [ -n "${SAN:-}${EMULATED:-}" ]; then
        skip "${EMULATED:-built with sanitizers}: machines too large for the memory"
        return
    fi
    (ulimit -v 400000 && exec "$cachesim" --machine "$work/large.cfg" tests/golden/mix.din) >"$work/out" 2>"$work/err"
    check "a machine too large for the memory: exit status $?, not 2" [ $? -eq 2 ]
    check "a machine too large for the memory: $(cat "$work/err")" grep -q "Cannot allocate memory for caches of 4096 MiB" "$work/err"
}

# Files that no line of `make install` names, nor a folder around them; and lines that name nothing.
installed_but_unsaid() { # installed_but_unsaid FOLDER SAID
    find "$1" -type f -o -type l | awk 'NR == FNR { if (sub(/^  \//, "/")) said[$0]; next }
        { for (s in said) if ($0 == s || (s ~ /\/$/ && index($0, s) == 1)) { named[s]; next } print "not said: " $0 }
        END { for (s in said) if (!(s in named)) print "not there: " s }' "$2" -
}

# Tries the installed bench in a folder of a user: the bench finds the installed data and the user's files, and writes
# nothing into the installation.
installed_bench() { # installed_bench PREFIX
    local prefix=$1 there dir
    there=$(mktemp -d "$work/a user XXX")
    dir=$there/results/toy/own
    cp tests/data/three.csv "$there/own.csv"
    ask() { (cd "$there" && env -u OBSERVER -u GUEST "$prefix/bin/bench" "$@") >"$work/out" 2>"$work/err"; }
    touch "$work/before"
    check "installed: bench experiment" ask experiment MODEL=own.csv MACHINE=toy TIMING=0 OBSERVE=sample
    check "installed: it does not say why nothing was observed" \
        grep -q '^not observed: the guest program was not built: make does that' "$work/err"
    check "installed: there is no page" [ -s "$dir/report.html" ]
    ! command -v gnuplot >/dev/null || check "installed: there is no figure" [ -s "$dir/miss_rates_model.png" ]
    env -u OBSERVER -u GUEST "$BUILD/bench" experiment MODEL=tests/data/three.csv MACHINE=toy TIMING=0 OBSERVE=sample \
        "RESULTS=$work/project" >/dev/null 2>&1
    check "installed: other results than in the project's folder" cmp -s <(grep -v '^#' "$dir/layers.csv" | cut -d, -f2-) \
        <(grep -v '^#' "$work/project/toy/three/layers.csv" | cut -d, -f2-)
    check "installed: bench judge" ask judge MODEL=own.csv MACHINE=toy
    check "installed: there is no judgement: $(tail -n 1 "$work/err")" \
        [ -n "$(find "$there/results" -path '*judge*' -name verdict.txt)" ]
    check "installed: a model that comes with it" ask plan LAYER=vgg16:conv3_1 MACHINE=zen3
    check "installed: recorded numbers of calibrate" ask calibrate MACHINE=zen3
    check "installed: written beside the program: $(find "$prefix" -newer "$work/before" -type f | head -n 1)" \
        [ -z "$(find "$prefix" -newer "$work/before" -type f)" ]
    # shellcheck disable=SC2016  # bash expands it
    check "installed: tab completion: $(bash --norc -c "$complete_installed" completion "$prefix" 2>&1)" \
        [ "$(cd / && bash --norc -c "$complete_installed" completion "$prefix" 2>/dev/null)" = vgg16 ]
}
# shellcheck disable=SC2016  # bash expands it
complete_installed='source "$1/share/bash-completion/completions/bench"; COMP_LINE="bench judge MODEL=vg" COMP_WORDBREAKS=" =:"
    COMP_POINT=${#COMP_LINE} PATH=$1/bin:$PATH; _convolution_program bench MODEL=vg judge; echo "${COMPREPLY[*]}"'

installation() {
    local root=$work/root header
    if [ -n "${SAN:-}${EMULATED:-}" ]; then
        skip "${EMULATED:-built with sanitizers}: the installed library"
        return
    fi
    check "make install" sh -c "make -s BUILD='$BUILD' DESTDIR='$root' PREFIX=/opt/x install >'$work/said'"
    check "what make install put there is not what it says: $(installed_but_unsaid "$root/opt/x" "$work/said")" [ -z "$(installed_but_unsaid "$root/opt/x" "$work/said")" ]
    check "what plug-ins are compiled with is not installed" [ -s "$root/opt/x/share/convsim/counters/watch/marker.h" ]
    check "the manual of bench is not installed" [ -s "$root/opt/x/share/man/man1/bench.1" ]
    check "tab completion is not installed" bash -c "source '$root/opt/x/share/bash-completion/completions/bench' && complete -p cachesim bench >'$work/out'"
    check "the installed cachesim finds its machines" sh -c "cd / && '$root/opt/x/bin/cachesim' --machine toy '$PWD/tests/golden/mix.din' >/dev/null"
    installed_bench "$root/opt/x"
    mv "$root/opt/x" "$root/opt/moved"
    installed_bench "$root/opt/moved"
    mv "$root/opt/moved" "$root/opt/x"
    for header in $(find "$root/opt/x/include/convsim" -name "*.h"); do
        check "$(basename "$header") needs only what is installed" "${CC:-cc}" -std=c17 -fsyntax-only -x c -I"$root/opt/x/include/convsim" "$header"
    done
    if command -v pkg-config >/dev/null; then
        export PKG_CONFIG_PATH=$root/opt/x/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
        # shellcheck disable=SC2046  # flags are words
        check "the example builds with pkg-config" "${CC:-cc}" -o "$work/example" sim/programs/main_example.c $(pkg-config --cflags --libs convsim)
        check "shared: it runs" sh -c "LD_LIBRARY_PATH='$root/opt/x/lib' '$work/example' >'$work/out'"
        check "and counts: $(cat "$work/out")" grep -q '^columns: 262144 loads, 262144 miss L1' "$work/out"
        # shellcheck disable=SC2046
        check "static: it builds" "${CC:-cc}" -o "$work/static" sim/programs/main_example.c $(pkg-config --cflags convsim) "$root/opt/x/lib/libconvsim.a" -lhwloc -lm
        check "static: it runs" sh -c "'$work/static' | grep -q '^columns: 262144 loads, 262144 miss L1'"
    else
        skip "no pkg-config: the installed library"
    fi
    for header in $(grep -ohE '\b[a-z_]+\.h\b' sim/machine/machine.h sim/hierarchy.h sim/base/access.h | sort -u); do
        header=$(find sim -name "$header")
        [ -z "$header" ] || check "$header, which the manual refers to, is installed" [ -e "$root/opt/x/include/convsim/$header" ]
    done
    check "make install elsewhere" sh -c "make -s BUILD='$BUILD' DESTDIR='$root' PREFIX=/opt/y install >'$work/said'"
    check "the second convsim.pc names the second folder" grep -qx 'prefix=/opt/y' "$root/opt/y/lib/pkgconfig/convsim.pc"
    check "and the version of cachesim" grep -qx "Version: $("$root/opt/y/bin/cachesim" --version | cut -d' ' -f2)" "$root/opt/y/lib/pkgconfig/convsim.pc"
    check "make uninstall elsewhere" make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/y uninstall
    check "make uninstall" make -s BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/x uninstall
    check "nothing is left" [ -z "$(find "$root" -type f -o -type l)" ]
}

# as_host TOPOLOGY WORDS: hwloc shows TOPOLOGY; cachesim counts, and its line of values has WORDS
as_host() {
    HWLOC_SYNTHETIC="numa:1 pack:1 $1" "$cachesim" --machine host tests/golden/mix.din >"$work/out" 2>"$work/err"
    check "$1: exit status $?: $(cat "$work/err")" [ -s "$work/out" ]
    check "$1: '$2' is not in: $(grep '^values: ' "$work/out")" grep -q "^values: $2" "$work/out"
}

# A trace of 5 million accesses with three kinds of phases: blocks, streams, and random words.
phases_trace() {
    awk 'BEGIN {
        for (i = 0; i < 60000; i++) {
            x = (x * 1103515245 + 12345) % 2147483648
            printf "L %x 8 0 0\nS %x 8 1 0\n", 1048576 + i % 6000 * 8, 16777216 + i % 900 * 64
            printf "L %x 8 2 0\n", 268435456 + int(x / 256) * 8
        }
        for (i = 0; i < 60000; i++)
            printf "L %x 8 3 1\nS %x 8 4 1\n", 536870912 + i * 8, 805306368 + i * 8
    }' >"$work/phases.text"
    "$cachesim" --convert binary "$work/phases.binary" --passes 16 "$work/phases.text"
}

# A sample of a long trace: exact accesses, intervals that hold the exact counts, equal runs for equal seeds.
samples() {
    local n seed count value option
    for value in 0 0% 200% x 1 -1% nan%; do
        refuses "--sample: not a percentage from 0.01% to 50%, '$value'" "--sample=$value" tests/golden/mix.din
    done
    refuses "--seed: draws the windows of --sample" --seed 2 tests/golden/mix.din
    refuses "--seed: not a number from 1" --seed 0 --sample 1% tests/golden/mix.din
    for option in --3c --flush '--passes 2' '--warmup 5' '--wss 100' "--timeline $work/t"; do
        # shellcheck disable=SC2086
        refuses "--sample: leaves accesses out" --sample 1% --machine zen3 $option tests/golden/mix.din
    done
    phases_trace
    "$cachesim" --machine zen3 --output json "$work/phases.binary" >"$work/exact.json"
    for seed in 1 2; do
        "$cachesim" --machine zen3 --sample 10% --seed $seed --output json "$work/phases.binary" >"$work/sample$seed.json"
        check "--sample: exit status $?" [ $? -eq 0 ]
        "$cachesim" --machine zen3 --sample 10% --seed $seed --output json "$work/phases.binary" >"$work/again.json"
        check "--sample --seed $seed: a second run differs" cmp -s "$work/sample$seed.json" "$work/again.json"
    done
    check "--seed: changes nothing" test -n "$(cmp "$work/sample1.json" "$work/sample2.json")"
    n=$(sed -n 's/.*"simulated_percent": \([0-9]*\).*/\1/p' "$work/sample1.json")
    check "--sample: '$n' % of the accesses were simulated" [ "${n:-100}" -lt 70 ]
    check "--sample: loads are exact" [ "$(grep -o '"loads": [0-9]*' "$work/exact.json")" = "$(grep -o '"loads": [0-9]*' "$work/sample1.json")" ]
    for count in L1:lines_in L1:load_misses L2:load_misses memory:memory_read_lines; do
        check "--sample: ${count/:/.} outside its interval" holds "${count%:*}" "${count#*:}"
    done
    "$cachesim" --machine zen3 --sample 1% tests/golden/mix.din >"$work/out"
    check "--sample of a short trace: $(cat "$work/out")" grep -q '^sample: the trace is too short; all accesses were simulated' "$work/out"
    "$cachesim" --machine toy --sample 1% tests/golden/mix.din >"$work/out" 2>"$work/err"
    check "--sample of caches alone: $(cat "$work/err")" grep -q 'has caches alone, of which a sample saves no time' "$work/err"
    "$cachesim" --machine zen3 --sample 0.01% "$work/phases.binary" >"$work/out"
    check "--sample: an interval that is too wide is not named: $(cat "$work/out")" grep -q 'L1.lines_in: 0.01 % were wanted, and .* % were reached' "$work/out"
}

# holds PLACE COUNTER: the sample's interval holds the exact count
holds() {
    awk -v place="$1" -v counter="$2" '
        FNR == NR && $0 ~ "^    \"" place "\":" { match($0, "\"" counter "\": [0-9]+"); split(substr($0, RSTART, RLENGTH), w, ": "); exact = w[2] }
        FNR != NR && index($0, "\"" place "." counter "\"") { gsub("[,}]", ""); value = $5; pm = $7 }
        END { exit !(exact > 0 && value > 0 && (exact - value) ^ 2 <= pm ^ 2) }' "$work/exact.json" "$work/sample1.json"
}

# On every CPU: values that hwloc does not show are named.
hosts() {
    local none=$work/bare
    as_host 'l2:1(size=1048576) l1d:1(size=32768) core:1 pu:1' 'L2 ways guessed as .*: hwloc does not tell$'
    as_host 'l1d:1(size=32768) core:1 pu:1' 'L1 ways guessed as .*: hwloc does not tell$'
    as_host 'l3:1(size=33554432) l1d:1(size=32768) core:1 pu:1' 'L3 ways guessed as .*: hwloc does not tell$'
    as_host 'l2:1(size=100000) l1d:1(size=32768) core:1 pu:1' 'L2 size taken as 99968 bytes, .*: hwloc tells 100000$'
    if [ -n "${EMULATED:-}" ]; then
        skip "$EMULATED: a host without caches and without a file"
        return
    fi
    mkdir -p "$none/bin" "$none/sim/machines" "$none/elsewhere"
    cp "$cachesim" "$none/bin" && cp sim/machines/toy.cfg "$none/sim/machines"
    HWLOC_SYNTHETIC='numa:1 pack:1 core:1 pu:1' "$none/bin/cachesim" --machine host tests/golden/mix.din >"$work/out" 2>"$work/err"
    check "a host without caches and without a file: exit status $?, not 2" [ $? -eq 2 ]
    check "... is told what to do: $(cat "$work/err")" grep -q 'hwloc reports no data cache, and no file .*; name a machine: MACHINE=.* --machine .*; known: toy$' "$work/err"
    rm -r "$none/sim"
    (cd "$none/elsewhere" && HWLOC_SYNTHETIC='numa:1 pack:1 core:1 pu:1' ../bin/cachesim --machine host x.din) >"$work/out" 2>"$work/err"
    check "... and where there are no files: $(cat "$work/err")" grep -q 'no data cache; name a machine: ' "$work/err"
}

[ $# -gt 0 ] || set -- goldens formats metamorphic dinero estimate stores compressed foreign no_harm ranges many_ranges vary plots \
    json_members traced settings names json questions lackey bad_options bad_traces bad_output too_large whole_or_not \
    signals announcement samples hosts manual manual_recipes from_cachegrind installation
for part; do
    if declare -F "$part" >"$work/part"; then "$part"; else bad "there is no part '$part'"; fi
done
finish ", $skipped skipped"
