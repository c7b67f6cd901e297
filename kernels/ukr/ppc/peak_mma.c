/* Outer products into all eight accumulators, more than latency times pipes; and as many loads in flight. */
#include "kernels/ukr/registry.h"

enum { N_CHAINS = CONV_PEAK_CHAINS__mma, N_LANES = CONV_PEAK_LANES__mma };

#if defined(__MMA__)
#include "kernels/ukr/ppc/ppc_load.h"

#define REGISTER "wa"
#define PEAK_READ conv_peak_read__mma
#include "kernels/ukr/peak_tmpl.h"

/* No loop over accumulators: clang 14 would not unroll the loop, and keep accumulators in memory. */
#define EACH_CHAIN(what) what(0), what(1), what(2), what(3), what(4), what(5), what(6), what(7)

float conv_peak_fma__mma(size_t n_steps)
{
    ppc_vector one = vec_splats(1.0f), sum = { 0 }, row[N_CHAINS][N_LANES];
    __vector_quad acc[N_CHAINS];

#define CLEAR(i) __builtin_mma_xxsetaccz(&acc[i])
#define MULTIPLY(i) __builtin_mma_xvf32gerpp(&acc[i], (__vector unsigned char)one, (__vector unsigned char)one)
#define TAKE_APART(i) __builtin_mma_disassemble_acc(row[i], &acc[i])
    EACH_CHAIN(CLEAR);
    for (; n_steps; n_steps--) {
        __asm__("" : "+" REGISTER(one)); /* every step's operand is new */
        EACH_CHAIN(MULTIPLY);
    }
    EACH_CHAIN(TAKE_APART);
    for (int i = 0; i < N_CHAINS; i++)
        for (int lane = 0; lane < N_LANES; lane++)
            sum += row[i][lane];
    return add_lanes(sum);
}
#endif
