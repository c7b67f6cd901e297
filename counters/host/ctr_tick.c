#include "counters/host/ctr_tick.h"

#include <stddef.h>

#if defined(__x86_64__)

const char *ctr_tick_name(void)
{
    return "time stamp counter";
}

uint64_t ctr_tick(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static void finish(void)
{
    __asm__ volatile("mfence" ::: "memory");
}

#elif defined(__aarch64__)

const char *ctr_tick_name(void)
{
    return "virtual counter";
}

uint64_t ctr_tick(void)
{
    uint64_t now;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now)::"memory");
    return now;
}

static void finish(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}

#elif defined(__powerpc64__)

const char *ctr_tick_name(void)
{
    return "time base";
}

uint64_t ctr_tick(void)
{
    uint64_t now;

    __asm__ volatile("isync\n\tmfspr %0, 268\n\tisync" : "=r"(now)::"memory");
    return now;
}

static void finish(void)
{
    __asm__ volatile("sync" ::: "memory");
}

#else

const char *ctr_tick_name(void)
{
    return NULL;
}

uint64_t ctr_tick(void)
{
    return 0;
}

static void finish(void)
{
}

#endif

/*
 * Waits for a value: the value is the condition of a branch, so that cores whose fence orders instructions wait, too.
 */
uint64_t ctr_tick_load(const void *p)
{
    uint64_t before, after;

    finish();
    before = ctr_tick();
    if (*(const volatile unsigned char *)p == 0xff)
        finish();
    after = ctr_tick();
    return after - before;
}

void ctr_tick_wait(uint64_t ticks)
{
    const uint64_t start = ctr_tick();

    while (ctr_tick_name() && ctr_tick() - start < ticks)
        ;
}
