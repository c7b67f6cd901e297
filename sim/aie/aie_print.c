#include <inttypes.h>

#include "sim/aie/aie.h"

static void print_address(const struct aie_address *at, FILE *out)
{
    fprintf(out, "[p%u", at->pointer);
    if (at->offset)
        fprintf(out, "%+d", at->offset);
    fputc(']', out);
    if (at->post)
        fprintf(out, "%+d", at->post);
}

static void print_load(const struct aie_load *l, char port, FILE *out)
{
    if (!l->bytes)
        return;
    fprintf(out, " vld%c %s, ", port, aie_registers[l->reg].name);
    print_address(&l->at, out);
    fputc(';', out);
}

static void print_permutation(const char *name, const struct aie_permutation *p, unsigned reg, FILE *out)
{
    fprintf(out, "%s=%s+%u", name, aie_registers[reg].name, p->start);
    fprintf(out, "/%" PRIx64, p->offsets);
    if (p->square)
        fprintf(out, "/%04x", p->square);
    if (p->step)
        fprintf(out, " step %u", p->step);
}

static void print_mac(const struct aie_mac *m, FILE *out)
{
    static const char *const names[] = { "", "8x1.32", "16x2.16", "8x4.16" };

    fprintf(out, "v%s.%s bm%u, ", m->is_mul ? "mul" : "mac", names[m->kind], m->acc);
    print_permutation("x", &m->px, m->x, out);
    fputs(", ", out);
    print_permutation("z", &m->pz, m->z, out);
}

static void print_scalar(const struct aie_scalar *s, FILE *out)
{
    switch (s->kind) {
    case AIE_MOVP:
        fprintf(out, " movp p%u, %d;", s->reg, s->value);
        break;
    case AIE_PADD:
        fprintf(out, " padd p%u, %d;", s->reg, s->value);
        break;
    case AIE_MOVI:
        fprintf(out, " movi r%u, %d;", s->reg, s->value);
        break;
    case AIE_LOOP:
        fprintf(out, " loop %d, %u..%u;", s->value, s->target, s->end);
        break;
    case AIE_JMP:
        fprintf(out, " j %u;", s->target);
        break;
    case AIE_JNZD:
        fprintf(out, " jnzd r%u, %u;", s->reg, s->target);
        break;
    case AIE_JZD:
        fprintf(out, " jzd r%u, %u;", s->reg, s->target);
        break;
    case AIE_HALT:
        fputs(" halt;", out);
        break;
    default:
        break;
    }
}

void aie_print_bundle(const struct aie_bundle *b, FILE *out)
{
    print_load(&b->load[0], 'a', out);
    print_load(&b->load[1], 'b', out);
    if (b->store.bits) {
        fprintf(out, " vst.srs%u ", b->store.bits);
        print_address(&b->store.at, out);
        fprintf(out, ", bm%u, %u;", b->store.acc, b->store.shift);
    }
    if (b->move.bytes)
        fprintf(out, " vmov %s, %s;", aie_registers[b->move.to].name, aie_registers[b->move.from].name);
    print_scalar(&b->scalar, out);
    if (b->mac.kind) {
        fputc(' ', out);
        print_mac(&b->mac, out);
        fputc(';', out);
    }
    if (!b->load[0].bytes && !b->load[1].bytes && !b->store.bits && !b->move.bytes && !b->scalar.kind && !b->mac.kind)
        fputs(" nop;", out);
    fputc('\n', out);
}

void aie_print_program(const struct aie_program *p, FILE *out)
{
    for (size_t i = 0; i < p->n; i++) {
        fprintf(out, "%4zu:", i);
        aie_print_bundle(&p->bundle[i], out);
    }
}
