/*
 * Marks: a watched program speaks to its watcher by a system call that does not exist. The emulator's plugin
 * (emulator_plugin.c) sees number and arguments; every kernel and emulator answers ENOSYS, so a program with marks runs
 * anywhere. A mark is a single instruction, and adds no access to the stream.
 *
 *     watch_mark_buffer(tag, address, bytes)   any number of times; an access belongs to the first buffer around the address
 *     watch_mark_stack(address, bytes)         memory known to be the stack
 *     watch_mark_begin(phase)                  counting starts, with empty caches
 *     watch_mark_phase(phase)                  as often as wanted
 *     watch_mark_end()                         counting ends; the watcher writes the result
 *
 * Tags and phases are the simulator's (sim/base/access.h): small numbers with a meaning for the caller. A region per
 * run, of a single thread.
 */
#ifndef COUNTERS_WATCH_MARKER_H
#define COUNTERS_WATCH_MARKER_H

#include <stddef.h>
#include <stdint.h>

enum {
    WATCH_MARK_NUMBER = 4242,      /* unused on every architecture */
    WATCH_MARK_MAGIC = 0x4f425345, /* first argument: nobody else's mistake */
};

enum watch_mark {
    WATCH_MARK_BUFFER,
    WATCH_MARK_STACK,
    WATCH_MARK_BEGIN,
    WATCH_MARK_PHASE,
    WATCH_MARK_END,
};

#if defined(WATCH_TWIN)
/* The program is the watcher, too (twin_watcher.c). */
void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c);
#elif defined(__x86_64__)
static inline void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t r10 __asm__("r10") = b;
    register uint64_t r8 __asm__("r8") = c;
    uint64_t number = WATCH_MARK_NUMBER;

    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((uint64_t)WATCH_MARK_MAGIC), "S"((uint64_t)mark), "d"(a), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
}
#elif defined(__powerpc64__)
static inline void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t r0 __asm__("r0") = WATCH_MARK_NUMBER;
    register uint64_t r3 __asm__("r3") = WATCH_MARK_MAGIC;
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

/*
 * Further CPUs mark through the C library: a few accesses to the stack and to errno join the stream, outside all
 * buffers.
 */
long syscall(long number, ...);

static inline void watch_mark(enum watch_mark mark, uint64_t a, uint64_t b, uint64_t c)
{
    syscall(WATCH_MARK_NUMBER, (uint64_t)WATCH_MARK_MAGIC, (uint64_t)mark, a, b, c);
}
#endif

static inline void watch_mark_buffer(unsigned tag, uint64_t address, uint64_t bytes)
{
    watch_mark(WATCH_MARK_BUFFER, tag, address, bytes);
}

static inline void watch_mark_stack(uint64_t address, uint64_t bytes)
{
    watch_mark(WATCH_MARK_STACK, 0, address, bytes);
}

static inline void watch_mark_begin(unsigned phase)
{
    watch_mark(WATCH_MARK_BEGIN, phase, 0, 0);
}

static inline void watch_mark_phase(unsigned phase)
{
    watch_mark(WATCH_MARK_PHASE, phase, 0, 0);
}

static inline void watch_mark_end(void)
{
    watch_mark(WATCH_MARK_END, 0, 0, 0);
}

struct watch_files; /* watch.h */
struct sim_why;     /* sim/base/why.h */

/*
 * Finds the linked watcher: emulator_watcher.c finds the emulator's plugin, twin_watcher.c watches the program's own
 * instrumented code. To be called before the first mark. Returns 0, or -errno with a line in why: -ENOTSUP if nobody
 * watches.
 */
int watch_find(const struct watch_files *f, struct sim_why why);

#endif
