/* One layer in the process of a plug-in: the plug-in's functions are called here. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/text.h"
#include "experiments/bench/plugin/inside.h"

void plugin_say(struct plugin_inside *p, const char *text)
{
    snprintf(p->control->text, sizeof p->control->text, "%s", text);
}

void plugin_say_wrong(struct plugin_inside *p, const char *text)
{
    plugin_say(p, text);
    p->control->is_wrong = true;
}

/* Only a program that measures its coverage has this function. */
void __gcov_exit(void) __attribute__((weak));

void plugin_leave(int status)
{
    if (__gcov_exit)
        __gcov_exit();
    _exit(status);
}

bool plugin_does_shape(struct plugin_inside *p)
{
    const char *why;

    p->layer->problem = p->control->plan.problem;
    p->layer->shape = exp_plugin_shape(&p->layer->problem);
    why = p->record.why_not ? p->record.why_not(&p->layer->shape) : NULL;
    if (why)
        plugin_say(p, why);
    return !why;
}

void plugin_change_phase(struct plugin_inside *p, int phase)
{
    static const enum conv_step_kind kinds[] = { [CONV_PLUGIN_COMPUTES] = CONV_STEP_UKR,
                                                 [CONV_PLUGIN_PACKS] = CONV_STEP_PACK_WINDOWS,
                                                 [CONV_PLUGIN_LOWERS] = CONV_STEP_IM2COL,
                                                 [CONV_PLUGIN_CLEARS] = CONV_STEP_ZERO };
    const uint64_t now = p->control->now_ns();

    p->control->phases.step_ns[kinds[p->phase]] += now - p->since_ns;
    p->phase = phase >= 0 && phase <= CONV_PLUGIN_CLEARS ? (enum conv_plugin_phase)phase : CONV_PLUGIN_COMPUTES;
    p->since_ns = now;
}

/* The plug-in calls this function in all runs. */
static void mark(void *process, int phase)
{
    struct plugin_inside *p = process;

    if (!p->is_stepping)
        return;
    p->control->has_marks = true;
    plugin_change_phase(p, phase);
}

bool plugin_get_ready(struct plugin_inside *p, const float *filters)
{
    const struct conv_plugin_ask ask = {
        .bytes = sizeof ask,
        .threads = (int32_t)p->control->threads,
        .plan = p->control->user_plan,
        .marks = { mark, p },
    };
    char text[128];
    int err = p->record.prepare ? p->record.prepare(&p->layer->shape, &ask, filters, &p->layer->state) : 0;

    if (!err)
        return true;
    exp_say(text, sizeof text, "the plug-in's prepare failed: %s", strerror(err < 0 ? -err : err));
    plugin_say(p, text);
    return false;
}

void plugin_give_back(struct plugin_inside *p)
{
    if (p->record.release)
        p->record.release(p->layer->state);
    p->layer->state = NULL;
}

uint64_t plugin_own_now(const struct plugin_inside *p)
{
    return p->control->now_ns ? p->control->now_ns() : ctr_now_ns();
}

/* Lowers *shortest to ns; *shortest is 0 before the first time. */
static void keep_shortest(uint64_t *shortest, uint64_t ns)
{
    *shortest = *shortest && *shortest < ns ? *shortest : ns;
}

void plugin_convert_in(const struct plugin_inside *p, const float *in)
{
    const uint64_t start = plugin_own_now(p);

    if (!p->layout.convert_in)
        return;
    p->layout.convert_in(&p->layer->shape, p->layer->state, in);
    keep_shortest(&p->layer->convert_ns[0], plugin_own_now(p) - start);
}

void plugin_convert_out(const struct plugin_inside *p, float *out)
{
    const uint64_t start = plugin_own_now(p);

    if (!p->layout.convert_out)
        return;
    p->layout.convert_out(&p->layer->shape, p->layer->state, out);
    keep_shortest(&p->layer->convert_ns[1], plugin_own_now(p) - start);
}

uint64_t plugin_run_alone(const struct plugin_inside *p, const float *in, const float *filters, float *out)
{
    const uint64_t start = plugin_own_now(p);
    uint64_t took_ns;

    p->record.run(&p->layer->shape, p->layer->state, in, filters, out);
    took_ns = plugin_own_now(p) - start;
    if (getpid() != p->pid)
        plugin_leave(0); /* the plug-in forked, and the child came back, too */
    return took_ns;
}

uint64_t plugin_run(struct plugin_inside *p, const float *in, const float *filters, float *out)
{
    uint64_t took_ns;

    plugin_convert_in(p, in);
    took_ns = plugin_run_alone(p, in, filters, out);
    plugin_convert_out(p, out);
    return took_ns;
}
