/* s8s8, portable. Sums wrap around; the sums at the end are right. */
#include <stdint.h>

#define TYPE CONV_S8S8
#define ELEMENT uint8_t
#define N_CHANNELS 4
#define SIGNED int8_t
#define PACK_WINDOWS conv_pack_windows_s8s8__ref
#define PACK_FILTERS conv_pack_filters_s8s8
#define PACK_FILTERS_EMIT conv_pack_filters_s8s8_emit
#include "kernels/ukr/ref/pack_lanes_tmpl.h"

#define HEAD 1
#define UKR conv_s8s8_ukr_16x24__ref
#include "kernels/ukr/ref/bytes_ref.h"
