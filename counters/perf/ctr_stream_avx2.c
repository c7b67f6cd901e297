#include "counters/perf/ctr_stream_asm.h"

#if defined(__x86_64__)

#define LOAD(at) "vmovups " at "(%0), %%ymm0\n\t"
#define STORE(at) "vmovups %%ymm0, " at "(%0)\n\t"

CTR_STREAM(, ctr_read_32__avx2, 32, LOAD, "\n\tvzeroupper")
CTR_STREAM(, ctr_write_32__avx2, 32, STORE, "\n\tvzeroupper")

#endif
