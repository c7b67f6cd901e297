# The mutants of mutate.sh: mutant WHAT FILE SED TEST...
# shellcheck shell=bash

mutant "an index in a nest: filter panels without their taps" kernels/nest/nest_sconv.c \
    's/f0 \* s->panel_filter;/f0 * s->n_c;/' nest sconv shapes exp_replay
mutant "a bound in a nest: the last ragged tile is whole" kernels/nest/nest_sconv.c \
    's/min_size\(s->n_filters - step->f0, s->plan->ukr->n_f\)/s->plan->ukr->n_f/' nest
mutant "padding: a row of taps too many is left out above" kernels/shape/problem.c \
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
    's/sim_prefetch_first_bits\(p->degree\)/1/' sim_full sim_random
mutant "a column's order" experiments/bench/measure/measures.def \
    '/^MEASURE\(measured_time_min_ns,/{h;d};/^MEASURE\(measured_reps,/G' tests/experiments/bench.sh
mutant "a measure's value: the fastest round is the median" experiments/bench/measure/measures.def \
    's/IF\(TIME, x->times\.fastest\)/IF(TIME, x->times.median)/' measure
mutant "the observed part of a layer stands for itself" experiments/bench/measure/measure.c 's/1 \/ x->c->observed\.share/1/' measure
mutant "a unit in a report" experiments/bench/measure/measures.def \
    's/measured_time_max_ns, "ns"/measured_time_max_ns, "us"/' tests/experiments/bench.sh
mutant "a bound in problem.c: least values" kernels/shape/problem.c \
    's/conv_field\(p, i\) < conv_fields\[i\]\.low/conv_field(p, i) + 1 < conv_fields[i].low/' shapes sconv_errors
mutant "an overflow in problem.c: sums" kernels/shape/problem.c \
    's/sum, term, sum\) && \*sum <= max_bytes\(\)/sum, term, sum)/' shapes sconv_errors exp_model
mutant "an escape in CSV: quotes are not doubled" experiments/base/csv.c \
    "s/\\*text == '\"' \\? \"[^:]*: \"\"/\"\"/" exp_csv
mutant "a share of threads: the unit between two is one's own" kernels/nest/share.c \
    's/place\.minor = nearest_start\([^;]*;/place.minor = 0;/' share
mutant "a team that does not sleep" kernels/lib/team.c 's/SPIN_NS = 100000/SPIN_NS = 1000000000/' team
mutant "a team's run that a cancellation ends" kernels/lib/team.c 's/pthread_setcancelstate\(PTHREAD_CANCEL_DISABLE, &state\)/state = 0/' team
mutant "the fastest quarter: one of 4 n rounds too many" experiments/base/stats.c \
    's/\(n \+ 3\) \/ 4/n \/ 4 + 1/' exp_stats
mutant "a median of an even number" experiments/base/stats.c 's/n \/ 2 - 1\)/n \/ 2)/' exp_stats
mutant "an interval's quantile: 10 % of the draws on each side" experiments/base/stats.c \
    's/EXP_RATIO_DRAWS \/ 40/EXP_RATIO_DRAWS \/ 10/' exp_stats
mutant "a stop rule: the time limit in the wrong unit" experiments/base/stats.c \
    's/elapsed_ns >= r->limit_ns/elapsed_ns \/ 1000 >= r->limit_ns/' exp_bench
mutant "a stop rule: one round too many" experiments/base/stats.c 's/n >= r->most/n > r->most/' exp_bench
mutant "a count: write-backs, in the simulator of all features" sim/full/engine_full_path_tmpl.h \
    's/level\[k\]\.write_backs\+\+/level[k].write_backs += 2/' sim_full sim_random
mutant "records repeat what changed something" sim/full/engine_full_records_tmpl.h \
    's/n_quiet \+ 1 : 0/n_quiet + 1 : 4/' sim_random
mutant "a line that is asked for overtakes those that wait" sim/full/engine_full_prefetch_tmpl.h \
    's/!is_first \|\| ahead != LOOKED_FOR_HIT/ahead != LOOKED_FOR_HIT/' sim_random
mutant "a line that waits twice is not looked for again" sim/full/engine_full_prefetch_tmpl.h \
    's/ \|\| \(!is_first && is_waiting\(e, wanted\)\)//' sim_random
mutant "more accesses to a line are counted though some prefetchers forget" sim/full/engine_full_tmpl.h \
    's/e->remembers_hits && \*sim/*sim/' sim_random
mutant "a prefetcher that alone sees hits asks for lines of other blocks" sim/full/engine_full_tmpl.h \
    's/asked\.which && !\(\(\(uint64_t\)asked\.first \^ line\) >> a->stay_shift\)/asked.which/' sim_random
mutant "of the lines that a prefetcher asks for at a hit the first comes" sim/full/engine_full_tmpl.h \
    's/asked\.which > 1\)/asked.which > 3)/' sim_random
mutant "hits of a level that classifies are no uses to its shadow" sim/full/engine_full_tmpl.h \
    's/who->is_classified = .*/who->is_classified = false;/' sim_random
mutant "what a shadow remembers it holds" sim/full/shadow.h \
    's/s->stamp\[node\] < SIM_SHADOW_FIRST_TIME \|\| //' sim_full
mutant "a shadow that is used again never packs its log" sim/full/shadow.h 's/ \|\| now \+ 1 == s->end\)/)/' sim_full
mutant "one simulation serves machines that count otherwise" experiments/sweep/jobs.c \
    's/return has_clock\(s, task\) && !has_prefetchers\(machine_at\(s, task\)\) && !by_counting\(s, before, task\);/return has_clock(s, task) \&\& !by_counting(s, before, task);/' tests/experiments/sweep.sh
mutant "machines count the same if their memory has a price" experiments/bench/replay/quantity.c \
    's/c\.memory_latency_cycles = c\.memory_scattered_cycles;.*/c.memory_latency_cycles = 0;/; s/assert\(!err\);.*/(void)err;/' \
    tests/experiments/sweep.sh
mutant "a line in front need not be dirty for a store to change nothing" sim/full/engine_full_tmpl.h \
    's/\(who->dirt && !\(\*sim_full_level_flags\(l, p\) & SIM_FULL_DIRTY\)\)/false/' sim_random
mutant "what followers are asked for comes before what waits" sim/full/engine_full_relay_tmpl.h \
    's/if \(sim_full_asking_level\(w->by\)\)/if (sim_full_asking_level(w->by) == 1)/' sim_random
mutant "a prefetcher of the first level asks behind its request" sim/full/engine_full_path_tmpl.h \
    's/if \(!r->is_prefetch\)/if (r->is_walk)/' sim_random
mutant "followers do not know the time" sim/full/engine_full_relay_tmpl.h 's/f->n_requests = n->time;//' sim_random
mutant "followers do not know the time of hits" sim/full/engine_full_relay.c 's/f->n_requests = e->n_requests;//' sim_random
mutant "a follower counts loads that a store's reads miss for" sim/full/engine_full_relay_tmpl.h \
    's/n->by \? &other : &f->load/\&f->load/' sim_random
mutant "followers see instructions as loads" sim/full/engine_full_relay_tmpl.h \
    's/r->is_instructed = n->by & SIM_FULL_BY_INSTRUCTION;/r->is_instructed = false;/' sim_random
mutant "a first level that an inclusive one looks into is shared" sim/full/engine_full_relay.c \
    's/m->level\[k\]\.inclusion == SIM_INCLUSIVE/m->level[k].inclusion > SIM_EXCLUSIVE/' sim_random
mutant "first levels are shared whatever the TLBs" sim/full/engine_full_relay.c 's/a->n_tlbs == b->n_tlbs && //; s/!= b->tlb\[i\]\.n_entries/!= a->tlb[i].n_entries/' sim_random
mutant "of several clocks one sees each step" experiments/bench/replay/replay.c 's/i < b->r->n_clocks/i < 1/' tests/experiments/sweep.sh
mutant "a burst with one single access has only such" sim/engine/bursts_tmpl.h 's/n_lone == n && /n_lone \&\& /' sim_random
mutant "a stream follows into a block whatever line it came to" sim/prefetch/prefetch_stream.h \
    's/ && s->entry\[i\]\.last == last//' sim_full sim_random
mutant "a calibration: what is near in half of the rounds only is far" experiments/calibrate/timing.c \
    's/row->near_share >= 0\.5/row->near_share >= 0.95/' timing
mutant "a calibration: the line beside is looked for" experiments/calibrate/timing.c \
    's/probed\(&row\[i\], from\)/probed(\&row[i], from + 64)/' timing
mutant "the host's file: caches of other ways are the same" sim/machine/machine_host.c \
    's/ && \(!told->n_ways \|\| ways == l->n_ways\)//' sim_machine_host timing
mutant "a figure's quotes end the page's attribute" experiments/show/page_writer.c 's/strchr\("\\"#%&"/strchr("#%\&"/' page tests/experiments/report.sh
mutant "a chart's slow bar hides the others" experiments/show/page_bars.c 's/EXP_PAGE_BARS_OVER \* base/1e9 * base/' page
mutant "a sweep's sums are of the last layer" experiments/show/page_sweep.c 's/isnan\(\*at\) \? number : \*at \+ number/number/' tests/experiments/report.sh
mutant "the layer that is next is the slowest" experiments/show/page_why.c 's/c\.cost - c\.work \/ roof;/c.cost + 0 * roof;/' tests/experiments/report.sh
mutant "a log's time is that of the first run" experiments/bench/model/onednn.c 's/exp_spread_of\(ns, n\)\.median/ns[0]/' exp_workload
mutant "a log's time of two convolutions is that of one" experiments/bench/model/onednn.c 's/m->n_layers == n_before \+ 1\)/m->n_layers > n_before)/' exp_workload
mutant "a p value without its correction for continuity" experiments/compare/rank_test.c 's/fmax\(far - 0\.5, 0\)/far/' compare
mutant "Holm's method forgets how many tests are left" experiments/compare/rank_test.c 's/p\[next\] \* \(double\)left/p[next]/' compare
mutant "a task of a living process is taken" experiments/base/store_tasks.c 's/ EXP_CLAIM_ELSEWHERE : / EXP_CLAIM_TAKEN : /' store
mutant "a second result of a task is added" experiments/base/store_sql.h "s/ AND state <> 'done'//" store
mutant "a line that was written stays dirty after it was fetched again" sim/analysis/ways.c 's/used\.dirty_from = place;/;/' sim_reuse
mutant "a ranking of the net counts layers that trained it" experiments/papers/polydl/rank.c \
    's/net\.weight \? EXP_RANK_HELD_OUT : EXP_RANK_ALL/net.weight ? EXP_RANK_ALL : EXP_RANK_ALL/' polydl_verdict
mutant "a verdict whatever the clock says" experiments/papers/polydl/rank.c 's/l\.mean > 2 \* l\.error/l.mean > -1/' polydl_verdict
mutant "layers where no pick can fail are counted with the others" experiments/papers/polydl/rank.c \
    's/EXP_RANK_NEAR_BEST \* l->worst_ns/l->worst_ns/' polydl_verdict
mutant "a best variant without its equals" experiments/papers/polydl/tables.c 's/faster_half\(t\) <= slower_half/faster_half(t) < 0 * slower_half/' polydl_verdict
mutant "leaders run on when the clock repeats itself" experiments/papers/polydl/time/turns.c 's/ns \? \(double\)fastest\(k, best/false ? (double)fastest(k, best/' polydl_turns
mutant "everybody is a leader" experiments/papers/polydl/time/turns.c 's/best >= EXP_TURNS_LEAD \*/best >= 0.1 */' polydl_turns
mutant "the micro-kernel's share of a GEMM is the largest" experiments/papers/polydl/variants.c 's/gemm_units\[\] = \{ 64, 32, 16 \}/gemm_units[] = { 64, 64, 64 }/' polydl_walk
mutant "a parallel loop that is one tile vanishes" experiments/papers/polydl/variants.c 's/moved = d;/moved = l->space->n_dims;/' polydl_walk
mutant "a long nest's misses are those of its first calls" experiments/papers/polydl/analysis/haystack.c 's/\(double\)count \/ share/(double)count * (share > 0)/' polydl_rank
mutant "printed numbers of held-out layers are of all" experiments/papers/polydl/printed.c \
    's/!\(held_out && r->layer\[i\]\.is_training\)/!(held_out \&\& false)/' polydl_judge
mutant "fused operators have one image" experiments/papers/polydl/fused/fused.c 's/l->shape\.n = n_images/l->shape.n = 1/' tests/experiments/polydl.sh
mutant "judge: a layer's chosen schedule counts as the best one" experiments/choices/choice.c \
    's/s->chosen \+= c->cost\[c->chosen\]/s->chosen += c->cost[exp_choice_best(c)]/' judge
mutant "judge: regret is a share of what was chosen" experiments/choices/judge.c \
    's/\(s->chosen - s->best\) \/ s->best/(s->chosen - s->best) \/ s->chosen/' judge
mutant "judge: layers that lose against Base count as won" experiments/choices/judge.c \
    's/c->n_pays \+= exp_ratio_side\(&v\[i\]\.measured\) > 0/c->n_pays += exp_ratio_side(\&v[i].measured) < 0/' judge
mutant "peers: layers that are slower count as won" experiments/peers/report.c 's/won_percent\.number \+= speedup > 1/won_percent.number += speedup < 1/' peers
mutant "peers: a network's speed-up is turned round" experiments/peers/report.c \
    's/\{ base->times\.sample_ns, row->times\.sample_ns,/{ row->times.sample_ns, base->times.sample_ns,/' peers
mutant "peers: the mean over models is of the sums" experiments/peers/report.c 's/offsetof\(TOTAL, layers_speedup\),//' peers
mutant "peers: nothing is verified" experiments/peers/peers.c 's/err = exp_verify_all\(&e, &times, progress, why\)/err = 0/' tests/experiments/peers.sh
mutant "peers: the schedule that CSA did not choose" experiments/peers/peers.c 's/!e->cases\[i\]\.is_chosen/e->cases[i].is_chosen/' tests/experiments/peers.sh
mutant "plug-ins: this program's functions come before their libraries'" experiments/bench/plugin/process.c \
    's/ \| RTLD_DEEPBIND\)/)/' tests/experiments/plugin.sh
mutant "emit: loads and stores of one place are equal" experiments/emit/stream.c \
    's/<< 1 \| \(l->at\[i\]->kind == SIM_STORE\)/<< 1/' emit_streams
mutant "emit: accesses seen beside the replay's are not counted" experiments/emit/stream.c \
    's/return more \+ seen->n - s;/return 0;/' emit_streams
mutant "emit: generated code packs no filters before it runs" experiments/emit/build.c \
    's/"_pack_filters"/""/' emit_c
mutant "paper: Amdahl without the part that stays" experiments/papers/paper/numbers.c 's/1 \/ \(1 - share \+/1 \/ (share +/' paper
mutant "paper: an improvement of hits, not of misses" experiments/papers/paper/numbers.c \
    's/\(100 - base_hit_percent\) \/ \(100 - own_hit_percent\)/own_hit_percent \/ base_hit_percent/' paper
mutant "paper: the im2col matrix has the input's size" experiments/papers/paper/numbers.c \
    's/\(double\)p->r \* \(double\)p->s \* \(double\)p->p/(double)p->p/' paper
mutant "quantiles: the 10th percentile is the 1st" experiments/base/stats.c 's/s\.n, 0\.1\)/s.n, 0.01)/' exp_stats
mutant "quantiles: numbers that are not finite count as well" experiments/base/stats.c 's/if \(isfinite\(x\[i\]\)\)/if (1)/' exp_stats
mutant "study: csa2 chooses the other schedule" experiments/choices/study/choices.c \
    's/return schedule != exp_study_csa2_choice/return schedule == exp_study_csa2_choice/' study
mutant "study: the best schedule is the slower one" experiments/choices/choice.c \
    's/x\[i\]\.number < x\[found\]\.number/x[i].number > x[found].number/' study
mutant "study: what choices cost is what they could cost" experiments/choices/choice.c \
    's/s->chosen \/ s->best/s->best \/ s->chosen/' study
mutant "figures: things that are alike share no slot" experiments/base/plot_data.c \
    's/are_shared = s->n > EXP_PLOT_MOST_SLOTS/are_shared = s->n > 2 * EXP_PLOT_MOST_SLOTS/' exp_plot
mutant "a share of a run leaves results, too" experiments/bench/course/course.c \
    's/leaves_none = crew->n_shares > 0;/leaves_none = false;/' tests/experiments/sweep.sh
mutant "sweep: the worst configuration is the best" experiments/sweep/report.c \
    's/is_better\(&sum\[i\], &sum\[best\]\)/is_better(\&sum[best], \&sum[i])/' tests/experiments/sweep.sh
mutant "sweep: configurations in percent of themselves" experiments/sweep/report.c \
    's/exp_sweep_cost_of\(&sum\[i\]\) \/ exp_sweep_cost_of\(&sum\[best\]\)/exp_sweep_cost_of(\&sum[i]) \/ exp_sweep_cost_of(\&sum[i])/' tests/experiments/sweep.sh
mutant "sweep: tasks of two caches are one" experiments/sweep/jobs.c \
    's/return order \? order : strcmp\(x->setting, y->setting\);/return order;/' tests/experiments/sweep.sh
mutant "a trace's clock: a cycle is a nanosecond" experiments/show/trace.c \
    's/t->r->e->setup->machine\.issue\.clock_ghz \* 1e3;/1e3;/' tests/experiments/trace.sh
mutant "a trace's rows: events do not follow one another" experiments/show/trace_events.c \
    's/\*at_us \+= us;/*at_us += us \/ 2;/' tests/experiments/trace.sh
mutant "a profile: what memory wrote is what it read" experiments/show/callgrind.c \
    's/cell->memory_written_lines/cell->memory_read_lines/' tests/experiments/trace.sh
mutant "a profile: a call's cost is the callee's own" experiments/show/callgrind.c \
    '/^    fprintf\(f->out, "cob=/s/calls=1 %u\\n%u/calls=1 %u\\n%u 0/' tests/experiments/trace.sh
mutant "plug-ins: what is written behind the output goes unseen" experiments/bench/plugin/channel.c \
    's/i >= end\) && out\[i\] != STRAY/i > place[2].mapped) \&\& out[i] != STRAY/' tests/experiments/plugin.sh
mutant "plug-ins: every access of a loop is its first" experiments/bench/plugin/stream.c \
    's/run->step_bytes = step;/run->step_bytes = 0;/' tests/experiments/plugin.sh
mutant "plug-ins: a loop that changes its step goes on" experiments/bench/plugin/stream.c \
    's/a\[n\] - a\[n - period\] == a\[n - period\] - a\[n - 2 \* period\]/is_same_site(a[n] - a[n - period])/' tests/experiments/plugin.sh
mutant "plug-ins: loops go on into pages that lie elsewhere" experiments/bench/plugin/stream.c \
    's/find_known_page\(&s->pages, next\) != place/!find_known_page(\&s->pages, next)/' tests/experiments/plugin.sh
mutant "plug-ins: several accesses have room for one" counters/watch/record.awk 's/\? 8 \* n_records : 0/? 8 : 0/' tests/experiments/plugin.sh
mutant "plug-ins: who gets ready is told of one thread" experiments/bench/plugin/layer.c \
    's/\(int32_t\)p->control->threads/1/' tests/experiments/plugin.sh
mutant "plug-ins: more threads than were asked for" experiments/bench/plugin/check.c \
    's/n_threads > p->control->threads/n_threads > 4096/' tests/experiments/plugin.sh
mutant "smaller layers: rows without their stride" experiments/bench/model/limit.c \
    's/\(p->p - rows\) \* p->stride_h/p->p - rows/' exp_model
mutant "verdict: why misses are not known is not said" experiments/run/answer.c \
    's/why_not_simulated = t->of\[M_simulated_loads\]\.why/why_not_simulated = NULL/' tests/experiments/plugin.sh
mutant "smaller layers: nobody says so" experiments/run/verdict.c 's/v->notes && /0 \&\& v->notes \&\& /' tests/experiments/plugin.sh
mutant "tensors: the schedule that CSA did not choose" experiments/compare/question_tensors.c \
    's/return x->is_chosen \?/return !x->is_chosen ?/' tests/experiments/compare.sh
mutant "plug-ins: stores are recorded as loads" counters/watch/record.awk \
    's/\(bytes - 1\) \* 2 \+ is_store/(bytes - 1) * 2/' tests/experiments/plugin.sh
mutant "plug-ins: masked vectors are whole" counters/watch/plugin_watcher.c \
    's/first = is_taken && first == n \? i : first;/first = 0;/' tests/experiments/plugin.sh
mutant "plug-ins: the output holds numbers before its first run" experiments/bench/plugin/check.c \
    's/NO_NUMBER = 0xff/NO_NUMBER = 0x11/' tests/experiments/plugin.sh
mutant "plug-ins: the second run has the first one's input" experiments/bench/plugin/check.c \
    's/-0x1\.00effp0F/1/' tests/experiments/plugin.sh
mutant "plug-ins: what it forked runs on" experiments/bench/plugin/check.c \
    's/return !child;/return 0;/' tests/experiments/plugin.sh
mutant "the AI Engine: the odd row's word is not one further on" sim/aie/aie_permute.c 's/even \+ odd \+ 1;/even + odd;/' aie
mutant "the AI Engine: a load arrives a cycle early" sim/aie/aie_core.c 's/c->now \+ c->params\.load_latency\) % RING/c->now + c->params.load_latency - 1) % RING/' aie
mutant "the AI Engine: banks are not told apart by odd words" sim/aie/aie_core.c 's/1U << \(address >> 4 & 1\)/1U/' aie
mutant "the AI Engine: accumulators of 32 bits have 64" sim/aie/aie_core.c 's/\(wide\)\(\(bits\)x << 48\) >> 48/(wide)((bits)x << 64) >> 64/' aie
mutant "the AI Engine: a store reads its accumulator without a look" sim/aie/aie_core.c 's/\(s->tag && a->tag != s->tag\)/(s->tag \&\& false)/' aie
mutant "LIFT: tiles need not end where the input does" experiments/papers/lift/constraints.def 's/PADDED_H - V\(TILE\), STEP_Y,/0 * STEP_Y, STEP_Y,/' lift
mutant "LIFT: a value that nothing follows is drawn" experiments/papers/lift/space.c 's/fits\(s, depth, p\) && completes\(s, depth \+ 1, p\)\)$/fits(s, depth, p))/' lift
mutant "LIFT: a state is known by too few values" experiments/papers/lift/space.c 's/s->later\[depth\] & 1U << s->order\[n\]/n == 0/' lift
mutant "LIFT: the first candidate that fits is always drawn" experiments/papers/lift/space.c 's/value\[exp_random_next\(state\) % n\]/value[0]/' lift
mutant "LIFT: the constraint that is named is the first one" experiments/papers/lift/space.c 's/constraints\[i\]\.what\);/constraints[0].what);/' lift
mutant "LIFT: any output is right" experiments/papers/lift/opencl.c 's/if \(!\(off <= .*\)\) \{/if (off < 0) {/' lift
mutant "LIFT: a device that hangs is waited for" experiments/papers/lift/device.c 's/tenths < 10 \* limit_s/tenths < 10000 * limit_s/' tests/experiments/lift.sh
mutant "LIFT: what the store has is run again" experiments/papers/lift/search.c 's/if \(err == -ENOENT && may_run\)/if (may_run)/; s/if \(err == -ENOENT\) \{/{/' tests/experiments/lift.sh
mutant "LIFT: points need as much memory as they like" experiments/papers/lift/search.c 's/m\.memory_bytes = most;/(void)most;/' tests/experiments/lift.sh
mutant "LIFT: partial sums need no memory" experiments/papers/lift/constraints.def 's/BYTES_OF_PADDED \+ BYTES_OF_PARTIAL/BYTES_OF_PADDED/' lift
mutant "LIFT: more is built ahead than there is room for" experiments/papers/lift/device.c 's/d->n_ahead == LIFT_MOST_AHEAD/false/' lift
mutant "LIFT: what was built last is taken first" experiments/papers/lift/device.c 's/\*tag = d->tag\[0\];/*tag = d->tag[d->n_ahead - 1];/' lift
mutant "Vyasa: what is left over in a row is its last tap" experiments/papers/vyasa/compile/body.c \
    's/t->s->fusion == VYASA_ROWS && width % 2/t->s->fusion == VYASA_PADDED \&\& width % 2/' vyasa
mutant "Vyasa: a load arrives while its register is read" experiments/papers/vyasa/compile/modulo.c \
    's/time_of\(t, l->after\) \+ 1 -/time_of(t, l->after) -/' vyasa
mutant "Vyasa: a store comes before its sum" experiments/papers/vyasa/compile/modulo.c \
    's/mac\[s->last\]\.time \+ latency;/mac[s->last].time + latency - 1;/' vyasa
mutant "Vyasa: a row begins where the one before it did" experiments/papers/vyasa/compile/emit.c 's/place \+= step\(e, p, e->flat\);/place += 0;/' vyasa
mutant "Vyasa: a kernel's pointer does not move" experiments/papers/vyasa/compile/emit.c 's/moves \? step\(e, p, e->c->schedule\.inner\) : 0/moves ? 0 : 0/' vyasa
mutant "Vyasa: a register is given away before its last reader" experiments/papers/vyasa/compile/registers.c \
    's/x->last_use\[h->part\] >= first\) \{/x->last_use[h->part] > first + 1) {/' vyasa
mutant "Vyasa: the generated C adds to what it should begin" experiments/papers/vyasa/compile/print_c.c 's/m->is_first \? "mul" : "mac"/"mac"/' vyasa
mutant "Vyasa: the tuner keeps the first schedule" experiments/papers/vyasa/tune/tune.c 's/code\.cycles < found->cycles/found->cycles == UINT64_MAX/' vyasa
mutant "LIFT: groups have each other's numbers" experiments/papers/lift/shim.h 's/\(d\) \? lift_group1 : lift_group0/(d) ? lift_group0 : lift_group1/' lift_replay
mutant "LIFT: vectors are recorded as one number" experiments/papers/lift/shim.h 's/lift_record_load\(p \+ i \* n, 4 \* n\)/lift_record_load(p + i * n, 4)/' lift_replay
mutant "LIFT: multiply-adds are no work" experiments/papers/lift/count.awk 's/macs\[n_blocks - 1\] \+= /macs[n_blocks - 1] += 0 * /' lift_replay
mutant "LIFT: stores of machine code are loads" experiments/papers/lift/count.awk 's/\(bytes - 1\) \* 2 \+ 1, 0, 8/(bytes - 1) * 2, 0, 8/' lift_replay
mutant "LIFT: the other groups of a row weigh as one" experiments/papers/lift/replay.c 's/local \* \(double\)\(t->groups\[0\] - 1\)/local/' lift_replay
mutant "LIFT: points are picked by their times" experiments/papers/lift/rank.c 's/sizeof \*p, compare_costs/sizeof *p, compare_times/' lift_replay
mutant "LIFT: random points are drawn as often as they come" experiments/papers/lift/rank.c 's/none_faster \*= 1 - is_drawn;/none_faster *= 1;/' lift_replay
mutant "a network in sequence: steps count what the steps before them did" experiments/network/sequence.c \
    's/^    sim_hierarchy_clear_stats\(h\);$//' sequence
mutant "a network in sequence: a step by itself begins once more with empty caches" experiments/network/sequence.c \
    's/^        if \(!err && s->is_alone\)$/        sim_hierarchy_clear(h); if (!err \&\& s->is_alone)/' sequence
mutant "a network's residual is its convolution's input" experiments/network/stream.c \
    's/ \? EXP_TAG_OTHER : copy/ ? CONV_INPUT : copy/' tests/experiments/network.sh
mutant "a network's order: a node before what it reads" experiments/network/order.c \
    's/^        if \(!o->made\[n->in\[i\]\]\)$/        if (false)/' net_streams
mutant "an operator's stream: what is left of a row" experiments/network/operators/emitting.c \
    's/^    emit_rows\(row, n_rows, n - n % lanes, 1, n % lanes\);$//' op_streams
mutant "the paper's share of convolutions is of SConv's time" experiments/papers/paper/numbers.def \
    's/CONV_SHARE, base, time, base, whole/CONV_SHARE, own, time, own, whole/' paper

# ---- networks in ONNX files ----

mutant "a window: rounding up, one that begins behind the input counts" experiments/onnx/window.c \
    's/w->out\[axis\] \* stride < in \+ w->begin\[axis\]/true/' onnx_infer
mutant "a window: a transposed one is cut behind first" experiments/onnx/window.c 's/strcmp\(auto_pad, "SAME_UPPER"\) != 0/!strcmp(auto_pad, "SAME_LOWER")/' onnx_shapes
mutant "a window: SAME_LOWER is SAME_UPPER" experiments/onnx/window.c 's/is_lower \? pads - pads \/ 2 : pads \/ 2/pads \/ 2/' onnx_shapes
mutant "a group more than filters take" experiments/onnx/infer_window.c 's/channels \* groups != in_c/channels > in_c/' onnx_infer
mutant "a reshape to more elements" experiments/onnx/infer_layout.c 's/else if \(known\.elements != elements\)/else if (known.elements < elements)/' onnx_infer
mutant "a slice backwards takes one less" experiments/onnx/infer_layout.c 's/\(span - 1\) \/ stride\) \+ 1/(span - 1) \/ stride)/' onnx_infer
mutant "a product rounded away from the sign of the divisor" experiments/onnx/fold.c 's/\(rest < 0\) != \(b < 0\)/false/' onnx_infer
mutant "constants made without bound" experiments/onnx/fold.c 's/bytes > c->r->may_fold/false/' onnx_infer
mutant "a cycle that is walked" experiments/onnx/read.c 's/if \(w->state\[producer\] == OPENED\)/if (false)/' onnx
mutant "external data above the folder" experiments/onnx/tensor.c 's/: OUTSIDE;/: IN_FOLDER;/' onnx
mutant "half floats: no subnormal numbers" experiments/onnx/tensor.c 's/\(float\)fraction \* 0x1p-24F/0/' onnx
mutant "weights of the wrong size" experiments/onnx/tensor.c 's/s->n != v->elements \* bytes/false/' onnx
mutant "messages that nest without end" experiments/onnx/wire.c 's/\+\+l->depth > DEEPEST/false/' onnx
mutant "a message that is merged" experiments/onnx/wire.c 's/\*once & bit/false/' onnx
mutant "a dimension's name that is forgotten" experiments/onnx/inputs.c 's/v->dim\[i\] == OPEN && known/false/' onnx_shapes
mutant "a network's weights are the same for every seed" experiments/models/question_models.c 's/exp_hash_bytes\(seed, name/exp_hash_bytes(1, name/' tests/experiments/onnx.sh
mutant "a difference between tables that is not seen" experiments/layers/question_layers.c 's/conv_problem_equal\(&a->layer\[i\]\.problem, &b->layer\[i\]\.problem\)/true/' tests/experiments/onnx.sh

# ---- networks that run ----

mutant "a planner: blocks that touch in a step may meet" experiments/network/arena.c 's/a->first <= b->last && b->first <= a->last/a->first < b->last \&\& b->first < a->last/' network
mutant "an output that its last step may overwrite" experiments/network/place.c 's/output\[i\], net->n_steps\)/output[i], net->n_steps - 1)/' network network_steps
mutant "an input that is read later is overwritten" experiments/network/place.c 's/t\[root\]\.last == number/true/' network network_steps
mutant "what two nodes use is fused" experiments/network/compile.c 's/c->n_uses\[value\] == 1 && !/!/' network network_steps
mutant "a sum before its second operand" experiments/network/compile.c 's/ \|\| !is_there\(c, other\)//' network network_steps
mutant "a concatenation in place of what lies elsewhere" experiments/network/compile.c 's/^        if \(net_root\(c->net, n->in\[k\], &at\) == root\)$/        if (false)/' network network_steps
mutant "a normalisation without its mean" experiments/network/fuse.c 's/\(shift\[k\] - onnx_element\(onnx_in\(g, n, 3\), k\)\)/shift[k]/' network network_steps
mutant "a quotient that multiplies" experiments/network/fuse.c 's/ \? x : 1 \/ x;/ ? x : x;/' network network_steps
mutant "padding by other numbers goes into a convolution" experiments/network/fuse.c 's/ \|\| value != 0\)/)/' network network_steps
mutant "a bias that is not scaled" experiments/network/fuse.c 's/^            shift\[k\] \*= x;$//' network network_steps
mutant "outputs that are given and not looked at" experiments/network/reference.c 's/of\.has_nan \|\| !\(of\.worst <= allowed\(v\)\)/false/' network
mutant "inputs that are given lose their names" experiments/network/reference.c 's/if \(at != ONNX_NONE\)/if (false)/' network
mutant "threads that pack into the same windows" experiments/network/convolution.c 's/number \* r->thread_bytes/0 * r->thread_bytes/' network_check network
mutant "tiles that wait for ever" kernels/lib/sconv_run.c 's/^    conv_fused_end\(&fused\);$//' sconv
mutant "tiles that follow others of another filter" kernels/backend/fused.c 's/p->row == next->row && //' sconv network
mutant "a loop's end that is always foreseen" sim/core/clock.c 's/ \+ mispredictions\(m, w\) \* m->core\.misprediction_cycles//' clock
mutant "a loop's end that is never foreseen" sim/core/clock.c 's/return is_foreseen \? 0 : w->loops;/(void)is_foreseen;\n    return w->loops;/' clock
mutant "sums that never wait for sums" sim/core/clock.c 's/w->chained_macs \* m->core\.mac_latency_cycles/0/' clock
mutant "scattered stores that the core waits for" sim/core/clock.c 's/m->core\.hides_far_stores \&\&/0 \&\&/' clock
mutant "prefetched lines that come at once" sim/core/clock.c 's/c\.waiting\[k\] \+= s->late\[k\];//' clock
mutant "stores of sums beside multiply-adds" sim/core/clock.c 's/c->storing \+= s->sum_bytes/c->storing += 0 * s->sum_bytes/' clock
mutant "narrow accesses as slow as wide ones" sim/core/clock.c 's/if \(!\(narrow_per_cycle > wide_per_cycle\)\)/if (narrow_per_cycle >= 0)/' clock
mutant "small products in a wrong block" kernels/blas/product.c 's/\{ 32, \{ \{ 2, 6, 23 \}/{ 32, { { 2, 4, 23 }/' nest_totals
mutant "a window that hides nothing" sim/core/clock.c 's/latency - w->busy \* fmin\(w->share, at_once \/ n\)/latency/' clock
mutant "lines that pass all at once" sim/core/clock.c 's/clock->owed\[k\] \+= lines;//' clock
mutant "scattered lines pass like others" sim/core/clock.c 's/ \+= s->scattered \* .*memory_scattered_cycles;/ += 0 * s->scattered;/' clock
mutant "lines that prefetch instructions ask for are waited for" sim/full/engine_full_path_tmpl.h 's/ \&\& !r->is_instructed;/;/' clock sim_random
mutant "only lines behind are near" sim/full/engine_full_relay.c 's/ \+ SIM_NEAR_LINES <= 2 \* SIM_NEAR_LINES/ <= 2 * SIM_NEAR_LINES/' clock sim_random
mutant "scattered lines that a plain machine is to count" sim/machine/machine_check.c 's/return !m->memory_scattered_cycles \&\& /return /' clock
mutant "scattered lines that take more than memory does" sim/machine/machine_check.c 's/m->memory_scattered_cycles <= m->memory_latency_cycles/true/' sim_machine
mutant "scattered lines that nobody calibrates" experiments/calibrate/computer.c 's/rounded\(fmax\(0, scattered_ns\)/0 * rounded(fmax(0, scattered_ns)/' timing
mutant "what scattered lines cost is what is counted" experiments/bench/replay/quantity.c 's/c\.memory_scattered_cycles > 0;/0;/' tests/experiments/sweep.sh
mutant "stores that miss all at once" sim/core/clock.c 's/m->core\.store_misses \? m->core\.store_misses : //' clock
mutant "store misses that nobody calibrates" experiments/calibrate/computer.c 's/^    m->core\.store_misses = .*/        m->core.store_misses = 0;/' timing
mutant "stores that miss and never wait" sim/core/clock.c 's/c->storing \+= s->stored/c->storing += 0 * s->stored/' clock
mutant "more buffers than the window" sim/machine/machine_check.c 's/c->store_buffers > c->window/false/' sim_machine
mutant "a memory that is too fast for its latency" sim/machine/machine_file.c 's/if \(sim_memory_is_too_fast/if (false \&\& sim_memory_is_too_fast/' sim_machine
mutant "branches count beside their comparisons" kernels/backend/stack.c 's/\(p->instructions\[i\] - p->branches\[i\]\)/p->instructions[i]/' stacks
mutant "simulated cycles that order the wrong way" experiments/bench/case/cycles.c 's/\(taken > 1\) == \(simulated > 1\)/(taken > 1) != (simulated > 1)/' verdict
mutant "errors of cycles by what was simulated" experiments/bench/case/cycles.c 's/p->simulated \/ p->taken/p->taken \/ p->simulated/' verdict
mutant "verdict: what takes more is called less" experiments/run/verdict_cycles.c 's/fewer\[i\] = -more\[i\]/fewer[i] = more[i]/' verdict
mutant "verdict: misses speak where cycles are known" experiments/run/verdict.c 's/if \(fast && verdict_has_clock/if (!fast \&\& verdict_has_clock/' verdict
mutant "times are judged as counted cycles are" experiments/choices/validate/cycles.c 's/of->is_by_clock && t->by_clock/false \&\& t->by_clock/' tests/experiments/validate.sh
mutant "a machine without cycles says nothing of it" experiments/run/verdict.c 's/if \(v->why_no_cycles\)/if (false \&\& v->why_no_cycles)/' verdict
mutant "a sweep that calls the slowest the fastest" experiments/sweep/report.c 's/cycles->number < sum\[fastest/cycles->number > sum[fastest/' tests/experiments/sweep.sh
mutant "verdict: an algorithm without cycles says nothing of it" experiments/run/verdict_cycles.c 's/has_clock\(v\) && x->why_no_cycles/false \&\& x->why_no_cycles/' verdict
mutant "what cycles cost: one algorithm stands for all" experiments/choices/validate/cost.c 's/a < e->n_algos; a\+\+/a < 1; a++/' tests/experiments/validate.sh
mutant "stacks: few layers are explained by steps" experiments/observe/question_stack.c 's/return CONV_N_WORKS - 1 - work;/return work;/' stacks
mutant "brackets beside simulated cycles" experiments/bench/measure/measure.c 's/x->clock\.why \? x->estimate\.why : EXP_CYCLES_INSTEAD/x->estimate.why/' 'tests/experiments/cli.sh picks'
mutant "a sum of layers that passes over one without a number" experiments/base/value.h 's/a\.why \? a\.why : b\.why\)/b.why)/' measure
mutant "a ratio of layers is summed up" experiments/base/measures.c 's/record\[m\]\.fold == MEASURE_RATIO/record[m].fold == MEASURE_RATIO \&\& false/' measure
mutant "a level's misses are those of the first level" experiments/base/measures.c 's/of\[m \+ l\] = record\[m\]\.find\(x, l\)/of[m + l] = record[m].find(x, 0)/' measure
mutant "a memory that is nearer than a cache" sim/machine/machine_check.c 's/k <= m->n_levels; k\+\+\) \{/k < m->n_levels; k++) {/' sim_machine
mutant "a bad value without its key" sim/machine/machine_file.c 's/at\.key = key->name;/at.key = 0;/' sim_machine
mutant "calibrated lines without buffers" experiments/calibrate/computer.c 's/^    if \(inside->miss_buffers \&\&/    if (false \&\& inside->miss_buffers \&\&/' timing
mutant "copies that count every other class as one" counters/watch/rewrite.awk 's/number_of\[class\[i\]\] = i - 1/number_of[class[i]] = 0/' 'make test SUITE=observe_stack'
mutant "copies that count no calls" counters/watch/rewrite.awk 's/^    count\(class_of\(name, rest/    if (name !~ \/^call\/) count(class_of(name, rest/' 'make test SUITE=observe_stack'
mutant "times at another clock" experiments/show/counts.c 's/isnan\(row->ghz\) \? ran_at_ghz/isnan(row->ghz) ? 1/' tests/experiments/validate.sh
mutant "transfers that stop loads everywhere" sim/core/clock.c 's/\[SIM_TRANSFERS_OVERLAP\] = 1/[SIM_TRANSFERS_OVERLAP] = m->n_levels/' clock
mutant "outer transfers that stop loads, too" sim/core/clock.c 's/\[SIM_TRANSFERS_OUTER\] = 2/[SIM_TRANSFERS_OUTER] = 3/' clock
mutant "lines of stores as fast as all lines" sim/core/clock.c 's/bandwidth > 0 \? s->store_lines/bandwidth < 0 ? s->store_lines/' clock
mutant "recent lines of another number" sim/full/engine_full_relay.c 's/= sim_machine_recent_lines\(&e->machine\)/= 16/' sim_random
mutant "times whose plan is today's" experiments/show/counts.c 's/reading < N_READINGS \&\& /reading < 2 \&\& /' tests/experiments/validate.sh
mutant "a pick of the most cycles" experiments/choices/picks.c 's/value_or\(x\.sum/value_or(-x.sum/' tests/experiments/cli.sh
mutant "a prefetcher's lines by the one beside it" sim/full/engine_full_access_tmpl.h 's/\(place \+ 1\) << SIM_FULL_PLACE_AT/(place ? place : 1) << SIM_FULL_PLACE_AT/' sim_random
mutant "a prefetcher's late lines as in time" sim/full/engine_full_path_tmpl.h 's/by->late \+= is_late/by->late += 0/' sim_random
mutant "what a lone prefetcher finds there is not asked for" sim/full/engine_full_tmpl.h 's/^ +a->counts->asked\+\+;//' sim_random
mutant "repeated hits that ask once" sim/full/engine_full_tmpl.h 's/ \&\& \(passes \|\| e->remembers_hits\)//' sim_random
mutant "prefetchers of another core's level" sim/full/engine_full.c 's/^    count_here\(y, last\);//' sim_random
mutant "counts of prefetchers that are not kept" experiments/bench/replay/batch.c 's/^        move_prefetcher\(x.*/        (void)move_prefetcher;/' 'tests/experiments/cli.sh picks'
mutant "a table without what only prefetched" experiments/show/report.c 's/row\.count\.useful_prefetches \|\|$/false ||/; s/^( +)row\.count\.useless_prefetches\)/\1false)/' 'tests/experiments/cli.sh picks'
mutant "covered lines with the late ones" experiments/run/prefetchers.c 's/useful - d->count\.late/useful/' 'tests/experiments/cli.sh picks'
mutant "plans that cost most" experiments/sweep/plans.c 's/cost < best\.cost/cost > best.cost/' tests/experiments/sweep.sh
mutant "plans of several machines in one file" experiments/sweep/plans.c 's/if \(s->config\[i\]->has_other_machine\)/if (false)/' tests/experiments/sweep.sh
mutant "plans of a file with the code of another schedule" experiments/bench/case/stack.c 's/tiling\.schedule == CSA_IS/tiling.schedule != CSA_IS/' tests/experiments/sweep.sh
mutant "latencies of a CPU's file that are not taken" sim/machine/machine_here.c 's/if \(h->known\.n_levels\)$/if (h->is_calibrated)/' timing
mutant "constant filters that are their first" experiments/emit/opt_filter.c 's/constant, \(intptr_t\)i\)/constant, 0)/' tests/experiments/opt.sh
mutant "constant filters that stay beside what was packed" experiments/emit/opt_filter.c 's/if \(uses\.n == 1/if (uses.n == 9/' tests/experiments/opt.sh
mutant "packed filters without zeros between" kernels/emit/linalg_source.c 's/memcpy\(packed \+ i \* width/memcpy(packed + i * m.columns/' tests/experiments/opt.sh
mutant "channel sets that hand outputs on in pieces" kernels/emit/linalg_slice.c 's/attributes \{taps\}/ops{[\\"scf.for\\"]}/' tests/experiments/opt.sh
mutant "measured clocks that the file's stands for" experiments/bench/case/cycles.c 's/return s->ran_at_ghz > 0 \? s->ran_at_ghz : /return /' exp_measure
mutant "clocks that nobody reads" experiments/bench/time/measure.c 's/= fmax\(m->info->ran_at_ghz, ctr_core_ghz\(\)\)/= 0/' exp_measure
mutant "a legend of bars that nobody measured" experiments/figures/simulated_cycles.gp \
    's/if \(n_taken\) \{ (dummy = legend.*) \}/\1/' tests/experiments/figures.sh
mutant "targets: a baseline as good hinders nothing" experiments/choices/targets.c 's/!\(x->n_better > x->n_worse && x->p\.number < most_by_chance\)/x->p.number < 0/' jury
mutant "targets: equal shapes vote one by one" experiments/choices/targets.c 's/votes\[row\[i\]\.same\]/votes[i]/' jury
mutant "targets: equal shapes teach the fit" experiments/choices/rivals.c 's/r->shape % FOLDS != fold && //' jury
mutant "jury: no shape is grouped" experiments/choices/jury/draw.c 's/while \(!is\[kind\]\)/while (!is[kind] || kind < 1)/' jury
mutant "advice: half of the layers above a bound gain" experiments/choices/advice/gain.c 's/>= 95 \* \(i \+ 1\)/>= 50 * (i + 1)/' advice
mutant "advice: errors of another machine raise a gain" experiments/choices/advice/gain.c 's/\? fmax\(g->median, 1\) : g->median/? g->median : g->median/' advice
mutant "advice: the cause of the fewest saved cycles" experiments/choices/advice/advice.c 's/!\(was\[i\] - becomes\[i\] > \*saved\)/!(was[i] - becomes[i] < *saved || *saved < 0)/' advice
mutant "advice: what is slower by the clock is advised" experiments/choices/advice/advice.c 's/exp_ratio_side\(&x->measured\) < 0/exp_ratio_side(\&x->measured) < -1/' advice
mutant "advice: the judgement counts what is slower" experiments/choices/advice/judge.c 's/exp_ratio_side\(&x->measured\) >= 0/exp_ratio_side(\&x->measured) >= -1/' advice
mutant "footprints leave out the last repetition" sim/base/footprint.h 's/l\.outer \* \(l\.n_outer - 1\)/l.outer * (l.n_outer - 2)/' exp_sample
mutant "estimates are not scaled" experiments/bench/replay/sample_estimate.c 's/sum\[i\] \+= factor \* /sum[i] += /' exp_sample
mutant "skipped parts leave no footprint" experiments/bench/replay/sample.c 's/^        skip\(x, run, n_runs, n_times\);/        ;/m' exp_sample
mutant "skipped packing leaves footprints alone" experiments/bench/replay/sample.c 's/is_away = reads_ahead\(x, &run\[i\], n_times\);/is_away = false;/' exp_sample
mutant "forms forget filters prefetched for later steps" experiments/bench/replay/sample_forms.c 's/^        record_filters_ahead\(.*$//m' exp_sample
mutant "caches alone get lines of prefetch instructions" experiments/bench/replay/sample.c 's/\(!is_ahead \|\| x->s->view\[v\]\.machine->has_software_prefetch\)/true/' exp_sample
mutant "pieces that read new elements are as other pieces" experiments/bench/replay/sample.c 's/NEW_PART = 8/NEW_PART = 0/' exp_sample
mutant "a line behind a box is in a cache" sim/full/engine_full_touch_tmpl.h 's/ \|\| is_in_memory\(e, \(first \+ lines->count\) & mask\)//' exp_sample
mutant "a unit is drawn twice" experiments/bench/replay/sample_choice.c 's/p->used\[u\] \|= p->drawn\[u\];//' exp_sample
mutant "footprints of equal bursts lie at one place" experiments/bench/replay/sample_lines.c 's/^        at\.addr \+= base.*$//m' exp_sample
mutant "touched stores leave lines clean" sim/full/engine_full_touch_tmpl.h 's/soil_at\(e, 1, is_far \? p :.*/(void)r;/' exp_sample
mutant "stores touched far off leave lines clean" sim/full/engine_full_touch_tmpl.h 's/soil_at\(e, 2, p, r\);/(void)p;/' exp_sample
mutant "lines far off come into the second level" sim/full/engine_full_touch_tmpl.h 's/touch_box\(h, run, true\)/touch_box(h, run, false)/' exp_sample
mutant "forms forget where outputs begin in a line" experiments/bench/replay/sample_forms.c 's/k->args\.out = a\.out & within;/k->args.out = 0;/' exp_sample
mutant "tiles of masked rows read all windows" kernels/ukr/avx512/x86_tile_avx512.h 's/if \(!a->ld_in \|\| c\.last == TILE_VECTOR\)/if (a)/' kernels
mutant "no overlapping windows are packed for wide tiles" kernels/plan/tune.c 's/return !windows_overlap\(p\) \|\| \(conv_group_filters\(p\) >= /return !windows_overlap(p) || (!conv_group_filters(p) \&\& 1 >= /' tune
mutant "wide tiles pack for one filter less" kernels/plan/tune.c 's/conv_group_filters\(p\) >= MANY_FILTER_TILES \* wide->n_f/conv_group_filters(p) + 1 >= MANY_FILTER_TILES * wide->n_f/' tune
mutant "wide tiles pack whatever their edges" kernels/plan/tune.c 's/conv_ukr_slots\(wide, p\) \* 32 <= /conv_ukr_slots(wide, p) <= /' tune
mutant "rows stream for any number of filters" kernels/plan/tune.c 's/conv_group_filters\(p\) <= MANY_FILTER_TILES \* u->n_f/conv_group_filters(p) > 0/' tune
mutant "rows stream that L2 does not hold" kernels/plan/tune.c 's/\(double\)conv_windows\(p\) <= caches->l2_bytes \/ 2/(double)conv_windows(p) < caches->l2_bytes/' tune
mutant "rows stream beside filters that L1 does not hold" kernels/plan/tune.c 's/\(double\)u->n_f <= caches->l1_bytes \/ 2/(double)u->n_f <= caches->l1_bytes/' tune
mutant "windows never go one by one" kernels/plan/tune.c 's/\(loads_less && conv_is_pointwise\(p\)\)/(loads_less \&\& !conv_is_pointwise(p))/' tune
