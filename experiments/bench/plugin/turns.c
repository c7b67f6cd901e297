/* Shared by the program and the process of a plug-in: turns, the places of tensors, the shape of a layer. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "experiments/bench/plugin/process.h"
#include "kernels/plugin/conv_plugin.h"
#include "kernels/shape/sizes.h"

enum { READABLE_BYTES = 64 };

const enum conv_tensor plugin_tensors[3] = { CONV_INPUT, CONV_FILTER, CONV_OUTPUT };

void plugin_wait_while(_Atomic uint32_t *turn, uint32_t value, long ms)
{
    const struct timespec most = { ms / 1000, ms % 1000 * 1000000 };

    syscall(SYS_futex, turn, FUTEX_WAIT, value, &most, NULL, 0);
}

void plugin_hand_over(struct plugin_control *control, uint32_t turn)
{
    atomic_store(&control->turn, turn);
    syscall(SYS_futex, &control->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

size_t plugin_places(const struct conv_layout *l, struct plugin_place place[3])
{
    size_t end = 0;

    for (int t = 0; t < 3; t++) {
        const size_t bytes = l->bytes[plugin_tensors[t]], span = round_up(bytes + READABLE_BYTES, READABLE_BYTES);

        place[t] = (struct plugin_place){ end, bytes, round_up(span, CONV_PAGE_BYTES), 0 };
        place[t].before = place[t].mapped - span;
        end += place[t].mapped;
    }
    return end;
}

struct conv_plugin_shape exp_plugin_shape(const struct conv_problem *p)
{
    return (struct conv_plugin_shape){
        .bytes = sizeof(struct conv_plugin_shape),
        .batch = (int32_t)p->n,
        .groups = (int32_t)p->groups,
        .in_channels = (int32_t)p->c,
        .in_h = (int32_t)p->h,
        .in_w = (int32_t)p->w,
        .out_channels = (int32_t)p->k,
        .out_h = (int32_t)p->p,
        .out_w = (int32_t)p->q,
        .kernel_h = (int32_t)p->r,
        .kernel_w = (int32_t)p->s,
        .stride_h = (int32_t)p->stride_h,
        .stride_w = (int32_t)p->stride_w,
        .pad_top = (int32_t)p->pad_top,
        .pad_left = (int32_t)p->pad_left,
        .pad_bottom = (int32_t)p->pad_bottom,
        .pad_right = (int32_t)p->pad_right,
        .dilation_h = (int32_t)p->dilation_h,
        .dilation_w = (int32_t)p->dilation_w,
    };
}
