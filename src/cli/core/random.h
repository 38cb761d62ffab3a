/* Random numbers that are the same on every machine, unlike rand(). */
#ifndef ABUT_CLI_RANDOM_H
#define ABUT_CLI_RANDOM_H

#include <stdint.h>

/* In (0, 1). */
double random_uniform(uint64_t *state);
/* With mean 0 and variance 1. */
double random_normal(uint64_t *state);

#endif
