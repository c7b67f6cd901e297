#include "experiments/observe/exp_observed_result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "experiments/replay/exp_quantity.h"
#include "kernels/ukr/ukr.h"

enum { NAME_BYTES = 2 * OBS_NAME_BYTES };

/* A result on its way, in one of two directions. Both call the same functions, in the same order. */
struct moving {
    const struct sim_machine *m;
    struct exp_result *to;         /* NULL: it is read */
    const struct exp_result *from; /* NULL: it is written */
    size_t at;
};

/* Moves a count that is there unless it is 0. */
static void move(struct moving *x, const char *name, uint64_t *value)
{
    if (x->to && *value)
        exp_result_put(x->to, name, *value);
    else if (x->from)
        *value = x->at < x->from->n && !strcmp(x->from->name[x->at], name) ? x->from->value[x->at++] : 0;
}

static void move_cell(struct moving *x, struct sim_cell *cell, const char *prefix)
{
    if (x->to)
        exp_kept_counts_put(x->to, x->m, prefix, cell);
    else if (x->at < x->from->n && !strncmp(x->from->name[x->at], prefix, strlen(prefix)))
        exp_kept_counts_get(x->from, x->m, prefix, cell, &x->at);
}

/* Tags that are no tensors have no name. */
static void say_prefix(unsigned tag, unsigned phase, char text[NAME_BYTES])
{
    const char *phase_name = conv_phase_name((enum conv_phase)phase);

    if (tag < CONV_N_TENSORS)
        snprintf(text, NAME_BYTES, "%s/%s/", conv_tensor_name((enum conv_tensor)tag), phase_name);
    else
        snprintf(text, NAME_BYTES, "tag%u/%s/", tag, phase_name);
}

static void move_cells(struct moving *x, struct obs_result *seen)
{
    char prefix[NAME_BYTES];

    for (unsigned tag = 0; tag < SIM_USUAL_TAGS; tag++) {
        for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
            say_prefix(tag, phase, prefix);
            move_cell(x, &seen->stats.cell[tag][phase], prefix);
        }
    }
}

static void move_instructions(struct moving *x, struct obs_result *seen)
{
    char name[NAME_BYTES];

    for (unsigned phase = 0; phase < CONV_N_PHASES; phase++) {
        for (unsigned c = 0; c < OBS_N_CLASSES; c++) {
            snprintf(name, sizeof name, "%s/instructions/%s", conv_phase_name((enum conv_phase)phase),
                     obs_class_name((enum obs_class)c));
            move(x, name, &seen->instructions[phase][c]);
        }
        snprintf(name, sizeof name, "%s/footprint", conv_phase_name((enum conv_phase)phase));
        move(x, name, &seen->outside_lines[phase]);
    }
}

/* ---- lists: their items are named by what they are, so that reading finds out what comes ---- */

static void put_lists(struct exp_result *to, const struct obs_result *seen)
{
    char name[NAME_BYTES];

    for (const struct obs_buffer *b = seen->buffer; b < seen->buffer + seen->n_buffers; b++) {
        snprintf(name, sizeof name, "buffer/%u/address", b->tag);
        exp_result_put(to, name, b->address);
        snprintf(name, sizeof name, "buffer/%u/%s", b->tag, b->is_learned ? "learned" : "bytes");
        exp_result_put(to, name, b->bytes);
    }
    for (const struct obs_outside *o = seen->outside; o < seen->outside + seen->n_outside; o++) {
        const char *where = o->is_stack ? "stack" : "elsewhere";

        snprintf(name, sizeof name, "outside/%u/%.63s/%s/loads", o->phase, o->function, where);
        exp_result_put(to, name, o->loads);
        snprintf(name, sizeof name, "outside/%u/%.63s/%s/stores", o->phase, o->function, where);
        exp_result_put(to, name, o->stores);
    }
}

/* Reads a buffer from two counts, or nothing. */
static bool get_buffer(struct moving *x, struct obs_result *seen)
{
    struct obs_buffer *b = &seen->buffer[seen->n_buffers];
    const char *const *name = (const char *const *)x->from->name + x->at;
    unsigned tag, again;
    char what[8];

    if (x->at + 2 > x->from->n || seen->n_buffers == OBS_MAX_BUFFERS ||
        sscanf(name[0], "buffer/%u/address", &tag) != 1 || sscanf(name[1], "buffer/%u/%7s", &again, what) != 2 ||
        tag != again || tag >= SIM_USUAL_TAGS)
        return false;
    *b =
        (struct obs_buffer){ x->from->value[x->at], x->from->value[x->at + 1], (uint8_t)tag, !strcmp(what, "learned") };
    seen->n_buffers++;
    x->at += 2;
    return true;
}

/* The same of what a function did to no buffer. */
static bool get_outside(struct moving *x, struct obs_result *seen)
{
    struct obs_outside *o = &seen->outside[seen->n_outside];
    unsigned phase;
    char where[10];

    if (x->at + 2 > x->from->n || seen->n_outside == OBS_MAX_OUTSIDE ||
        sscanf(x->from->name[x->at], "outside/%u/%63[^/]/%9[^/]/loads", &phase, o->function, where) != 3 ||
        phase >= CONV_N_PHASES)
        return false;
    o->phase = (uint8_t)phase;
    o->is_stack = !strcmp(where, "stack");
    o->loads = x->from->value[x->at];
    o->stores = x->from->value[x->at + 1];
    seen->n_outside++;
    x->at += 2;
    return true;
}

/* ---- all of it ---- */

static void move_numbers(struct moving *x, struct obs_result *seen)
{
    move_cells(x, seen);
    move_instructions(x, seen);
}

void exp_observed_result_put(struct exp_result *to, const struct sim_machine *m, const struct obs_result *seen)
{
    struct moving x = { .m = m, .to = to };

    move_numbers(&x, (struct obs_result *)(uintptr_t)seen); /* which are only read in this direction */
    put_lists(to, seen);
}

int exp_observed_result_get(const struct exp_result *from, const struct sim_machine *m, struct obs_result *seen)
{
    struct moving x = { .m = m, .from = from };

    *seen = (struct obs_result){ .stats.n_levels = m->n_levels };
    move_numbers(&x, seen);
    while (get_buffer(&x, seen))
        ;
    while (get_outside(&x, seen))
        ;
    return x.at == from->n ? 0 : -EINVAL;
}
