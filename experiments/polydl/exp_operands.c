#include "experiments/polydl/exp_operands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/polydl/exp_walk.h"
#include "experiments/setup/exp_tensors.h"
#include "kernels/plan/plan.h"
#include "kernels/shape/sizes.h"

enum { PAGE = 4096 };

int exp_operands_init(struct exp_operands *o, const struct exp_variant *v, size_t n_images)
{
    int err = 0;

    *o = (struct exp_operands){ .n_images = n_images };
    for (size_t i = 0; i < n_images * EXP_N_OPERANDS && !err; i++) {
        const size_t image = i / EXP_N_OPERANDS, operand = i % EXP_N_OPERANDS;
        void *memory = NULL;

        o->bytes[operand] = exp_tensor_bytes(&v->tensor[operand]);
        if (image && operand == EXP_OPERAND_A) {
            o->of[image][operand] = o->of[0][operand];
            continue;
        }
        err = -posix_memalign(&memory, PAGE, round_up(o->bytes[operand], PAGE));
        if (err)
            continue;
        o->of[image][operand] = memory;
        exp_tensors_fill(memory, o->bytes[operand], 1 + operand);
    }
    if (err)
        exp_operands_release(o);
    return err;
}

void exp_operands_release(struct exp_operands *o)
{
    for (size_t image = 0; image < o->n_images; image++) {
        for (size_t i = 0; i < EXP_N_OPERANDS; i++) {
            if (!image || i != EXP_OPERAND_A)
                free(o->of[image][i]);
        }
    }
    *o = (struct exp_operands){ .n_images = 0 };
}

void exp_operands_base(const struct exp_operands *o, size_t image, uint64_t base[EXP_N_OPERANDS])
{
    for (size_t i = 0; i < EXP_N_OPERANDS; i++)
        base[i] = (uintptr_t)o->of[image][i];
}

void exp_operands_replayed(const struct exp_variant *v, uint64_t base[EXP_N_OPERANDS])
{
    uint64_t at = CONV_REPLAY_BASE;

    for (size_t i = 0; i < EXP_N_OPERANDS; i++) {
        base[i] = at;
        at += round_up(exp_tensor_bytes(&v->tensor[i]), PAGE);
    }
}
