/* Metadata of a loaded body: its file, and the diagnostics of its mesh, which the public API calls
 * suspicions. */
#ifndef ABUT_BODY_DIAGNOSTICS_H
#define ABUT_BODY_DIAGNOSTICS_H

#include <abut/field.h>

/* The error text for bodies without faces in swept collision (CCD), and the remedy. */
#define CCD_NO_FACES                                                                             \
  "its mesh has no faces, so other bodies would pass through it: name a mesh with faces in the " \
  "body file, with `surface`"

/* Sets the report of a body's mesh. abut_get_body_info returns its suspicions and misfits too. */
void body_set_report(abut_body b, const abut_field_report *report);

/* Sets the file name by which errors name a body. */
abut_status body_set_name(abut_body b, const char *path);

#endif
