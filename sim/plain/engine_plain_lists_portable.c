/* Lists of touches, made in portable C. */
#include "sim/plain/engine_plain.h"

#include "sim/plain/records_portable.h"

#include "sim/plain/engine_plain_lists_tmpl.h"

const struct sim_plain_variant sim_plain_lists_portable = {
    .name = "lists",
    .isa = CPU_ISA_NONE,
    .accept = accept_listing,
    .records = records,
};
