/* NAME.scene.json. */
#ifndef ABUT_WORLD_SCENE_FILE_H
#define ABUT_WORLD_SCENE_FILE_H

#include "world/scene_def.h"

/* Reads a scene; the bodies that it names are not opened, but smoothing files are. Free it with
 * scene_def_free. */
abut_status scene_file_read(const char *path, scene_def *out);
/* The same with a contact model in place of the file's, where it is not NULL. What of the file's own
 * model that one has no meaning for is left aside. */
abut_status scene_file_read_as(const char *path, const char *model, scene_def *out);
abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out);

/* A place in a scene: element `index` of a list of the root, or of it a member, or of that an
 * element. They must be in the scene's file, if it has one. */
typedef struct scene_place {
  const char *list;
  size_t index;
  const char *part; /* NULL: the element itself */
  bool in_list;
  size_t part_index;
} scene_place;

/* ABUT_ERROR_FORMAT and "FILE:LINE: place: text" for what is found wrong after reading; of a scene
 * without a file ABUT_ERROR_ARGUMENT. */
__attribute__((format(printf, 3, 4))) abut_status scene_fail(const scene_def *s, scene_place place,
                                                            const char *format, ...);

/* The status of a call about that place, which is given back: where what the scene says there is to
 * blame, the last error's text is told with the place from then on, behind `what` ("its file, "). */
abut_status scene_blame(const scene_def *s, scene_place place, const char *what,
                        abut_status status);

#endif
