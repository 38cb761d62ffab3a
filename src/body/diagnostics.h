/* The diagnostics of a body's mesh, which public names call suspicions. */
#ifndef ABUT_BODY_DIAGNOSTICS_H
#define ABUT_BODY_DIAGNOSTICS_H

#include <abut/body.h>

/* Lets abut_get_body_info tell a body's diagnostics, which are bits of abut_suspicion, and the misfit
 * of its mesh [m]. */
void body_set_diagnostics(abut_body b, uint32_t diagnostics, double misfit);

#endif
