#include "kernels/ukr/ports.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "kernels/ukr/peak.h"

enum { ROUNDS = 9, FMA_STEPS = 2000, N_FLOATS = 2048, READS = 128 };
enum { NARROW_MACS = 2, NARROW_FLOP = NARROW_MACS * 8 * 2, WIDE_FLOP = 16 * 2, WIDE_FLOATS = 16 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run of a loop; how much it did. */
typedef double (*loop_fn)(const struct conv_peak *p, const float *x, volatile float *unused);

static double multiply_adds(const struct conv_peak *p, const float *x, volatile float *unused)
{
    (void)x;
    *unused = p->fma(FMA_STEPS);
    return FMA_STEPS * p->flop_per_step;
}

static double reads(const struct conv_peak *p, const float *x, volatile float *unused)
{
    for (int i = 0; i < READS; i++)
        *unused = p->read(x, N_FLOATS);
    return (double)READS * N_FLOATS;
}

/* How much a loop does in a second, at best. */
static double rate(loop_fn loop, const struct conv_peak *p, const float *x)
{
    volatile float unused;
    double best = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double start = now(), done = loop(p, x, &unused);

        best = fmax(best, done / (now() - start));
    }
    return best;
}

bool conv_ports_measure(struct conv_ports *ports)
{
    _Alignas(64) float x[N_FLOATS]; /* loads across lines would count as two */
    const struct conv_peak *wide = conv_peak_of(CPU_ISA_AVX512), *narrow = conv_peak_of(CPU_ISA_AVX2);
    double cycles;

    if (!wide || !narrow || wide->isa != CPU_ISA_AVX512 || narrow->isa != CPU_ISA_AVX2)
        return false;
    memset(x, 0, sizeof x);
    cycles = rate(multiply_adds, narrow, x) / NARROW_FLOP; /* a second */
    ports->macs_per_cycle = fmax(1, round(rate(multiply_adds, wide, x) / WIDE_FLOP / cycles));
    ports->loads_per_cycle = rate(reads, wide, x) / WIDE_FLOATS / cycles;
    return true;
}
