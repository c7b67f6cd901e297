#include "counters/host/ctr_emulated.h"

#include <string.h>

#include "counters/host/ctr_text.h"

#if defined(__x86_64__)
#include <cpuid.h>

bool ctr_is_emulated(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31)) /* bit 31 of ecx: a hypervisor has a signature to show */
        return false;
    __cpuid(0x40000000, a, b, c, d);
    return !memcmp(&b, "TCGT", 4);
}
#else
bool ctr_is_emulated(void)
{
    char value[256];

    /* only the file of x86 has the line */
    return !ctr_text_key("/proc/cpuinfo", "cpuid level", value, sizeof value);
}
#endif
