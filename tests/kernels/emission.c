#include "tests/kernels/emission.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>

#include "sim/trace/trace.h"
#include "tests/suites.h"

/* Compares the emitted accesses, as they come, with the recorded accesses. */
struct comparison {
    const struct sim_access *real;
    size_t n_real, n_emitted;
    size_t first_wrong; /* SIZE_MAX: none */
    struct sim_access emitted;
};

static void compare(void *ctx, const struct sim_access *a)
{
    struct comparison *c = ctx;
    size_t i = c->n_emitted++;
    bool same =
        i < c->n_real && c->real[i].addr == a->addr && c->real[i].bytes == a->bytes && c->real[i].kind == a->kind;

    if (!same && c->first_wrong == SIZE_MAX) {
        c->first_wrong = i;
        c->emitted = *a;
    }
}

static const char *kind_name(unsigned kind)
{
    static const char *const names[SIM_N_KINDS] = { "load", "store", "prefetch", "non-temporal store" };

    return names[kind];
}

void check_emission(const char *what, void (*run)(void *args), void (*emit)(void *args, struct sim_sink *sink),
                    void *args, const struct logged_buffer *buffer, size_t n_buffers)
{
    struct comparison c = { .first_wrong = SIZE_MAX };
    struct sim_access at = { 0 };
    struct sim_expander expander;

    logged_start(buffer, n_buffers);
    run(args);
    c.n_real = logged_stop(&c.real);
    CU_ASSERT_FATAL(c.n_real < LOGGED_MAX);
    sim_expander_init(&expander, compare, &c);
    emit(args, &expander.sink);
    if (c.first_wrong < c.n_real)
        at = c.real[c.first_wrong];
    test_check(c.first_wrong == SIZE_MAX && c.n_real == c.n_emitted,
               "%s: %zu accesses, %zu emitted; first difference at %zu: %s of %u at %" PRIx64
               ", emitted %s of %u at %" PRIx64,
               what, c.n_real, c.n_emitted, c.first_wrong, kind_name(at.kind), at.bytes, at.addr,
               kind_name(c.emitted.kind), (unsigned)c.emitted.bytes, c.emitted.addr);
}
