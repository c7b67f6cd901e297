#include "kernels/ukr/ports.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "kernels/ukr/peak.h"

enum { ROUNDS = 9, FMA_STEPS = 2000, N_FLOATS = 2048, READS = 128 };
enum { NARROW_MACS = 2, NARROW_FLOP = NARROW_MACS * 8 * 2, WIDE_FLOP = 16 * 2, WIDE_FLOATS = 16, MOST_MACS = 2 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A run of a loop; returns the work done. */
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

/* A loop, on the vectors of an instruction set; its best work per second. */
struct timed {
    loop_fn loop;
    const struct conv_peak *peak;
    double rate;
};

/* Times loops in turns: while a core is slow, it is slow for all loops. */
static void time_loops(struct timed *t, size_t n, const float *x)
{
    volatile float unused;

    for (size_t i = 0; i < ROUNDS * n; i++) {
        struct timed *one = &t[i % n];
        double start = now(), done = one->loop(one->peak, x, &unused);

        one->rate = fmax(one->rate, done / (now() - start));
    }
}

bool conv_ports_measure(struct conv_ports *ports)
{
    _Alignas(64) float x[N_FLOATS]; /* loads across lines would count as two */
    const struct conv_peak *wide = conv_peak_of(CPU_ISA_AVX512), *narrow = conv_peak_of(CPU_ISA_AVX2);
    struct timed t[] = { { multiply_adds, narrow, 0 }, { multiply_adds, wide, 0 }, { reads, wide, 0 } };
    double cycles;

    if (!wide || !narrow || wide->isa != CPU_ISA_AVX512 || narrow->isa != CPU_ISA_AVX2)
        return false;
    memset(x, 0, sizeof x);
    time_loops(t, sizeof t / sizeof t[0], x);
    cycles = t[0].rate / NARROW_FLOP; /* a second */
    ports->macs_per_cycle = fmin(MOST_MACS, fmax(1, round(t[1].rate / WIDE_FLOP / cycles)));
    ports->loads_per_cycle = t[2].rate / WIDE_FLOATS / cycles;
    return true;
}
