/* Lists of touches, made with AVX-512. */
#include "sim/plain/engine_plain.h"

#ifdef __AVX512F__

#include "sim/plain/records_avx512.h"

#include "sim/plain/engine_plain_lists_tmpl.h"

const struct sim_plain_variant sim_plain_lists_avx512 = {
    .name = "lists",
    .isa = CPU_ISA_AVX512,
    .accept = accept_listing,
    .records = records,
};

#else

const struct sim_plain_variant sim_plain_lists_avx512 = { .name = "lists" };

#endif
