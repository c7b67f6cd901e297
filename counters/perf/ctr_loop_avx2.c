#include "counters/perf/ctr_loop_asm.h"

#if defined(__x86_64__)

CTR_LOOP(, ctr_run_broadcasts__avx2, "vbroadcastss 4(%1), %%ymm0", "xmm0")
CTR_LOOP(, ctr_run_fmas__avx2, "vfmadd231ps 32(%1), %%ymm1, %%ymm0", "xmm0", "xmm1")

#endif
