#include "kernels/ukr/epilogue.h"

#include <assert.h>

#include "kernels/ukr/element.h"
#include "kernels/ukr/registry.h"

#define EPILOGUE(isa_, lanes_, masks_) { CONV_ISA_##isa_, lanes_, masks_, CONV_FN_##isa_(conv_epilogue__##isa_) },
static const struct conv_epilogue_kernel kernels[] = { CONV_EPILOGUES(EPILOGUE) };

size_t conv_epilogue_count(void)
{
    return sizeof kernels / sizeof kernels[0];
}

const struct conv_epilogue_kernel *conv_epilogue_at(size_t i)
{
    assert(i < conv_epilogue_count());
    return &kernels[i];
}

const struct conv_epilogue_kernel *conv_epilogue_of(enum cpu_isa isa)
{
    for (size_t i = 0; i < conv_epilogue_count(); i++) {
        if (kernels[i].isa == isa)
            return &kernels[i];
    }
    return &kernels[0];
}

const struct conv_epilogue_kernel *conv_epilogue_best(void)
{
    size_t best = 0;

    for (size_t i = 0; i < conv_epilogue_count(); i++) {
        if (kernels[i].fn && sim_cpu_has(kernels[i].isa))
            best = i;
    }
    return &kernels[best];
}

/* Emits count pieces of the given width from window i on: load, load the residual, store. */
static void emit_pieces(const struct conv_epilogue_args *a, size_t f, size_t i, size_t count, size_t width,
                        struct sim_sink *sink)
{
    const uint64_t offset = (f * a->ld_out + i) * sizeof(float);
    struct sim_run run[3];
    size_t n = 0;

    run[n++] = a->in ? element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_UKR, a->in + offset, 0, 1)
                     : element_run(SIM_LOAD, CONV_OUTPUT, CONV_PHASE_UKR, a->out + offset, 0, 1);
    if (a->residual)
        run[n++] = element_run(SIM_LOAD, CONV_INPUT, CONV_PHASE_UKR, a->residual + offset, 0, 1);
    run[n++] = element_run(SIM_STORE, CONV_OUTPUT, CONV_PHASE_UKR, a->out + offset, 0, 1);
    for (size_t r = 0; r < n; r++) {
        run[r].access_bytes = (uint32_t)(width * sizeof(float));
        run[r].step_bytes = (int64_t)(width * sizeof(float));
    }
    if (count)
        sim_emit(sink, run, n, count);
}

/* Emits the load of a filter's number; 0: none. */
static void emit_of_filter(uint64_t numbers, size_t f, struct sim_sink *sink)
{
    const struct sim_run run = element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_UKR, numbers + f * sizeof(float), 0, 1);

    if (numbers)
        sim_emit(sink, &run, 1, 1);
}

void conv_epilogue_emit(const struct conv_epilogue_kernel *k, const struct conv_epilogue_args *a, struct sim_sink *sink)
{
    const size_t rest = a->n_win % k->lanes, width = k->masks ? rest : 1;

    for (size_t f = 0; f < a->n_f; f++) {
        emit_of_filter(a->scale, f, sink);
        emit_of_filter(a->bias, f, sink);
        emit_pieces(a, f, 0, a->n_win / k->lanes, k->lanes, sink);
        if (rest)
            emit_pieces(a, f, a->n_win - rest, rest / width, width, sink);
    }
}
