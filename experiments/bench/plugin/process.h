/*
 * The process of a plug-in, and the memory shared with the program. plugin.c and channel.c are the program's side,
 * process.c and layer.c the process's side, turns.c serves both sides. The program sets a task and waits until the task is done. The keeper, a third process, stands
 * between program and process (keeper.c).
 */
#ifndef EXPERIMENTS_BENCH_PLUGIN_PROCESS_H
#define EXPERIMENTS_BENCH_PLUGIN_PROCESS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "experiments/bench/case/case.h"
#include "experiments/bench/plugin/plugin.h"
#include "counters/watch/recorder.h"

enum {
    PLUGIN_NAME_BYTES = 40,
    PLUGIN_TEXT_BYTES = 512,
    PLUGIN_PLAN_BYTES = CONV_RECORDER_PLAN_BYTES,
    PLUGIN_SHOWN_BYTES = 16 << 10 /* of the plug-in's output */
};

enum { PLUGIN_IDLE, PLUGIN_BUSY };

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
 * Shared memory. The pointers point to code and data that both processes have since before the fork. A plug-in may
 * overwrite any byte here, so a text may lack its final zero byte (plugin_channel_text).
 */
struct plugin_control {
    _Atomic uint32_t turn; /* PLUGIN_IDLE or PLUGIN_BUSY */
    enum plugin_task task;
    struct conv_plan plan;
    size_t layer; /* of PLUGIN_OPEN, PLUGIN_PREPARE, PLUGIN_RUN, PLUGIN_DO: index among the open layers */
    enum exp_cache_state cache;
    uint64_t (*now_ns)(void);
    uint64_t took_ns;
    size_t lent_bytes, lent_at[3]; /* of PLUGIN_OPEN_LENT: all bytes; offsets of input, filters, output */
    struct exp_phases phases;      /* of PLUGIN_STEPS */
    bool has_marks;                /* the run marked its phases */
    void (*fn)(void *data, const struct exp_runs *runs);
    _Alignas(16) unsigned char data[4096]; /* data of fn */
    unsigned threads;                      /* PLUGIN_THREADS */
    bool is_pinned;                        /* timed runs are pinned to `cores` */
    cpu_set_t cores;                       /* cores of timed runs */
    uint64_t convert_ns[2];   /* of PLUGIN_CLOSE: the shortest convert_in and convert_out, summed over layers */
    _Atomic uint32_t n_ended; /* number of processes that have ended */
    int status;               /* of the last ended process, as from waitpid */
    bool is_wrong;            /* text reports that the plug-in broke a rule */
    char user_plan[PLUGIN_PLAN_BYTES];       /* PLUGIN_PLAN */
    char name[PLUGIN_NAME_BYTES], title[96]; /* of PLUGIN_LOAD; "": made from the file's name */
    bool is_function;                        /* the symbol is a function, no record */
    bool calls_libraries;                    /* besides the C library */
    char text[PLUGIN_TEXT_BYTES];            /* why the task failed; "": done */
    char doubt[PLUGIN_TEXT_BYTES]; /* PLUGIN_CHECK is done, with a fault that counts only if the output is right; "" */
};

/* The place of a tensor in lent memory: the pages, and the offset in the pages. */
struct plugin_place {
    size_t offset, bytes, mapped, before;
};

struct plugin_channel {
    struct plugin_control *control;
    int fd;                /* of the tensors' memory; -1: none */
    int printed, printing; /* ends of the pipe for the plug-in's output; -1: none */
    size_t n_shown;
    unsigned char *lent; /* NULL: no lent memory */
    size_t lent_bytes;
    pid_t keeper;     /* 0: none */
    bool is_up;       /* a process runs */
    uint32_t n_ended; /* number of process ends that this side has seen */
};

extern const enum conv_tensor plugin_tensors[3]; /* input, filters, output */

/* Waits while it is the turn `value`, at most some milliseconds; hands the turn over, and wakes the other side. */
void plugin_wait_while(_Atomic uint32_t *turn, uint32_t value, long ms);
void plugin_hand_over(struct plugin_control *control, uint32_t turn);

int plugin_channel_open(struct plugin_channel *c); /* 0 or -errno */

/* Copies a text of the process, of at most `bytes` bytes: cleaned (exp_text_clean), from malloc. */
char *plugin_channel_text(const char *text, size_t bytes);
void plugin_channel_close(struct plugin_channel *c);

/* Returns the places of the tensors, and the bytes of all tensors together. */
size_t plugin_places(const struct conv_layout *l, struct plugin_place place[3]);

void plugin_channel_ask(struct plugin_channel *c, enum plugin_task task);
bool plugin_channel_wait(struct plugin_channel *c); /* some milliseconds at most; true: the task is done */

/* Shows the process's output on standard error, of long output the beginning. Tells whether there was output. */
bool plugin_channel_show(struct plugin_channel *c);

/* Lends the process `bytes` zero bytes until plugin_channel_return. Returns 0 or -errno. */
int plugin_channel_lend_bytes(struct plugin_channel *c, size_t bytes);

/* Lend the process copies of the tensors; check the bytes around the output; take the output; take the memory back. */
int plugin_channel_lend(struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind);
bool plugin_channel_find_stray(const struct plugin_channel *c, const struct conv_plan *plan, char *text, size_t bytes);
void plugin_channel_take(const struct plugin_channel *c, const struct conv_plan *plan, const struct conv_binding *bind);
void plugin_channel_return(struct plugin_channel *c);

/*
 * Starts the keeper and the process. The process loads the object when told to, and runs its symbol; "": the names of
 * conv_plugin.h. Call before the program has further threads. Returns 0 or -errno.
 */
int plugin_keeper_start(struct plugin_channel *c, const char *object, const char *symbol);
void plugin_keeper_start_again(struct plugin_channel *c); /* starts a new process, after the last has ended */

/* Tells whether the process and all descendants have ended. *status is then as from waitpid. */
bool plugin_keeper_saw_end(struct plugin_channel *c, int *status);
void plugin_keeper_end_process(struct plugin_channel *c); /* and all its descendants */
void plugin_keeper_end(struct plugin_channel *c);         /* and the process with all its descendants */

/* Runs in the process: does the program's tasks for ever. */
void plugin_process_serve(struct plugin_control *control, const char *object, const char *symbol, int fd, int printing)
    __attribute__((noreturn));

#endif
