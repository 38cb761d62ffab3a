/* The reader of scene files, NAME.scene.json (docs/scenes.md). */
#ifndef ABUT_SCENE_FILE_H
#define ABUT_SCENE_FILE_H

#include "scene/definition.h"

/* Reads a scene. It opens the smoothing files that the scene names, but not its bodies. Free *out
 * with scene_def_free; it is empty on failure. */
abut_status scene_file_read(const char *path, scene_def *out);
/* Does the same with the contact model `model` instead of the file's, unless `model` is NULL. An
 * integrator or a capacity that the file requests for its own model is dropped if the other model
 * does not support it. */
abut_status scene_file_read_as(const char *path, const char *model, scene_def *out);
abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out);

/* The place of an error in a scene: element `index` of the root's list `list`; or its member
 * `part`; or, with in_list, element part_index of that member. If the scene has a file, the place
 * must exist in it. */
typedef struct scene_place {
  const char *list;
  size_t index;
  const char *part; /* NULL: the element itself */
  bool in_list;
  size_t part_index;
} scene_place;

/* Returns the place of a pair with bodies, or of one of its bodies if the pair is automatic. */
scene_place scene_pair_place(const scene_def *s, size_t i);

/* Fails with an error that is found after the file was read: with ABUT_ERROR_FORMAT and the text
 * "FILE:LINE: place: ...", or with ABUT_ERROR_ARGUMENT if the scene has no file. */
__attribute__((format(printf, 3, 4))) abut_status scene_fail(const scene_def *s, scene_place place,
                                                             const char *format, ...);

/* Returns the `status` of a call about this place. If the scene's file may be the cause of the
 * failure, the place and `what` ("its file, ") are put before the error text. */
abut_status scene_blame(const scene_def *s, scene_place place, const char *what,
                        abut_status status);

#endif
