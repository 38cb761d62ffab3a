/* What is suspicious about the mesh of a body. */
#ifndef ABUT_BODY_SUSPECT_H
#define ABUT_BODY_SUSPECT_H

#include <abut/body.h>

/* Lets a body tell it, as bits of abut_suspicion, in abut_get_body_info. misfit: what that tells [m]. */
void body_suspect(abut_body b, uint32_t suspicions, double misfit);

#endif
