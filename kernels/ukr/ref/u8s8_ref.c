/* u8s8, portable. Sums wrap around; no sum of a shape that conv_problem_finish() takes does. */
#include <stdint.h>

#define TYPE CONV_U8S8
#define ELEMENT uint8_t
#define N_CHANNELS 4
#define PACK_WINDOWS conv_pack_windows_u8s8__ref
#define PACK_FILTERS conv_pack_filters_u8s8
#define PACK_FILTERS_EMIT conv_pack_filters_u8s8_emit
#include "kernels/ukr/ref/pack_lanes_tmpl.h"

#define HEAD 0
#define UKR conv_u8s8_ukr_16x24__ref
#include "kernels/ukr/ref/bytes_ref.h"
