#!/bin/bash
# ports.sh [BUILD]: prints a table of the micro-kernels' loops, as CSV: the cycles of a pass by llvm-mca, whose models of CPUs others
# keep, beside the cycles by the clock of the simulated core (sim/core/clock.h), of the machine file of the CPU. Of each kernel the
# loop with most multiply-adds counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1-build}
mca=$(command -v llvm-mca-19 llvm-mca | head -1 || true)
[ -n "$mca" ] || { echo "ports.sh: llvm-mca is missing (Debian: llvm-19)" >&2 && exit 2; }

# A CPU of llvm-mca, and the machine file.
cpus='znver4 zen4
znver3 zen3
skylake-avx512 skx
sapphirerapids spr'

# Prints the loops of a listing for llvm-mca, a region each, without branches. The region's name has the numbers for the clock.
loops() { # FILE LISTING...
    local file=$1
    shift
    objdump -d --no-show-raw-insn "$@" | awk -v file="$file" '
        function bytes(text) {
            if (text ~ /1to|broadcastss|ss /)
                return 4
            if (text ~ /broadcastsd|vmovsd|vmovddup/)
                return 8
            return text ~ /broadcastf32x4|xmm/ ? 16 : text ~ /zmm/ ? 64 : 32
        }
        /^[0-9a-f]+ </ { name = $2; gsub(/[<>:]|@.*/, "", name); n = 0; delete at }
        /^ +[0-9a-f]+:/ {
            address = $1; sub(":", "", address)
            text = $0; sub(/^[^\t]*\t/, "", text); sub(/[ \t]*[#<].*/, "", text)
            at[address] = ++n; line[n] = text
            split(text, word)
            ends[n] = word[1] ~ /^j/ && word[2] in at
            if (!ends[n])
                next
            here = ""; macs = narrow = loads = all = chains = 0
            delete sums
            for (i = at[word[2]]; i < n; i++) {
                if (ends[i]) # not an innermost loop
                    next
                if (line[i] ~ /^j/)
                    continue
                here = here line[i] "\n"
                if (line[i] ~ /^vfmadd/) {
                    macs++
                    narrow += line[i] !~ /zmm/
                    sum = line[i]; sub(/.*,/, "", sum)
                    chains += !sums[sum]++
                }
                if (line[i] ~ /\(/ && line[i] !~ /^(lea|prefetch)|^v?mov[^ ]* +%/) {
                    loads++
                    all += bytes(line[i])
                }
            }
            if (macs > most) {
                most = macs
                best = sprintf("%s,%s,%d,%d,%d,%d,%d,%d", file, name, n - at[word[2]] + 1, macs, narrow, macs / chains, loads, all)
                body = here
            }
        }
        END {
            if (most)
                printf "# LLVM-MCA-BEGIN %s\n%s# LLVM-MCA-END\n", best, body
        }'
}

# Prints a row for each region. The first file is the machine file, and the second llvm-mca's report.
rows() { # CPU MACHINE
    "$mca" -mcpu="$1" -iterations=100 -all-views=0 -summary-view 2>/dev/null | awk -v cpu="$1" -v machine="$2" '
        function most(a, b) { return a > b ? a : b }
        FILENAME != "-" { sub(/#.*/, ""); if ($2 == "=" && !($1 in value)) value[$1] = $3; next }
        / Code Region - |^\[[0-9]+\] / { sub(/.* - /, ""); region = $0 }
        /^Total Cycles/ {
            split(region, of, ",")
            wide = value["mac_instructions_per_cycle"]; halves = value["mac_columns"] == 16 && wide == 1 ? 2 : wide
            ports["macs"] = (of[4] - of[5]) / wide + of[5] / halves
            ports["chain"] = of[6] * value["mac_latency_cycles"]
            each = most(value["narrow_loads_per_cycle"], value["loads_per_cycle"])
            ports["loads"] = most(of[7] / each, of[8] / value["mac_columns"] / 4 / value["loads_per_cycle"])
            ports["operations"] = (of[3] - 1) / value["sustained_operations_per_cycle"]
            bound = "macs"
            for (p in ports)
                bound = ports[p] > ports[bound] ? p : bound
            clock = ports[bound]; by_mca = $3 / 100
            printf "%s,%s,%d,%d,%d,%s,%s,%.1f,%.1f,%s,%+.0f\n", of[1], of[2], of[3], of[4], of[7], cpu, machine, by_mca, clock, bound,
                100 * (clock / by_mca - 1)
        }' "sim/machines/$2.cfg" -
}

openblas=$(ldconfig -p | awk '/libopenblas\.so\.0/ { print $NF; exit }')
echo "# Loops of multiply-adds: cycles of a pass by llvm-mca of $("$mca" --version | grep -o 'LLVM version [0-9.]*'), and by the clock (ports.sh)."
echo "kernel,loop,instructions,multiply_adds,loads,cpu,machine,mca_cycles,clock_cycles,clock_bound,clock_beyond_mca_percent"
regions=$(mktemp)
trap 'rm -f "$regions"' EXIT
for isa in avx2 avx512; do
    for object in "$build/obj/kernels/ukr/$isa"/f32_*_"$isa".o; do
        loops "$(basename "$object" .o)" "$object"
    done >"$regions"
    core=$([ $isa = avx2 ] && echo HASWELL || echo SKYLAKEX)
    [ -z "$openblas" ] || loops openblas --disassemble="sgemm_kernel_$core" "$openblas" >>"$regions"
    while read -r cpu machine; do
        [ "$isa $cpu" = "avx512 znver3" ] || rows "$cpu" "$machine" <"$regions"
    done <<<"$cpus"
done
