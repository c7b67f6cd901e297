#include "experiments/setup/exp_main.h"

#include "experiments/base/exp_program.h"
#include "experiments/base/exp_signal.h"

static int obey(const struct exp_main *m)
{
    if (m->options->helps)
        exp_options_usage(m->program, stdout);
    else if (m->options->documents)
        m->document(stdout);
    else
        return m->run(m->session);
    return 0;
}

int exp_main(const struct exp_main *m, int argc, char **argv)
{
    const char *name = exp_options_program(m->program);
    int err = exp_options_parse(m->options, m->program, argc, argv, m->why, m->why_bytes);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!err)
        err = exp_signal_install(name);
    if (!err)
        err = obey(m);
    m->release(m->session);
    return exp_program_end(name, err, m->why, m->why_bytes);
}
