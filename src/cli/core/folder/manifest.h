/* What a folder of results says of itself: what it is made of, and what lies in it. */
#ifndef ABUT_CLI_MANIFEST_H
#define ABUT_CLI_MANIFEST_H

#include "core/outputs.h"
#include <jansson.h>

/* The manifest of a call that is about to begin. `input` names the poses; `described` has the
 * arrays, of no poses. *out is to be released. */
exit_code manifest_make(const options *o, const session *s, option_id input,
                        const abut_pose_file_info *poses, const outputs *described, json_t **out);

/* Reads folder/manifest.json. *out is NULL where there is none. */
exit_code manifest_read(const char *folder, json_t **out);
/* Writes it, whole or not at all. */
exit_code manifest_write(const char *folder, const json_t *manifest);

/* Refuses to go on where it was begun otherwise, and says what differs. `begun`: "FOLDER/: was
 * begun with". */
exit_code manifest_compare(const char *begun, const json_t *there, const json_t *here);
/* The same of a folder. */
exit_code manifest_compare_folder(const char *folder, const json_t *there, const json_t *here);
/* A number of what must not differ. */
uint64_t manifest_inputs(const json_t *manifest);

bool manifest_is_complete(const json_t *manifest);
const char *manifest_version(const json_t *manifest);
uint64_t manifest_poses(const json_t *manifest);
/* What they are: "poses" or "worlds". */
const char *manifest_rows(const json_t *manifest);
/* The arrays' descriptions, with names that belong to the manifest; shapes as that has them. */
exit_code manifest_arrays(const char *folder, const json_t *manifest, outputs *out);
/* Marks it complete: lists of so many entries, and the devices that computed, a sorted array. */
exit_code manifest_complete(json_t *manifest, uint64_t entries, json_t *devices);

#endif
