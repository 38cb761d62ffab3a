/* What the reader of scenes' files asks of contact laws, in the order in which it asks. */
#ifndef ABUT_SCENE_LAW_H
#define ABUT_SCENE_LAW_H

#include "scene/parts.h"

/* Sets the scene's law: the one that the reader puts in place of the file's, else the file's. */
abut_status law_read_word(reader *r, const json_at *root);

/* Have every law read its own settings in a scene's file, and its own numbers in one of the
 * pairs. */
abut_status laws_read(const json_file *f, const json_at *root, scene_def *s);
abut_status laws_read_pair(const json_file *f, const json_at *element, scene_pair *p);

/* Has the scene's own law settle, once all settings are read. Where the law is not the file's own,
 * what the file asks of the other one and this one does not take is dropped first. */
abut_status law_settle(const reader *r, const json_at *root);

/* Has it settle a pair whose bodies and friction are read. */
abut_status law_settle_pair(const reader *r, const json_at *element, scene_pair *p);

/* Whether the scene's law takes equality constraints, and its word. */
bool law_takes_equalities(const scene_def *s);
const char *law_word(const scene_def *s);

/* Returns the integrator of a file that names none. */
integrator law_usual_integrator(const scene_def *s);

#endif
