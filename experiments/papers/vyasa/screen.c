/* The screen of the Vyasa paper's question: the rate of tuned schedules beside the paper's schedules and numbers. */
#include <math.h>

#include "experiments/papers/vyasa/vyasa.h"

enum { PEAK_16 = 32, PEAK_32 = 8 };

const struct vyasa_printed vyasa_printed[VYASA_N_PRINTED] = {
    { VYASA_VI, "Table VI", 32, 7.67 },    { VYASA_VI, "Table VI", 16, 25.92 },  { VYASA_VII, "Table VII", 32, 7.67 },
    { VYASA_VII, "Table VII", 16, 22.53 }, { VYASA_CONV3D, "CONV3D", 32, 7.55 }, { VYASA_CONV3D, "CONV3D", 16, 21.60 },
};

static unsigned peak_of(unsigned bits)
{
    return bits == 16 ? PEAK_16 : PEAK_32;
}

/* Finds the first printed number with a workload, 16 bits before 32; NULL: none. */
static const struct vyasa_printed *find_first(const struct vyasa_work *w)
{
    for (unsigned bits = 16; bits <= 32; bits += 16) {
        for (size_t i = 0; i < VYASA_N_PRINTED; i++) {
            const struct vyasa_printed *p = &vyasa_printed[i];

            if (p->bits == bits && !isnan(vyasa_geomean(w, p->group, bits, true)))
                return p;
        }
    }
    return NULL;
}

void vyasa_headline(const struct vyasa_work *w, char *text, size_t bytes)
{
    const struct vyasa_printed *p = find_first(w);

    if (!p) {
        exp_say(text, bytes, "No workload was compiled.");
        return;
    }
    exp_say(text, bytes,
            "Tuned schedules reach %.1f of %u MACs per cycle with %u bits (%s), the paper's schedules %.1f; the paper "
            "prints %.1f. All cycles are those of a model.",
            vyasa_geomean(w, p->group, p->bits, true), peak_of(p->bits), p->bits, p->name,
            vyasa_geomean(w, p->group, p->bits, false), p->rate);
}

/* Finds the largest gain of a tuned schedule. */
static void say_gain(const struct vyasa_work *w, struct exp_screen *screen)
{
    const struct vyasa_row *most = NULL;

    for (size_t i = 0; i < w->n; i++) {
        const struct vyasa_row *r = &w->row[i];

        if (!most || r->tuned_rate / r->printed_rate > most->tuned_rate / most->printed_rate)
            most = r;
    }
    if (most)
        exp_screen_note(screen, "why", "tuning gains most in %s, %u bits: %.1f instead of %.1f MACs per cycle",
                        most->name, most->bits, most->tuned_rate, most->printed_rate);
}

static void say_trust(const struct vyasa_work *w, struct exp_screen *screen)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += w->row[i].is_checked;
    exp_screen_note(
        screen, "trust",
        "outputs of %zu of %zu workloads equal plain loops bit for bit; one parameter of the model, %u idle "
        "cycles before a row, is fitted to Table VI; no measurement has judged the model",
        n, w->n, w->entry_cycles);
}

void vyasa_screen(const struct vyasa_work *w, struct exp_screen *screen)
{
    char text[512];

    exp_screen_title(screen, "%zu workloads of the Vyasa paper on a simulated AI Engine", w->n);
    vyasa_headline(w, text, sizeof text);
    exp_screen_say(screen, EXP_STRONG, "%s", text);
    say_gain(w, screen);
    say_trust(w, screen);
    exp_screen_row(screen, "MACs per cycle, geomean");
    exp_screen_cell(screen, EXP_PLAIN, "paper");
    exp_screen_cell(screen, EXP_PLAIN, "its schedules, model");
    exp_screen_cell(screen, EXP_PLAIN, "difference");
    exp_screen_cell(screen, EXP_PLAIN, "tuned, model");
    exp_screen_cell(screen, EXP_PLAIN, "of peak");
    for (size_t i = 0; i < VYASA_N_PRINTED; i++) {
        const struct vyasa_printed *p = &vyasa_printed[i];
        const double ours = vyasa_geomean(w, p->group, p->bits, false),
                     best = vyasa_geomean(w, p->group, p->bits, true);

        if (isnan(ours))
            continue;
        exp_screen_row(screen, "%s, %u bits", p->name, p->bits);
        exp_screen_cell(screen, EXP_PLAIN, "%.2f", p->rate);
        exp_screen_cell(screen, EXP_PLAIN, "%.2f", ours);
        exp_screen_cell(screen, EXP_PLAIN, "%+.1f %%%s", 100 * (ours / p->rate - 1),
                        p->group == VYASA_VI ? " (fitted)" : "");
        exp_screen_cell(screen, best > 1.05 * ours ? EXP_GOOD : EXP_PLAIN, "%.2f", best);
        exp_screen_cell(screen, EXP_PLAIN, "%.0f %%", 100 * best / peak_of(p->bits));
    }
}
