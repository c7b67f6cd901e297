#include "sim/aie/aie.h"

const struct aie_register aie_registers[AIE_N_REGISTERS] = {
    { "vl0", 1, { 0 } },
    { "vh0", 1, { 1 } },
    { "vl1", 1, { 2 } },
    { "vh1", 1, { 3 } },
    { "vl2", 1, { 4 } },
    { "vh2", 1, { 5 } },
    { "vl3", 1, { 6 } },
    { "vh3", 1, { 7 } },
    { "vl4", 1, { 8 } },
    { "vh4", 1, { 9 } },
    { "vl5", 1, { 10 } },
    { "vh5", 1, { 11 } },
    { "vl6", 1, { 12 } },
    { "vh6", 1, { 13 } },
    { "vl7", 1, { 14 } },
    { "vh7", 1, { 15 } },
    { "wr0", 2, { 0, 1 } },
    { "wr1", 2, { 2, 3 } },
    { "wr2", 2, { 4, 5 } },
    { "wr3", 2, { 6, 7 } },
    { "wc0", 2, { 8, 9 } },
    { "wc1", 2, { 10, 11 } },
    { "wd0", 2, { 12, 13 } },
    { "wd1", 2, { 14, 15 } },
    { "xa", 4, { 0, 1, 2, 3 } },
    { "xb", 4, { 4, 5, 6, 7 } },
    { "xc", 4, { 8, 9, 10, 11 } },
    { "xd", 4, { 12, 13, 14, 15 } },
    { "ya", 8, { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { "yd", 8, { 12, 13, 14, 15, 4, 5, 6, 7 } },
};

const struct aie_params aie_default_params = {
    .load_latency = 8,
    .mac_latency = 6,
    .recurrence = 1,
    .srs_latency = 3,
    .branch_delay = 5,
    .memory_bytes = 128 * 1024,
    .program_bundles = 1024,
};

#define AT(member) #member, offsetof(struct aie_params, member)

const struct aie_parameter aie_parameters[AIE_N_PARAMETERS] = {
    { AT(load_latency), 1, AIE_MOST_LATENCY, "cycles from a vector load to the first reader of its register",
      "llvm-aie AIE1Schedule.td, II_LDA: 8" },
    { AT(mac_latency), 1, AIE_MOST_LATENCY, "cycles from a multiply to the first reader of its accumulator",
      "llvm-aie AIE1Schedule.td, II_VMAC: 6" },
    { AT(recurrence), 1, AIE_MOST_LATENCY, "cycles between two MACs on one accumulator",
      "not published for fixed point; at most 4, as the paper reaches 7.67 of 8 with at most 4 accumulators" },
    { AT(srs_latency), 1, AIE_MOST_LATENCY, "cycles from a store's reading of the accumulator to its memory access",
      "llvm-aie AIE1Schedule.td, II_STSRS: 3" },
    { AT(branch_delay), 0, AIE_MOST_LATENCY, "bundles behind a branch that are still run",
      "llvm-aie AIE1Schedule.td, II_RET: 5" },
    { AT(memory_bytes), 8192, 128 * 1024, "data memory that a core reaches", "AM009, Load and Store Unit: 128 KB" },
    { AT(program_bundles), 1, 1 << 20, "bundles that the program memory holds, each taken as 128 bits",
      "UG1079, AI Engine Memory: 16 KB, 1,024 instructions" },
};
