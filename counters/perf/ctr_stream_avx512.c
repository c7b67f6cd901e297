#include "counters/perf/ctr_stream_asm.h"

#if defined(__x86_64__)

#define LOAD(at) "vmovups " at "(%0), %%zmm0\n\t"
#define STORE(at) "vmovups %%zmm0, " at "(%0)\n\t"

CTR_STREAM(, ctr_read_64__avx512, 64, LOAD, "\n\tvzeroupper")
CTR_STREAM(, ctr_write_64__avx512, 64, STORE, "\n\tvzeroupper")

#endif
