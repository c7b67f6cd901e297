# What mutate.sh breaks: mutant WHAT FILE SED TEST...
# shellcheck shell=bash

mutant "an index in a nest: filter panels without their taps" kernels/nest/nest_sconv.c \
    's/f0 \* s->n_c \* s->taps;/f0 * s->n_c;/' nest sconv shapes exp_replay
mutant "a bound in a nest: the last ragged tile is whole" kernels/nest/nest_sconv.c \
    's/min_size\(s->n_filters - step->f0, s->plan->ukr->n_f\)/s->plan->ukr->n_f/' nest
mutant "padding: a row of taps too many is left out above" kernels/nest/dead_rows.c \
    's/ceil_div\(p->pad_top - bottom, p->dilation_h\)/ceil_div(p->pad_top - bottom, p->dilation_h) + 1/' nest sconv
mutant "a mask in a kernel: AVX-512 stores one window too many" kernels/ukr/avx512/x86_tile_avx512.h \
    's/\(1u << n\) - 1/(2u << n) - 1/' kernels
mutant "a sign in CSA, Eq. 12" kernels/csa/csa.c 's/(n_streaming, c->k2\)) - 1;/\1 + 1;/' csa
mutant "a sign in CSA, Eq. 14" kernels/csa/csa.c 's/n_stationary - 1\) \* streaming_lines/n_stationary + 1) * streaming_lines/' csa
mutant "a policy's victim: LRU takes the youngest" sim/replacement/replacement_lru.c \
    's/set\[w\] < set\[oldest\]/set[w] > set[oldest]/' sim_policy
mutant "a policy's bits: tree-PLRU points to what was used" sim/replacement/replacement_tree_plru.c \
    's/if \(node % 2\)/if (!(node % 2))/' sim_policy
mutant "a prefetcher's degree: next_line asks for one line" sim/prefetch/prefetch_next_line.h \
    's/return p->degree;/return 1;/' sim_full sim_random
mutant "a column's order" experiments/report/exp_columns.c \
    '/^    \{ EXP_COLUMN_TIME_MIN,/{h;d};/"measured_time_max_ns"/G' "tests/experiments/cli.sh documentation"
mutant "a column's value: the fastest round is the slowest" experiments/report/exp_columns.c \
    's/EXP_COLUMN_TIME_MIN, put_time, MIN/EXP_COLUMN_TIME_MIN, put_time, MAX/' exp_replay "tests/experiments/cli.sh results"
mutant "a unit in a report" experiments/report/exp_columns.c \
    's/"measured_time_max_ns", "ns"/"measured_time_max_ns", "us"/' "tests/experiments/cli.sh documentation"
mutant "a bound in problem.c: least values" kernels/problem.c \
    's/conv_field\(p, i\) < conv_fields\[i\]\.low/conv_field(p, i) + 1 < conv_fields[i].low/' shapes sconv_errors
mutant "an overflow in problem.c: sums" kernels/problem.c \
    's/sum, term, sum\) && \*sum <= max_bytes\(\)/sum, term, sum)/' shapes sconv_errors exp_model
mutant "an escape in CSV: quotes are not doubled" experiments/base/exp_csv.c \
    "s/\\*text == '\"' \\? \"[^:]*: \"\"/\"\"/" exp_csv
mutant "a share of threads: the unit between two is one's own" kernels/nest/share.c \
    's/place\.minor = nearest_start\([^;]*;/place.minor = 0;/' share
mutant "a team that does not sleep" kernels/lib/team.c 's/SPIN_NS = 100000/SPIN_NS = 1000000000/' team
mutant "a team's run that a cancellation ends" kernels/lib/team.c 's/pthread_setcancelstate\(PTHREAD_CANCEL_DISABLE, &state\)/state = 0/' team
mutant "the fastest quarter: one of 4 n rounds too many" experiments/base/exp_stats.c \
    's/\(n \+ 3\) \/ 4/n \/ 4 + 1/' exp_bench
mutant "a median of an even number" experiments/base/exp_stats.c 's/n \/ 2 - 1\)/n \/ 2)/' exp_bench
mutant "an interval's quantile: 10 % of the draws on each side" experiments/base/exp_ratio.c \
    's/EXP_RATIO_DRAWS \/ 40/EXP_RATIO_DRAWS \/ 10/' exp_bench
mutant "a stop rule: the time limit in the wrong unit" experiments/base/exp_bench.c \
    's/elapsed_ns >= r->limit_ns/elapsed_ns \/ 1000 >= r->limit_ns/' exp_bench
mutant "a stop rule: one round too many" experiments/base/exp_bench.c 's/n >= r->most/n > r->most/' exp_bench
mutant "a count: write-backs, in the simulator of all features" sim/full/engine_full_path_tmpl.h \
    's/level\[k\]\.write_backs\+\+/level[k].write_backs += 2/' sim_full sim_random
mutant "a calibration: what is near in half of the rounds only is far" experiments/calibrate/exp_timing.c \
    's/row->near_share >= 0\.5/row->near_share >= 0.95/' timing
mutant "a calibration: the line beside is looked for" experiments/calibrate/exp_timing.c \
    's/l\.probed = from \+/l.probed = from + 64 +/' timing
mutant "the host's file: caches of other ways are the same" experiments/setup/exp_host.c \
    's/a->n_ways == b->n_ways && //' timing
mutant "a figure's scripts pass into the page" experiments/page/exp_page_svg.c 's/c->skips = !closes && !is_empty;/c->skips = false;/' page
mutant "a p value without its correction for continuity" experiments/compare/exp_rank_test.c 's/fmax\(far - 0\.5, 0\)/far/' compare
mutant "Holm's method forgets how many tests are left" experiments/compare/exp_rank_test.c 's/p\[next\] \* \(double\)left/p[next]/' compare
mutant "a task of a living process is taken" experiments/store/exp_store.c 's/return EXP_CLAIM_ELSEWHERE;/return EXP_CLAIM_TAKEN;/' store
mutant "a second result of a task is added" experiments/store/exp_store_sql.h "s/ AND state <> 'done'//" store
mutant "a line that was written stays dirty after it was fetched again" sim/analysis/ways.c 's/used\.dirty_from = place;/;/' sim_reuse
