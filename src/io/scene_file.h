/* NAME.scene.json. */
#ifndef ABUT_IO_SCENE_FILE_H
#define ABUT_IO_SCENE_FILE_H

#include "world/scene_def.h"

/* Reads a scene; the bodies that it names are not opened, but smoothing files are. Free it with
 * scene_def_free. */
abut_status scene_file_read(const char *path, scene_def *out);
abut_status scene_file_parse(const char *name, const char *bytes, size_t count, scene_def *out);

#endif
