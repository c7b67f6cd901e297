/* Writes what JSON needs beyond printf(). */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdio.h>

/* Writes text as a JSON string, with its quotes. */
void sim_json_string(const char *text, FILE *out);

#endif
