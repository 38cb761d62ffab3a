/* What is known of a body that was loaded: its file, and the diagnostics of its mesh, which public
 * names call suspicions. */
#ifndef ABUT_BODY_DIAGNOSTICS_H
#define ABUT_BODY_DIAGNOSTICS_H

#include <abut/field.h>

/* Why a body of collision in time is refused whose mesh has no faces, and what to do. */
#define CCD_NO_FACES                                                                            \
  "its mesh has no faces, so that others would pass through it: name a mesh with faces in the " \
  "body file, by "                                                                              \
  "`surface`"

/* Gives a body the report of its mesh, whose suspicions and misfits abut_get_body_info has, too. */
void body_set_report(abut_body b, const abut_field_report *report);

/* Lets errors name a body by its file. */
abut_status body_set_name(abut_body b, const char *path);

#endif
