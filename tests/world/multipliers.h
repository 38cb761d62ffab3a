/* Forces of contacts, as golden cases state them. */
#ifndef ABUT_TESTS_MULTIPLIERS_H
#define ABUT_TESTS_MULTIPLIERS_H

#include "worlds_golden.h"
#include <abut/world.h>

/* To the answers, of all worlds or of the first one alone: `all` has `slots` of each world.
 * Contacts are given (g), or those of the scene's pairs; those without friction are checked and
 * become 0. */
void keep_multipliers(const golden_case *c, abut_scene scene, const abut_given_contacts *g,
                      void *all, size_t slots, answers *out);

#endif
