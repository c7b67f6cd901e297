/*
 * Generated code under the emulator: the accesses to the tensors equal the plan's replay. make test sets the paths of
 * the observer and the guest: OBSERVER, CODE_GUEST.
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/base/error.h"
#include "experiments/emit/build.h"
#include "experiments/emit/observe.h"
#include "kernels/csa/csa.h"
#include "kernels/ukr/dispatch.h"
#include "tests/kernels/shapes.h"
#include "tests/rng.h"
#include "tests/suites.h"

/* ---- streams ---- */

static void push(struct watch_list *s, uint64_t addr, uint32_t bytes, enum sim_kind kind, bool is_masked)
{
    const struct sim_run run = { .addr = addr,
                                 .count = 1,
                                 .access_bytes = bytes,
                                 .kind = (uint8_t)kind,
                                 .tag = CONV_INPUT,
                                 .phase = is_masked ? EXP_EMIT_MASKED_PHASE : 0 };

    sim_emit(&s->expander.sink, &run, 1, 1);
}

static enum exp_emit_likeness likeness(struct watch_list *seen, const struct watch_list *replayed)
{
    return exp_emit_stream_compare(seen, replayed, CONV_INPUT);
}

/* Random streams: equal, shuffled, cut in two, and with an access more. */
static void likeness_is_what_streams_have_in_common(void)
{
    for (unsigned round = 0; round < test_rounds(50); round++) {
        struct watch_list replayed, same, shuffled, narrow, more;
        struct watch_list *const all[] = { &replayed, &same, &shuffled, &narrow, &more };
        size_t n = 2 + rng_below(30);

        for (size_t i = 0; i < COUNT(all); i++)
            watch_list_init(all[i], false);
        for (size_t i = 0; i < n; i++) {
            uint64_t addr = 4096 + 64 * (uint64_t)i;
            enum sim_kind kind = rng_below(3) ? SIM_LOAD : SIM_STORE;

            push(&replayed, addr, 32, kind, false);
            push(&same, addr, 32, kind, false);
            push(&more, addr, 32, kind, false);
            push(&narrow, addr, 16, kind, false);
            push(&narrow, addr + 16, 16, kind, false);
        }
        for (size_t i = n; i-- > 0;)
            push(&shuffled, replayed.access[i].addr, 32, (enum sim_kind)replayed.access[i].kind, false);
        push(&more, 4096, 32, SIM_LOAD, false);
        CU_ASSERT(likeness(&same, &replayed) == EXP_EMIT_IN_ORDER);
        CU_ASSERT(likeness(&shuffled, &replayed) == EXP_EMIT_REORDERED);
        CU_ASSERT(likeness(&narrow, &replayed) == EXP_EMIT_BYTES);
        narrow.access[0].kind = narrow.access[0].kind == SIM_LOAD ? SIM_STORE : SIM_LOAD;
        CU_ASSERT(likeness(&narrow, &replayed) == EXP_EMIT_OTHER);
        CU_ASSERT(likeness(&more, &replayed) == EXP_EMIT_MORE);
        CU_ASSERT(likeness(&shuffled, &more) == EXP_EMIT_OTHER);
        for (size_t i = 0; i < COUNT(all); i++)
            watch_list_release(all[i]);
    }
}

static void masked_loads_are_settled(void)
{
    struct watch_list replayed, seen, wrong;

    watch_list_init(&replayed, false);
    watch_list_init(&seen, false);
    watch_list_init(&wrong, false);
    push(&replayed, 4104, 12, SIM_LOAD, false);
    push(&replayed, 4160, 32, SIM_LOAD, false);
    push(&seen, 4160, 32, SIM_LOAD, false);
    push(&seen, 4000, 32, SIM_LOAD, true); /* touches nothing */
    push(&seen, 4096, 32, SIM_LOAD, true);
    push(&wrong, 4160, 32, SIM_LOAD, false);
    push(&wrong, 4108, 32, SIM_LOAD, true);
    CU_ASSERT(likeness(&seen, &replayed) == EXP_EMIT_REORDERED);
    CU_ASSERT(seen.access[1].bytes == 0 && seen.access[2].addr == 4104 && seen.access[2].bytes == 12);
    CU_ASSERT(likeness(&wrong, &replayed) == EXP_EMIT_OTHER);
    CU_ASSERT(wrong.access[1].bytes == 32);
    watch_list_release(&replayed);
    watch_list_release(&seen);
    watch_list_release(&wrong);
}

/* ---- code ---- */

static struct conv_layer_plan plan_of(struct conv_problem p, enum csa_schedule schedule)
{
    /* small caches, so that there are several tiles and sets of each kind */
    const struct csa_caches caches = { 8000, 24000, 50000, 64, 1, 2, 3, 0, 0, 0 };
    struct conv_layer_plan n = { .layer = "observed", .machine = "toy", .caches = caches };
    const struct conv_sconv_options options = { .packs_filters = false };
    const struct conv_ukr *u = conv_ukr_find("f32_16x6__avx2");
    struct csa_tiling t;
    char why[128];

    CU_ASSERT_FATAL(conv_problem_finish(&p, SIM_WHY(why)) == 0);
    t = csa_analyse(&p, &caches, u->n_win, u->n_f, schedule);
    CU_ASSERT_FATAL(conv_plan_sconv_with(&n.plan, &p, u, &t, &options) == 0);
    return n;
}

static const struct conv_problem problems[] = {
    { IMAGES(1, 16, 14, 14), FILTERS(32, 3, 3), PADDING(1, 1, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(2, 20, 9, 7), FILTERS(21, 1, 1), UNIT_STEPS, .groups = 1 },
    { IMAGES(1, 6, 23, 19), FILTERS(14, 5, 3), PADDING(2, 1, 1, 0), STRIDES(2, 2), DILATIONS(1, 1), .groups = 1 },
};

/* Finds who watches; the test is skipped if nobody does. */
static bool find_watch(struct exp_emit_watch *w, struct sim_machine *m)
{
    const char *observer = getenv("OBSERVER"), *guest = getenv("CODE_GUEST");
    char why[256];

    CU_ASSERT_FATAL(sim_machine_read(m, "sim/machines/clx4208.cfg", why, sizeof why) == 0);
    *w = (struct exp_emit_watch){ observer ? observer : "", guest ? guest : "", m };
    if (!observer || !guest || access(observer, R_OK) || access(guest, X_OK) ||
        system("command -v qemu-x86_64 >/dev/null")) {
        test_skip("no qemu-user, or no OBSERVER and CODE_GUEST in the environment");
        return false;
    }
    return true;
}

/*
 * Says how alike a form's accesses to a tensor are at least. Compilers move loads and stores of different addresses.
 */
struct expected {
    enum exp_emit_what what;
    enum exp_emit_likeness input, packed_input, packed_filter, output;
};

static void check_tensor(const struct exp_emit_seen *of, enum conv_tensor t, enum exp_emit_likeness most,
                         const char *form, size_t problem)
{
    const struct exp_emit_seen *s = &of[t];

    test_check(s->likeness <= most && (most > EXP_EMIT_REORDERED || (s->observed.loads == s->replayed.loads &&
                                                                     s->observed.stores == s->replayed.stores)),
               "%s, shape %zu, %s: %s; %llu loads and %llu stores, replayed %llu and %llu", form, problem,
               conv_tensor_name(t), exp_emit_likeness_name(s->likeness), (unsigned long long)s->observed.loads,
               (unsigned long long)s->observed.stores, (unsigned long long)s->replayed.loads,
               (unsigned long long)s->replayed.stores);
}

static void check_form(const struct expected *e, const struct exp_emit_watch *w)
{
    for (size_t i = 0; i < 2 * COUNT(problems); i++) {
        const struct conv_layer_plan plan = plan_of(problems[i / 2], i % 2 ? CSA_IS : CSA_WS);
        struct exp_emit_seen of[CONV_N_TENSORS];
        struct exp_why why = { "" };

        if (!test_check(exp_emit_observe(e->what, &plan, w, of, &why) == 0, "%s", why.text))
            continue;
        CU_ASSERT(of[CONV_PACKED_FILTER].observed.loads > 0 && of[CONV_OUTPUT].observed.stores > 0);
        check_tensor(of, CONV_INPUT, e->input, exp_emit_name(e->what), i);
        check_tensor(of, CONV_PACKED_INPUT, e->packed_input, exp_emit_name(e->what), i);
        check_tensor(of, CONV_PACKED_FILTER, e->packed_filter, exp_emit_name(e->what), i);
        check_tensor(of, CONV_OUTPUT, e->output, exp_emit_name(e->what), i);
    }
}

static void check_if_compiled(const struct expected *e)
{
    const char *why_not = exp_emit_why_no_compiler(e->what);
    struct exp_emit_watch watch;
    struct sim_machine machine;

    if (why_not) {
        test_skip("%s", why_not);
        return;
    }
    if (find_watch(&watch, &machine))
        check_form(e, &watch);
}

static void c_equals_the_replay(void)
{
    check_if_compiled(&(struct expected){ EXP_EMIT_C, EXP_EMIT_REORDERED, EXP_EMIT_REORDERED, EXP_EMIT_REORDERED,
                                          EXP_EMIT_REORDERED });
}

/*
 * linalg has a different nest below the tiles, and windows on the stack. The code copies the image into the frame,
 * touches every output and input at least once, and no access is wider than a vector of 512 bits.
 */
static void linalg_is_observed(void)
{
    const struct conv_problem *p = &problems[0];
    const struct conv_layer_plan plan = plan_of(*p, CSA_WS);
    const size_t most = 64 / sizeof(float), pixels = p->n * p->h * p->w; /* of unit steps: as many outputs */
    const char *why_not = exp_emit_why_no_compiler(EXP_EMIT_MLIR_LINALG);
    struct exp_emit_watch watch;
    struct sim_machine machine;
    struct exp_emit_seen of[CONV_N_TENSORS];
    struct exp_why why = { "" };

    if (why_not) {
        test_skip("%s", why_not);
        return;
    }
    if (!find_watch(&watch, &machine))
        return;
    if (!test_check(exp_emit_observe(EXP_EMIT_MLIR_LINALG, &plan, &watch, of, &why) == 0, "%s", why.text))
        return;
    CU_ASSERT(of[CONV_OUTPUT].observed.stores * most >= p->k * pixels);
    CU_ASSERT(of[CONV_INPUT].observed.loads * most >= p->c * pixels);
    CU_ASSERT(of[CONV_PACKED_INPUT].observed.stores * most >= p->c * pixels);
    CU_ASSERT(of[CONV_IM2COL].observed.loads == 0);
}

static void what_cannot_be_observed_is_said(void)
{
    const struct conv_layer_plan plan = plan_of(problems[1], CSA_WS);
    struct exp_emit_watch watch;
    struct sim_machine machine;
    struct exp_emit_seen of[CONV_N_TENSORS];
    struct exp_why why = { "" };

    if (!find_watch(&watch, &machine))
        return;
    watch.guest = "no/such/guest";
    CU_ASSERT(exp_emit_observe(EXP_EMIT_C, &plan, &watch, of, &why) == -ENOTSUP);
    CU_ASSERT(strstr(why.text, "were not built") && !strchr(why.text, '\n'));
}

static const struct test_case cases[] = {
    { "streams are as alike as what they have in common", likeness_is_what_streams_have_in_common },
    { "masked loads are settled by what is replayed", masked_loads_are_settled },
    { "C does to each tensor what is replayed, access for access", c_equals_the_replay },
    { "linalg's tensors and temporaries are seen", linalg_is_observed },
    { "what cannot be observed is said", what_cannot_be_observed_is_said },
    { NULL, NULL },
};

const struct test_suite suite_emit_streams = { "emit_streams", cases };
