/* The functions of contact laws that the reader of scene files calls, in the order of the calls. */
#ifndef ABUT_SCENE_LAW_H
#define ABUT_SCENE_LAW_H

#include "scene/parts.h"

/* Sets the scene's law: the reader's replacement if there is one, else the file's. */
abut_status law_read_word(reader *r, const json_at *root);

/* Let every law read its own settings from a scene's file, and its own numbers from one of the
 * pairs. */
abut_status laws_read(const json_file *f, const json_at *root, scene_def *s);
abut_status laws_read_pair(const json_file *f, const json_at *element, scene_pair *p);

/* Lets the scene's law finish its settings after all are read. If the law replaces the file's own,
 * settings that it does not support are dropped first. */
abut_status law_settle(const reader *r, const json_at *root);

/* Lets the law finish a pair whose bodies and friction are read. */
abut_status law_settle_pair(const reader *r, const json_at *element, scene_pair *p);

/* Return whether the scene's law supports equality constraints, and the law's name in files. */
bool law_takes_equalities(const scene_def *s);
const char *law_word(const scene_def *s);

/* Returns the default integrator. */
integrator law_usual_integrator(const scene_def *s);

#endif
