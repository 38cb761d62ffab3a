/* The manifest of a folder of results: its inputs and its content. */
#ifndef ABUT_CLI_MANIFEST_H
#define ABUT_CLI_MANIFEST_H

#include "core/outputs.h"
#include <jansson.h>

/* Makes the manifest of a call that is about to start. `input` names the poses; `described` has the
 * arrays for zero poses. The caller releases *out. */
exit_code manifest_make(const options *o, const session *s, option_id input,
                        const abut_pose_file_info *poses, const outputs *described, json_t **out);

/* Reads folder/manifest.json. *out is NULL if there is none. */
exit_code manifest_read(const char *folder, json_t **out);
/* Writes it atomically. */
exit_code manifest_write(const char *folder, const json_t *manifest);

/* Refuses to continue a folder that was started with other inputs, and reports the difference.
 * `begun`: "FOLDER/: was begun with". */
exit_code manifest_compare(const char *begun, const json_t *there, const json_t *here);
/* The same for a folder. */
exit_code manifest_compare_folder(const char *folder, const json_t *there, const json_t *here);
/* Returns a hash of everything that must not differ. */
uint64_t manifest_inputs(const json_t *manifest);

bool manifest_is_complete(const json_t *manifest);
const char *manifest_version(const json_t *manifest);
uint64_t manifest_poses(const json_t *manifest);
/* Returns the kind of rows: "poses" or "worlds". */
const char *manifest_rows(const json_t *manifest);
/* Reads the arrays' descriptions and shapes; the names are owned by the manifest. */
exit_code manifest_arrays(const char *folder, const json_t *manifest, outputs *out);
/* Marks it complete, with the total entries of lists and a sorted array of the devices that
 * computed. */
exit_code manifest_complete(json_t *manifest, uint64_t entries, json_t *devices);

#endif
