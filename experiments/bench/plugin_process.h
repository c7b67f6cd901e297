/*
 * The process of a plug-in, and the memory that it shares with the program (plugin.c is this side, plugin_process.c the
 * other). One task at a time: the program says what is to be done and waits. A process of its own stands between the
 * two, the keeper (plugin_keeper.c).
 */
#ifndef EXPERIMENTS_BENCH_PLUGIN_PROCESS_H
#define EXPERIMENTS_BENCH_PLUGIN_PROCESS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "experiments/bench/case.h"
#include "experiments/bench/plugin.h"
#include "kernels/plugin/recorder.h"

enum {
    PLUGIN_NAME_BYTES = 40,
    PLUGIN_TEXT_BYTES = 512,
    PLUGIN_PLAN_BYTES = CONV_RECORDER_PLAN_BYTES,
    PLUGIN_SHOWN_BYTES = 16 << 10 /* of what it prints */
};

enum plugin_task {
    PLUGIN_LOAD,
    PLUGIN_CAN,
    PLUGIN_CHECK,
    PLUGIN_OPEN,
    PLUGIN_PREPARE,
    PLUGIN_RUN,
    PLUGIN_STEPS,
    PLUGIN_DO,
    PLUGIN_CLOSE,
    PLUGIN_OPEN_LENT,
    PLUGIN_RUN_LENT,
    PLUGIN_CLOSE_LENT,
    PLUGIN_LEAVE
};

/*
 * Lies in shared memory. Pointers in it are to what both processes had before they parted. A plug-in may write anything
 * here: texts have an end only where their room has (plugin_channel_text).
 */
struct plugin_control {
    _Atomic uint32_t turn; /* PLUGIN_IDLE or PLUGIN_BUSY */
    enum plugin_task task;
    struct conv_plan plan;
    size_t layer; /* of PLUGIN_OPEN, PLUGIN_PREPARE, PLUGIN_RUN, PLUGIN_DO: which of those that are open together */
    enum exp_cache_state cache;
    uint64_t (*now_ns)(void);
    uint64_t took_ns;
    size_t lent_bytes, lent_at[3]; /* of PLUGIN_OPEN_LENT: all of it; where input, filters and output begin */
    struct exp_phases phases;      /* of PLUGIN_STEPS */
    bool has_marks;                /* it told what it did */
    void (*fn)(void *data, const struct exp_runs *runs);
    _Alignas(16) unsigned char data[4096];   /* fn's */
    unsigned threads;                        /* PLUGIN_THREADS */
    bool is_pinned;                          /* while it is timed, */
    cpu_set_t cores;                         /* to these */
    uint64_t convert_ns[2];                  /* of PLUGIN_CLOSE: the shortest convert_in and convert_out */
    _Atomic uint32_t n_ended;                /* processes that have ended, one after the other */
    int status;                              /* of the last one, as from waitpid */
    bool is_wrong;                           /* what text says is that the plug-in did what it must not */
    char user_plan[PLUGIN_PLAN_BYTES];       /* PLUGIN_PLAN */
    char name[PLUGIN_NAME_BYTES], title[96]; /* of PLUGIN_LOAD; "": the file's */
    bool is_function;                        /* what was loaded is no record */
    bool calls_libraries;                    /* others than the C library */
    char text[PLUGIN_TEXT_BYTES];            /* why it is not done; "": it is */
    char doubt[PLUGIN_TEXT_BYTES]; /* PLUGIN_CHECK is done, and this is wrong if the output is right; "": nothing */
};

/* Says where a tensor lies in the memory that is lent: its pages, and where in these it begins. */
struct plugin_place {
    size_t offset, bytes, mapped, before;
};

struct plugin_channel {
    struct plugin_control *control;
    int fd;                /* of the tensors' memory; -1: none */
    int printed, printing; /* ends of the pipe for what it prints; -1: there is none */
    size_t n_shown;
    unsigned char *lent; /* NULL: nothing is */
    size_t lent_bytes;
    pid_t keeper;     /* 0: there is none */
    bool is_up;       /* there is a process */
    uint32_t n_ended; /* how many ends of processes this side has seen */
};

int plugin_channel_open(struct plugin_channel *c); /* 0 or -errno */

/* Copies a text that the process wrote, of at most so many bytes: printable UTF-8, from malloc. */
char *plugin_channel_text(const char *text, size_t bytes);
void plugin_channel_close(struct plugin_channel *c);

/* Returns where tensors lie, and how many bytes they need together. */
size_t plugin_places(const struct conv_layout *l, struct plugin_place place[3]);

void plugin_channel_ask(struct plugin_channel *c, enum plugin_task task);
bool plugin_channel_wait(struct plugin_channel *c); /* some milliseconds at most; true: it is done */

/* Shows on standard error what the process has printed, the beginning if it is much. Tells whether there was any. */
bool plugin_channel_show(struct plugin_channel *c);

/* Lends the process so many bytes, zeros, until plugin_channel_return. Returns 0 or -errno. */
int plugin_channel_lend_bytes(struct plugin_channel *c, size_t bytes);

/* Lends the process copies of the tensors; looks what it wrote beside the output; takes the output; takes all back. */
int plugin_channel_lend(struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind);
bool plugin_channel_find_stray(const struct plugin_channel *c, const struct conv_plan *plan, char *text, size_t bytes);
void plugin_channel_take(const struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind);
void plugin_channel_return(struct plugin_channel *c);

/*
 * Starts the keeper and the process, which runs the symbol ("": what conv_plugin.h says) of the object once it is told
 * to load that. Call it before the program has other threads. Returns 0 or -errno.
 */
int plugin_keeper_start(struct plugin_channel *c, const char *object, const char *symbol);
void plugin_keeper_start_again(struct plugin_channel *c); /* the process, after one has ended */

/*
 * Tells whether the process has ended; *status is as from waitpid then. Whatever it had started has ended, too.
 */
bool plugin_keeper_saw_end(struct plugin_channel *c, int *status);
void plugin_keeper_end_process(struct plugin_channel *c); /* with all that it has started */
void plugin_keeper_end(struct plugin_channel *c);         /* likewise, and the keeper */

/* Is the process: does what it is told to, for ever. */
void plugin_process_serve(struct plugin_control *control, const char *object, const char *symbol, int fd, int printing)
    __attribute__((noreturn));

#endif
