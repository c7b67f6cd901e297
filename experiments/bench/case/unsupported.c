#include "experiments/bench/case/unsupported.h"

#include <ctype.h>
#include <fnmatch.h>

static const struct {
    enum exp_unsupported kind;
    const char *pattern, *say;
} words[] = {
#define UNSUPPORTED(kind, ...) { EXP_UNSUPPORTED_##kind, __VA_ARGS__ },
#include "experiments/bench/case/unsupported.def"
};

static const char *const kinds[] = {
    [EXP_UNSUPPORTED_VARIABLE] = "VARIABLE", [EXP_UNSUPPORTED_MACHINE] = "MACHINE", [EXP_UNSUPPORTED_UKR] = "UKR"
};

enum { N_WORDS = sizeof words / sizeof words[0] };

const char *exp_unsupported(enum exp_unsupported kind, const char *word)
{
    char small[64];
    size_t n = 0;

    for (; word[n] && n + 1 < sizeof small; n++)
        small[n] = (char)tolower((unsigned char)word[n]);
    small[n] = '\0';
    for (size_t i = 0; i < N_WORDS; i++) {
        if (words[i].kind == kind && !fnmatch(words[i].pattern, small, 0))
            return words[i].say;
    }
    return NULL;
}

void exp_unsupported_tell(FILE *out)
{
    for (size_t i = 0; i < N_WORDS; i++)
        fprintf(out, "unsupported\t%s\t%s\t%s\n", kinds[words[i].kind], words[i].pattern, words[i].say);
}
