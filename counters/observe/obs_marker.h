/*
 * Describes how a watched program speaks to its observer: by a system call that does not exist. An observer
 * (obs_plugin.c) sees number and arguments; every kernel and emulator answers ENOSYS, so a program with markers runs
 * anywhere. Written as one instruction, a marker adds no access to the stream that it delimits.
 *
 *     obs_mark_buffer(tag, address, bytes)   any number of times; an access belongs to the first buffer that holds it
 *     obs_mark_stack(address, bytes)         memory that is known to be the stack
 *     obs_mark_begin(phase)                  counting starts, with empty caches
 *     obs_mark_phase(phase)                  as often as wanted
 *     obs_mark_end()                         counting ends; the observer writes its result
 *
 * Tags and phases are the simulator's (sim/base/access.h): small numbers that the caller gives a meaning. One region
 * per run, of one thread.
 */
#ifndef COUNTERS_OBSERVE_OBS_MARKER_H
#define COUNTERS_OBSERVE_OBS_MARKER_H

#include <stdint.h>

enum {
    OBS_MARK_NUMBER = 4242,      /* unused on every architecture */
    OBS_MARK_MAGIC = 0x4f425345, /* first argument: nobody else's mistake */
};

enum obs_mark {
    OBS_MARK_BUFFER,
    OBS_MARK_STACK,
    OBS_MARK_BEGIN,
    OBS_MARK_PHASE,
    OBS_MARK_END,
};

#if defined(OBS_TWIN)
/* The program is its own observer (obs_twin_watcher.c). */
void obs_mark(enum obs_mark mark, uint64_t a, uint64_t b, uint64_t c);
#elif defined(__x86_64__)
static inline void obs_mark(enum obs_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t r10 __asm__("r10") = b;
    register uint64_t r8 __asm__("r8") = c;
    uint64_t number = OBS_MARK_NUMBER;

    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((uint64_t)OBS_MARK_MAGIC), "S"((uint64_t)mark), "d"(a), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
}
#elif defined(__powerpc64__)
static inline void obs_mark(enum obs_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t r0 __asm__("r0") = OBS_MARK_NUMBER;
    register uint64_t r3 __asm__("r3") = OBS_MARK_MAGIC;
    register uint64_t r4 __asm__("r4") = (uint64_t)mark;
    register uint64_t r5 __asm__("r5") = a;
    register uint64_t r6 __asm__("r6") = b;
    register uint64_t r7 __asm__("r7") = c;

    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                     :
                     : "r8", "r9", "r10", "r11", "r12", "cr0", "ctr", "memory");
}
#else
#include <unistd.h>

/* Elsewhere through the C library: a few accesses to its stack and to errno join the stream, outside all buffers. */
long syscall(long number, ...);

static inline void obs_mark(enum obs_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    syscall(OBS_MARK_NUMBER, (uint64_t)OBS_MARK_MAGIC, (uint64_t)mark, a, b, c);
}
#endif

static inline void obs_mark_buffer(unsigned tag, uint64_t address, uint64_t bytes)
{
    obs_mark(OBS_MARK_BUFFER, tag, address, bytes);
}

static inline void obs_mark_stack(uint64_t address, uint64_t bytes)
{
    obs_mark(OBS_MARK_STACK, 0, address, bytes);
}

static inline void obs_mark_begin(unsigned phase)
{
    obs_mark(OBS_MARK_BEGIN, phase, 0, 0);
}

static inline void obs_mark_phase(unsigned phase)
{
    obs_mark(OBS_MARK_PHASE, phase, 0, 0);
}

static inline void obs_mark_end(void)
{
    obs_mark(OBS_MARK_END, 0, 0, 0);
}

#endif
