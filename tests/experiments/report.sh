#!/usr/bin/env bash
# The report as a reader meets it. Run from the project's folder; BUILD has the programs (default build). If there is a
# Chromium, the pages are opened in the browser.
set -u

report=${BUILD:-build}/report
program=$report
# shellcheck source=tests/check.bash
. tests/check.bash

# ---- refusals ----

no_report() { # no_report WHY FOLDER [ARGUMENT...]: ends with status 2 and one line
    fails_with 2 "$1" "$report" "RESULTS=$2" "${@:3}"
    check "report $2 left something: $(find "$2" -name 'report.h*' 2>/dev/null)" [ -z "$(find "$2" -name 'report.h*' 2>/dev/null)" ]
}
mkdir "$work/none"
no_report "there are no results in '$work/none'" "$work/none"
no_report "cannot read the folder '$work/nowhere'" "$work/nowhere"
no_report "unknown option 'MODELS=x'" "$work/none" MODELS=x

# ---- pages ----

page() { # page FOLDER [ARGUMENT...]: succeeds; the page is there, and no half of one
    succeeds "RESULTS=$1" "${@:2}"
    check "report $1: no page" test -s "$1/report.html"
    check "report $1: a partial file is left" [ -z "$(find "$1" -name '*.partial*')" ]
}
has() { # has FILE WORDS: the words stand in it
    check "$1: '$2' is missing" grep -qF -- "$2" "$1"
}
has_not() {
    check "$1: '$2' is there" bash -c "! grep -qF -- '$2' '$1'"
}

all=$work/all
cp -r results/reference "$all"
page "$all"
html=$all/report.html
git rev-parse --git-dir >/dev/null 2>&1 && check "git would take a page at the top of results/" [ "$(git check-ignore results/report.html | wc -l)" -eq 1 ]
check "the page is larger than 6 MB" [ "$(stat -c %s "$html")" -lt 6000000 ]
for folder in clx4208/vgg16 power10/resnet18 power10/judgement gnr/study zen3/validation zen4/peers/all; do
    has "$html" "<h2>${folder//\//\/<wbr>}: "
done
check "nothing but the page itself is asked for" bash -c "! grep -oE '(src|href)=\"[^\"#d][^\"]*' '$html'"
check "every figure of an experiment is inside" [ "$(grep -o '<img class=plot alt="[^"]*" src="data:image/svg' "$html" | wc -l)" -ge 14 ]
check "numbers can be read without JavaScript" grep -q '<td>conv1_1.*<td>' <(sed 's/<[^t>][^>]*>//g' "$html")
has "$html" "micro-kernel f32_16x24__avx512: 16 x 24 outputs"
has_not "$html" '<td>nan'
has "$html" "<dt>misses in L2</dt><dd>0.57× <small>of Base's, SConv as CSA chose: 0.71 % of its loads, Base 1.83 %, simulated</small>"
has "$html" '<dt>the computer, meanwhile</dt><dd>quiet <small>steal 0.0 %, 0.0 % of the time waiting for the core</small>'
has "$html" 'as fast as Base on this computer, with plans for clx4208, 95 % within ['
has_not "$html" '<div class=faint>'
has_not "$html" 'inf<'

has "$html" "<p class=answer>On this computer, with plans for clx4208: SConv, OpenBLAS's micro-kernel is faster than im2col + OpenBLAS: "
has "$html" '<p class=answer>By simulated misses alone, on power10: '
has "$html" '>power10/<wbr>resnet18</a><td class=w>By simulated misses alone, on power10: '

# The overview has an answer for every folder, of every kind.
overview() { sed -n '/<h2>Overview</,/<\/table>/p' "$html" | grep '^<tr>'; }
check "the overview has $(overview | wc -l) folders" [ "$(overview | wc -l)" -eq "$(grep -c '<h2>' "$html" | awk '{ print $1 - 1 }')" ]
check "a folder has no answer: $(overview | grep -E '<td>$|no verdict')" [ -z "$(overview | grep -E '<td>$|no verdict')" ]
found() { has "$html" ">${1//\//\/<wbr>}</a><td class=w>$2"; } # found FOLDER ANSWER: the overview's row
found gnr/study 'Does it choose the faster schedule? Not better than a constant: '
found zen3/validation 'Simulated as the machine is, with prefetchers, counts are near the measured ones in 7 of 10 respects; caches alone are in 0 of 10.'
found zen4/peers/all "Speed-up over Base, and layers that are faster: im2col by rows 1.01 (46.1 %); SConv 1.19 (92.6 %); "
found gnr/polydl 'Best pick: '
found zen4/polydl 'Best pick: '

check "a sweep's sums over the layers" [ "$(grep -A2 '<h5>All 20 layers <small></small></h5>' "$html" | grep -c 'data-a="base" .* data-m0="1.853e+04,')" -eq 1 ]
check "a sweep says without JavaScript which setting is drawn" grep -q '<noscript><p class=note>Drawn: L1 misses at L1.size=16K, L2.size=256K</p></noscript>' "$html"
cp "$html" "$html.all"
page "$all" MODEL=vgg16
has "$html" "<h2>clx4208/<wbr>vgg16: "
has_not "$html" "resnet18"
no_model=$work/no_model
cp -r results/reference/clx4208 "$no_model"
no_report "there are no results of vgg17 in" "$no_model" MODEL=vgg17

# Misses of next to no loads are no headline.
few=$work/few/vgg16
mkdir -p "${few%/*}" && cp -r results/reference/clx4208/vgg16 "$few"
csv_rows "$few/model.csv" | awk -F, 'BEGIN { OFS = FS } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
    { $at["simulated_l3_miss_percent"] /= 20; print }' >"$work/model.csv"
mv "$work/model.csv" "$few/model.csv"
page "$few"
check "both rates are below 0.1 %: the card is grey" grep -q '<div class=faint><dt>misses in L3</dt><dd>&lt; 0.1 % <small>of all loads: SConv as CSA chose 0.015 %, Base 0.065 %. Too few to compare (0.3[45]×)' "$few/report.html"
check "... and the only one" [ "$(grep -o 'class=faint' "$few/report.html" | wc -l)" -eq 1 ]
check "the first figure is the time, then come the reasons" [ "$(grep -o '<h4>[^<?]*' "$few/report.html" | head -2 | tr '\n' ' ')" = "<h4>How long does it take <h4>How many loads miss in each level " ]

# The first figure has every algorithm with time, interval and speed-up, and each layer leads to its page.
check "the chart has the time of conv1_1" grep -q '<h5><a href="#r1-l1">conv1_1</a> <small>' "$few/report.html"
bar=$(grep -A4 '>conv1_1</a> <small>' "$few/report.html" | grep -o 'class=bar data-a="sconv".*data-v="[^"]*"')
check "a bar has value, interval, rate and speed-up: $bar" grep -qE 'data-v="([0-9.e+-]+,){7}' <<<"$bar"
check "SVG without JavaScript" grep -q '<svg width=100% height=16><rect class=k y=2 height=12 width=' "$few/report.html"

# A sweep of the same model beside the run is on the run's page, with sliders.
has "$few/report.html" "Other sizes and ways: make sweep MODEL=vgg16 MACHINE=clx4208 VARY='L1.size=16K,32K,64K L1.ways=4,8,16'"
swept=$work/swept/vgg16
mkdir -p "$work/swept/sweep/vgg16" && cp -r "$few" "$swept"
cp results/reference/clx4208/sweep/resnet18/sweep.csv "$work/swept/sweep/vgg16"
page "$swept"
check "the sweep is on the page of the run" grep -q '<ul class=points hidden><li><b>L1.size</b><b>L2.size</b></li>' "$swept/report.html"
has_not "$swept/report.html" 'Other sizes and ways'

# What a reader asks first stands above the first figure: why, what it waits for, which layer next.
has "$few/report.html" "<dt>why</dt><dd>Base spends 40 % of its time on im2col and packing, SConv, OpenBLAS's micro-kernel 7 %; its micro-kernels take 1.06 of the time of Base's.</dd>"
has "$few/report.html" "<dt>what it waits for</dt><dd>No waits are simulated for this machine. Loads that miss with SConv, OpenBLAS's micro-kernel: L1 9.26 %, L2 1.25 %, L3 "
has "$few/report.html" '<dt>which layer next</dt><dd><a href="#r1-l2">conv1_2</a> <small>Its fastest algorithm, SConv, takes 26.9 ms, 14 % of all layers, at 64 % of the measured FMA peak. At that rate it would save 9.78 ms, more than any other layer.</small>'
check "they stand above the figure" [ "$(grep -n -m1 'which layer next' "$few/report.html" | cut -d: -f1)" -lt "$(grep -n -m1 '<figure class=bars' "$few/report.html" | cut -d: -f1)" ]

# A network: the time by step is the first figure and the first table.
has "$all/report.html.all" '<caption>Estimated cycles by step with SConv, '
network=$work/network/squeezenet
mkdir -p "${network%/*}" && cp -r results/reference/zen3/network/squeezenet "$network"
for table in nodes network; do
    csv_rows "$network/$table.csv" | awk -F, 'BEGIN { OFS = FS } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
        { $at["measured_time_ns"] = $at["estimated_cycles"] / 4; print }' >"$work/$table.csv"
    mv "$work/$table.csv" "$network/$table.csv"
done
page "$network"
check "the first figure has the steps" [ "$(grep -o '<h4>[^<]*' "$network/report.html" | head -1)" = '<h4>Which step takes the time, and what does it wait for?' ]
check "the first table has the time by step" [ "$(grep -o '<caption>[^<,]*' "$network/report.html" | head -1)" = '<caption>Time by step with SConv' ]
check "the best rate is the roof" grep -q 'data-roof="[0-9.]*" data-top="the best rate"' "$network/report.html"
check "conv1 would save time" grep -q '>conv1 <small>Conv + Relu, 1x96x109x109; [0-9.]* %, would save [0-9.]* ms' "$network/report.html"

# A log's own times stand beside ours: in the table, on the screen and on the page. tests/data/onednn.log is a real log;
# our times are made up here, because nothing may depend on the clock.
log=$work/log/zen3/onednn
"${BUILD:-build}/experiment" MODEL=tests/data/onednn.log MACHINE=zen3 UKR=f32_16x24__avx512 CORE=Haswell TIMING=0 OBSERVE=0 STORE=no ALGO=base,sconv_ws "RESULTS=$work/log" >"$work/out" 2>"$work/err"
check "the log's times: $(tail -1 "$work/err")" [ "$(columns "$log/layers.csv" algo given_time_ns | awk '$1 == "base" { printf "%s ", $2 }')" = "254883 640137 334961 " ]
check "... on the screen: $(cat "$work/out")" grep -qx 'log      in the log, oneDNN takes 1.23 ms for 3 of 3 layers' "$work/out"
has "$log/report.html" "<dt>what it waits for</dt><dd>By simulation, of the cycles of SConv: computing 73 %, packing 5 %, calls and loop ends 8 %, waiting for memory 12 %, waiting for stores 2 %; of Base: "
has "$log/report.html" "<dt>why</dt><dd>By simulation, SConv needs 16 % of Base's cycles less for packing.</dd>"
has "$log/report.html" '<dt>which layer next</dt><dd><a href="#r1-l1">01_3x56x56_64_7x7_s2x2</a> <small>Its fastest algorithm, SConv, takes 0.84 million cycles, 23 % of all layers, at 66 % of the best rate of a layer.'
check "... beside cycles" [ "$(grep -c '<small>.*; in the log [0-9.]* ms</small>' "$log/report.html")" -eq 4 ]
for table in layers model; do
    csv_rows "$log/$table.csv" | awk -F, 'BEGIN { OFS = FS } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
        { $at["measured_time_ns"] = 500000; print }' >"$work/$table.csv"
    mv "$work/$table.csv" "$log/$table.csv"
done
page "$log"
check "... and as bars, in each layer and in all" [ "$(grep -c 'class=bar data-a="oneDNN, as the log says"' "$log/report.html")" -eq 4 ]
has "$log/report.html" 'data-v="0.2549,,,57.88,1.962,,,"><b>oneDNN, as the log says</b>'

# Simulated cycles are withdrawn if the measured times on an equal machine are on the other side of 1, as in the
# verdict.
sed -i '1s/$/,simulated_cycles,simulated_speedup/; 2,$s/$/,100,0.84/' "$few/model.csv"
page "$few"
has "$few/report.html" '<dt>SConv, by simulated cycles</dt><dd>0.84× <small>as fast as Base</small>'
csv_rows "$few/layers.csv" | awk -F, 'BEGIN { OFS = FS } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
    { $at["measured_is_machine"] = 1; print }' >"$work/layers.csv"
mv "$work/layers.csv" "$few/layers.csv"
page "$few"
has "$few/report.html" '<div class=faint><dt>SConv, by simulated cycles</dt><dd>withdrawn <small>0.84× as fast as Base, which is measured on the other side of 1</small>'

# The reason for a left-out column is the first row's reason, whatever reasons other rows have.
sed -i '$s/not available: [^,"]*/not available: the last row says so/g' "$few/model.csv"
check "the last row has reasons of its own" grep -q 'the last row says so' "$few/model.csv"
page "$few"
check "they are not given for all rows" sh -c "! grep -q 'not available: the last row says so' '$few/report.html'"
has "$few/report.html" 'miss L1, measured; miss L2, measured; miss L3, measured – not available: '

# A page about many layers has those with the most work.
many=$work/many/x
mkdir -p "$many" && cp "$few/machine.cfg" "$few/traffic.csv" "$many"
csv_rows "$few/layers.csv" | awk -F, 'BEGIN { OFS = FS } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
    $at["layer"] == "conv1_1" { row[++n] = $0 }
    END { for (l = 1; l <= 400; l++) for (r = 1; r <= n; r++) { $0 = row[r]; $at["layer_index"] = l; $at["layer"] = "l" l; $at["macs"] += l; print } }' >"$many/layers.csv"
page "$many"
has "$many/report.html" 'These are the 250 layers with the most work; layers.csv has all 400.'
has "$many/report.html" '300 more shapes, with less work, have no page here'
has_not "$many/report.html" '>l150<'
has_not "$many/report.html" '<summary><b>l300</b>'
has "$many/report.html" '<summary><b>l301</b>'
check "it is small" [ "$(stat -c %s "$many/report.html")" -lt 3000000 ]

# The layers' numbers are those of the table.
vgg=$no_model/vgg16
page "$vgg"
row() { # row ALGORITHM: conv1_1's speed-up in the page's table of layers
    grep -A400 'Layer by layer and algorithm' "$vgg/report.html" | grep -m1 "conv1_1</a><td>$1<td>" | sed 's/<[^>]*>/ /g'
}
speedup=$(columns "$vgg/layers.csv" layer algo measured_speedup_vs_base | awk '$1 == "conv1_1" && $2 == "sconv_is" { printf "%.2f", $3 }')
check "conv1_1, SConv IS: $speedup is not in: $(row 'SConv IS')" bash -c "[[ '$(row 'SConv IS')' == *' $speedup '* ]]"

# ---- hostile, old and broken folders ----

hostile=$work/hostile/x
mkdir -p "$hostile"
cp "$vgg"/*.csv "$vgg"/*.txt "$vgg/machine.cfg" "$vgg"/*.svg "$hostile"
evil='"</td><script>document.title=1</script><img src=x onerror=alert(1)>""&amp;|`'"'"'
next"'
for table in layers samples traffic classes; do
    # shellcheck disable=SC2016
    EVIL=$evil awk '/^#/ { print; next } { gsub(/conv1_1/, ENVIRON["EVIL"]); print }' "$vgg/$table.csv" >"$hostile/$table.csv"
done
sed -i 's|</svg>|<script>document.title=2</script><image href="http://example.org/x.png"/><g onload="document.title=3"><text>kept</text></g></svg>|' "$hostile/speedup_layers.svg"
sed -i 's/^VERDICT for/VERDICT <b>bold<\/b> for/' "$hostile/verdict.txt"
printf 'bytes: \377, turned: \342\200\256\n' >>"$hostile/verdict.txt"
mv "$hostile" "$hostile"$'\377' && hostile+=$'\377'
page "$work/hostile"
html=$work/hostile/report.html # opened below, too
check "the figure is inside" grep -q 'src="data:image/svg[^"]*<text>kept</text>[^"]*"' "$html"
around=$work/around.html # the page without its pictures, in which no script runs
sed 's/ src="data:[^"]*"//g' "$html" >"$around"
has_not "$around" '<script>document'
has_not "$around" '<img src=x'
has_not "$around" 'document.title=2'
has_not "$around" 'example.org'
has_not "$around" 'onload='
has_not "$around" '<b>bold'
check "the page is UTF-8" iconv -f UTF-8 -t UTF-16 "$html" -o /dev/null
check "nothing turns the direction of text" bash -c "! grep -q \$'\342\200\256' '$html'"
has "$html" '&lt;script&gt;document.title=1'

old=$work/old/x
mkdir -p "$old"
cp "$vgg"/traffic.csv "$old"
columns_but "$vgg/layers.csv" 'simulated|plan|chosen|in_c' | sed 's/^,//' >"$old/layers.csv"
page "$work/old"
has "$work/old/report.html" 'There is no verdict.txt in this folder'
has "$work/old/report.html" 'Times, measured'
cp "$vgg/model.csv" "$old"
sed -i '/,sconv,/d; /,base,/d' "$old/model.csv"
page "$work/old"
has "$work/old/report.html" 'The whole model'
echo 'broken,"' >"$old/layers.csv"
page "$work/old"
has "$work/old/report.html" "This folder could not be read: $old/layers.csv:1: "
rm "$old/layers.csv"
page "$work/old"
has "$work/old/report.html" "This folder could not be read: $old: no layers.csv"

# ---- words ----

words=$work/words/x
mkdir -p "$words"
{
    printf 'Which is best?\nThe first is.\n\n  as  it is | here\n\nhow fast <b>they</b> are:\n\n'
    printf '| name | kind | speed | note |\n|---|:--|--:|---|\n| one | a | 1.5 | - |\n| two | <i> | 100 %% |\n\nthe end\n| no table |'
} >"$words/verdict.txt"
cp "$vgg/layers.csv" "$words/picks.csv"
page "$work/words"
said=$work/words/report.html
has "$said" '<p>Asked: Which is best?</p>'
has "$said" '<p class=answer>The first is.</p>'
has "$said" '  as  it is | here</pre>'
has "$said" 'table class=t2><caption>how fast &lt;b&gt;they&lt;/b&gt; are:</caption><thead><tr><th>name<th>kind<th>speed<th>note</thead>'
has "$said" '<tr><td>one<td>a<td>1.5<td>-'
has "$said" '<tr><td>two<td>&lt;i&gt;<td>100 %<td>'
check "what follows a table stays as it is" grep -qz 'the end.| no table |</pre>' "$said"
check "headings of study.md are parts of their chapter" [ "$(grep -c '<h3>What was to be reached</h3>' "$all/report.html.all")" -eq 1 ]
check "and its tables are tables" grep -q "<td>zen3, cold<td>78.11 %" "$all/report.html.all"

# ---- in a browser ----

chromium=$(command -v chromium || command -v chromium-browser || true)
browse() { # browse HTML WIDTH [OPTION...]: opens the page and tries it; what it found is in $work/found, its console in $work/console
    sed "s|</body>|<script>$(tr '\n' ' ' <tests/experiments/report_browser.js | sed 's/[&|\\]/\\&/g')</script></body>|" "$1" >"$work/opened.html"
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --enable-logging=stderr \
        --window-size="$2",900 --virtual-time-budget=5000 --dump-dom "${@:3}" "file://$work/opened.html" >"$work/dom" 2>"$work/console"
    sed -n 's/.*<html lang="en" data-found="\([^"]*\)".*/\1/p' "$work/dom" | tr ';' '\n' | sed 's/&gt;/>/g; s/&amp;/\&/g' >"$work/found"
}
opens() { # opens HTML WIDTH [OPTION...]: all of its parts work
    browse "$@"
    check "$1 at $2: nothing was tried: $(grep -v ERROR "$work/console" | tail -3)" grep -qx 'end of the trial' "$work/found"
    check "$1 at $2: $(grep '^failed' "$work/found" | head -3)" bash -c "! grep -q '^failed' '$work/found'"
    check "$1 at $2: on the console: $(grep 'CONSOLE' "$work/console" | head -2)" bash -c "! grep -q CONSOLE '$work/console'"
}
if [ -z "$chromium" ]; then
    echo "report: not opened in a browser: there is no chromium (Debian's package chromium)"
else
    page "$all"
    opens "$all/report.html" 1280
    "${BUILD:-build}/compare" A=results/reference/clx4208/vgg16 "B=$few" "RESULTS=$work/pair" >/dev/null 2>&1
    pair=$(echo "$work"/pair/host/compare/*/compare.html)
    opens "$pair" 1280
    opens "$pair" 390 --blink-settings=preferredColorScheme=0
    opens "$all/report.html" 390 --blink-settings=preferredColorScheme=0
    opens "$html" 400 --blink-settings=preferredColorScheme=0
    sed 's|</main>|<a href="#nowhere">x</a><img src="nothing.png"></main>|' "$vgg/report.html" >"$work/broken.html"
    browse "$work/broken.html" 1280
    check "a link that leads nowhere is found" grep -q '^failed: .*#nowhere' "$work/found"
    check "a request is found" bash -c "grep -q CONSOLE '$work/console' || grep -q '^failed: .*requests' '$work/found'"
fi

finish
