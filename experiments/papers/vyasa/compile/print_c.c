/* The compiled convolution as C with intrinsics: loads, operations and stores in order, an iteration at a time. */
#include "experiments/papers/vyasa/compile/code.h"

#include <assert.h>

static const char *vector_type(const struct vyasa_code *c, unsigned n_v)
{
    static const char *const types[2][2] = { { "v8int16", "v16int16" }, { "v4int32", "v8int32" } };

    return types[c->problem.bits == 32][n_v - 1];
}

/* Loads are of registers of 256 bits, or of a half register. */
static void print_load(const struct vyasa_code *c, const struct vyasa_load *l, FILE *out)
{
    const struct vyasa_instance *x = &c->body.instance[l->instance];
    const struct vyasa_value *v = &c->body.value[x->value];
    const long at = v->first * (long)c->shape.bytes + (long)l->at * AIE_V_BYTES;
    const char *name = aie_registers[AIE_W + x->v[l->at] / 2].name;

    fprintf(out, "                %s = ", name);
    if (l->n_v == 1)
        fprintf(out, "upd_v(%s, %d, ", name, x->v[l->at] % 2);
    fprintf(out, "aie_load_%s(%c%u + %ld)%s;\n", vector_type(c, l->n_v), v->tensor == VYASA_OF_X ? 'x' : 'z', v->part,
            at, l->n_v == 1 ? ")" : "");
}

static void print_mac(const struct vyasa_code *c, const struct vyasa_mac *m, FILE *out)
{
    const struct aie_permutation *x = &m->permute.x, *z = &m->permute.z;
    const bool is_wide = c->problem.bits == 32;

    fprintf(out, "                bm%u = %s%s%s(", m->acc, is_wide ? "l" : "", m->is_first ? "mul" : "mac",
            is_wide ? "8" : "16");
    if (!m->is_first)
        fprintf(out, "bm%u, ", m->acc);
    fprintf(out, "%s, %u, 0x%x, ", aie_registers[m->x_register].name, x->start, (unsigned)x->offsets);
    if (!is_wide)
        fprintf(out, "0x%x, 0x%x, ", (unsigned)(x->offsets >> 32), x->square);
    fprintf(out, "%s, %u, 0x%x", aie_registers[m->z_register].name, z->start, (unsigned)z->offsets);
    if (!is_wide)
        fprintf(out, ", 0x%x, %u", (unsigned)(z->offsets >> 32), z->step);
    fprintf(out, ");\n");
}

static void print_body(const struct vyasa_code *c, FILE *out)
{
    const struct vyasa_body *b = &c->body;

    for (size_t i = 0; i < b->n_macs; i++) {
        for (size_t l = 0; l < b->n_loads; l++) {
            if (b->load[l].due == i)
                print_load(c, &b->load[l], out);
        }
        print_mac(c, &b->mac[i], out);
        for (size_t s = 0; s < b->n_stores; s++) {
            if (b->store[s].last == i)
                fprintf(out, "                aie_store_%s(out + %ld, srs(bm%u, %u));\n", vector_type(c, 2),
                        vyasa_output_at(&c->shape, b->store[s].output) * (long)c->shape.bytes, b->mac[i].acc,
                        c->problem.shift);
        }
    }
}

static void print_pointer(const struct vyasa_code *c, enum vyasa_tensor tensor, unsigned part, FILE *out)
{
    static const char names[] = "xyk";

    if (tensor == VYASA_OUT)
        fprintf(out, "                unsigned char *out = memory + %u", c->shape.base[tensor][part]);
    else
        fprintf(out, "                const unsigned char *%c%u = memory + %u", tensor == VYASA_OF_X ? 'x' : 'z', part,
                c->shape.base[tensor][part]);
    for (unsigned l = 0; l < VYASA_N_LOOPS; l++) {
        const long step = vyasa_step(&c->shape, tensor, l);

        if (step && c->shape.count[l] > 1)
            fprintf(out, " + %ld * %c", step, names[l]);
    }
    fprintf(out, ";\n");
}

void vyasa_print_c(const struct vyasa_code *c, FILE *out)
{
    const enum vyasa_loop loops[] = { c->schedule.outer[0], c->schedule.outer[1], c->schedule.inner };
    static const char names[] = "xyk";

    assert(out);
    fprintf(out,
            "/* A convolution of %ux%ux%u outputs of %u bits by filters of %ux%ux%ux%u, for the AI Engine. */\n"
            "#include \"intrinsics.h\"\n\n"
            "#define ya concat(concat(wr0, wr1), concat(wr2, wr3))\n"
            "#define yd concat(concat(wd0, wd1), concat(wr2, wr3))\n\n"
            "/* memory: the core's, with the tensors in their layouts */\n"
            "void convolve(unsigned char *memory);\n\n"
            "void convolve(unsigned char *memory)\n{\n"
            "    %s wr0 = { { 0 } }, wr1 = wr0, wr2 = wr0, wr3 = wr0, wc0 = wr0, wc1 = wr0, wd0 = wr0, wd1 = wr0;\n"
            "    %s bm0 = { { 0 } }, bm1 = bm0, bm2 = bm0, bm3 = bm0;\n\n",
            c->problem.x, c->problem.y, c->problem.k, c->problem.bits, c->problem.r, c->problem.s, c->problem.d,
            c->problem.c, vector_type(c, 2), c->problem.bits == 32 ? "v8acc80" : "v16acc48");
    for (unsigned i = 0; i < 3; i++)
        fprintf(out, "%*sfor (long %c = 0; %c < %u; %c++)%s\n", (int)(4 + 4 * i), "", names[loops[i]], names[loops[i]],
                c->shape.count[loops[i]], names[loops[i]], i == 2 ? " {" : "");
    for (enum vyasa_tensor t = VYASA_OF_X; t < VYASA_N_TENSORS; t++) {
        for (unsigned part = 0; part < c->shape.n_parts[t]; part++)
            print_pointer(c, t, part, out);
    }
    print_body(c, out);
    fprintf(
        out,
        "            }\n    (void)wr0, (void)wr1, (void)wr2, (void)wr3, (void)wc0, (void)wc1, (void)wd0, (void)wd1;\n"
        "    (void)bm0, (void)bm1, (void)bm2, (void)bm3;\n}\n");
}
