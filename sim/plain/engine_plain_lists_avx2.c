/* Lists of touches, made with AVX2. */
#include "sim/plain/engine_plain.h"

#ifdef __AVX2__

#include "sim/plain/records_avx2.h"

#include "sim/plain/engine_plain_lists_tmpl.h"

const struct sim_plain_variant sim_plain_lists_avx2 = {
    .name = "lists",
    .isa = CPU_ISA_AVX2,
    .accept = accept_listing,
    .records = records,
};

#else

const struct sim_plain_variant sim_plain_lists_avx2 = { .name = "lists" };

#endif
