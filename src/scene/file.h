/* The reader of scenes' files, NAME.scene.json (docs/scenes.md). */
#ifndef ABUT_SCENE_FILE_H
#define ABUT_SCENE_FILE_H

#include "scene/definition.h"

/* Reads a scene. It opens the smoothing files that the scene names, but not the bodies. Free *out
 * with scene_def_free; it is empty on failure. */
abut_status scene_file_read(const char *path, scene_def *out);
/* Does the same with the contact model `model`, unless that is NULL, in place of the file's. What
 * the file asks of its own model and the other one does not take, an integrator or a capacity, is
 * dropped. */
abut_status scene_file_read_as(const char *path, const char *model, scene_def *out);
abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out);

/* A place in a scene, to which a fault belongs: element `index` of the root's list `list`, or its
 * member `part`, or with in_list the element part_index of that. A scene that has a file must have
 * the place in it. */
typedef struct scene_place {
  const char *list;
  size_t index;
  const char *part; /* NULL: the element itself */
  bool in_list;
  size_t part_index;
} scene_place;

/* Returns the place of a pair with bodies, or of one of its bodies where it is automatic. */
scene_place scene_pair_place(const scene_def *s, size_t i);

/* Fails for a fault that is found after the file was read: with ABUT_ERROR_FORMAT and the text
 * "FILE:LINE: place: ...", or with ABUT_ERROR_ARGUMENT where the scene has no file. */
__attribute__((format(printf, 3, 4))) abut_status scene_fail(const scene_def *s, scene_place place,
                                                             const char *format, ...);

/* Returns the `status` that a call about this place has had. If it is a kind of failure that the
 * scene's file can be to blame for, the last error's text gets the place and `what` ("its file, ")
 * before it. */
abut_status scene_blame(const scene_def *s, scene_place place, const char *what,
                        abut_status status);

#endif
