/* Files: bodies, meshes, smoothing, poses, arrays and pictures.
 *
 * Any fault in a file gives ABUT_ERROR_FORMAT and the text "FILE:LINE: what is wrong" (binary
 * files: "FILE: ..."). A file that cannot be read gives ABUT_ERROR_READ. An output file is written
 * completely or not at all. A character device or a pipe is written in place. Opening a pipe waits
 * for its reader. If the reader closes early, SIGPIPE ends the process, unless SIGPIPE is ignored.
 */
#ifndef ABUT_FILES_H
#define ABUT_FILES_H

#include <abut/decompose.h>
#include <abut/field.h>
#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a body from NAME.body.json, or from a bare mesh in a format that abut_load_mesh reads. A
 * bare mesh gets its field by abut_load_field with the default options. abut_get_body_info has the
 * suspicions about a bare mesh. */
ABUT_API abut_status abut_load_body(abut_context context, const char *path, abut_body *body);

/* Reads a mesh file, scales the mesh, and makes its field or takes the field from the cache. The
 * cache is the folder `fields` in the user's folder for compiled programs (ABUT_CACHE_DIR). Cached
 * fields are identified by the mesh's content and the options. A cached field is equal to the bit,
 * including its report except `kept`. Free the field with abut_free_field. Errors: those of
 * abut_make_field, with the file's name, and of reading. */
ABUT_API abut_status abut_load_field(const char *path, const abut_field_options *options,
                                     abut_field *field);

/* Writes a field as NAME.body.json, with the files that it names: NAME.grid.npz, NAME.contact.obj
 * and NAME.surface.obj. abut_load_body reads them as the same body, to the bit. `path` must end
 * with .body.json. The body file is written last. If a file cannot be written, no new file
 * remains. */
ABUT_API abut_status abut_write_field(const char *path, const abut_field *field);

/* Reads a mesh file, scales the mesh, and decomposes it. Free the result with
 * abut_free_decomposition. Errors: those of abut_decompose, with the file's name, and of
 * reading. */
ABUT_API abut_status abut_load_decomposition(abut_context context, const char *path,
                                             const abut_decompose_options *options,
                                             abut_decomposition *decomposition);

/* Writes a decomposition as NAME.body.json, with the files that it names. NAME.body.json has the
 * primitives and the temperature of their union. NAME.contact.obj has the vertices, faces and edges
 * of the decomposition's `def`, where a caller may have put those of abut_make_contact_mesh.
 * NAME.surface.obj is written if `def` has a surface. `path` must end with .body.json. The body
 * file is written last. If a file cannot be written, no new file remains. */
ABUT_API abut_status abut_write_decomposition(const char *path,
                                              const abut_decomposition *decomposition);

/* Reads superquadrics from a table, or from a NAME.body.json that has nothing else. A table is a
 * text or an .npy file whose rows are those of abut_superquadrics_from_rows. Columns of a text are
 * separated by commas or by blanks. Text after a '#' is ignored, and so is a first line without a
 * number, which names columns. An .npy has the shape (K, 11), or (11) for one superquadric.
 *
 * scale  the file's unit of length [m], 1e-9 to 1e9; 0: 1
 * Errors: ABUT_ERROR_FORMAT, with the line of a text; of reading. Free the result with
 * abut_free_superquadrics. */
ABUT_API abut_status abut_load_superquadrics(const char *path, double scale,
                                             abut_superquadrics *superquadrics);

/* Frees the memory of superquadrics from abut_load_superquadrics. */
ABUT_API void abut_free_superquadrics(abut_superquadrics *superquadrics);

/* Writes a table of (count) superquadrics, all of them added: .csv, .txt (separated by blanks) or
 * .npy (float64), by the end of the path. A text has as many digits as reproduce the numbers to the
 * bit, and no header. */
ABUT_API abut_status abut_write_superquadrics(const char *path,
                                              const abut_superquadric *superquadrics, size_t count);

/* Finds the file that abut_load_body takes a body's mesh from: the file that a NAME.body.json
 * names, relative to its own folder, else `path`. The file is not opened. Free the path with
 * abut_free. ABUT_ERROR_FORMAT if a body file names none because its height field is its mesh. */
ABUT_API abut_status abut_find_mesh(const char *path, char **mesh_path);

/* Finds the file of the surface that a NAME.body.json names, relative to its own folder. The path
 * is NULL if the body file names none, and for mesh files. The file is not opened. Free the path
 * with abut_free. */
ABUT_API abut_status abut_find_surface(const char *path, char **surface_path);

/* The vertices, faces and edges of a mesh file, as they are written; `def` points into `memory`. */
typedef struct abut_mesh_file {
  abut_body_def def;
  size_t trailing; /* bytes after the mesh's end, which were ignored */
  void *memory;
} abut_mesh_file;

/* Reads a mesh file in a format that docs/bodies.md lists. `scale` is the file's unit of length
 * [m]; the mesh is in metres. Free the mesh with abut_free_mesh. */
ABUT_API abut_status abut_load_mesh(const char *path, double scale, abut_mesh_file *mesh);
ABUT_API void abut_free_mesh(abut_mesh_file *mesh);

/* Writes a mesh to `path` as an .obj. */
ABUT_API abut_status abut_write_mesh(const char *path, const abut_body_def *mesh);

/* Writes the body file `from` with another mesh, as NAME.body.json with NAME.contact.obj beside it.
 * union_: the temperature with which the new file states that its primitives were fitted [m]; 0:
 * unchanged. Other files that `from` names must be in the folder of the new file. */
ABUT_API abut_status abut_write_remeshed(const char *path, const char *from,
                                         const abut_body_def *mesh, double union_);

/* Reads a smoothing.json that has every key. Only `floor` may be missing, and is then 0. Other keys
 * are errors. */
ABUT_API abut_status abut_load_smoothing(const char *path, abut_smoothing *smoothing);

/* Reads a smoothing.json that may leave keys out. Missing keys get the values of abut_fit_smoothing
 * for the two bodies, or those of abut_fit_edge_pairs if the file says "edge_contacts": "pairs". A
 * file that has every key except floor needs no fit: floor is then 0. Errors: also those of the
 * fit.
 */
ABUT_API abut_status abut_load_fitted_smoothing(const char *path, abut_body body1, abut_body body2,
                                                abut_smoothing *smoothing);

/* Reads smoothing like abut_load_smoothing, from a text of `count` bytes in memory. `name` is the
 * file's name in errors. */
ABUT_API abut_status abut_parse_smoothing(const char *name, const char *text, size_t count,
                                          abut_smoothing *smoothing);

/* Makes the JSON text of a smoothing set, with all keys. Free it with abut_free. */
ABUT_API abut_status abut_format_smoothing(const abut_smoothing *smoothing, char **text);

/* Poses of a batch, in double. Free them with abut_free_poses. */
typedef struct abut_poses {
  size_t count;
  abut_pose_kind kind;
  double *pose1, *pose2; /* (count, 6) or (count, 7) */
  uint32_t *pair;        /* (count) index of each pose's pair in a list of pairs; NULL if the
                            file does not contain it */
  size_t *lines;         /* (count) line of each pose in a .csv, from 1; NULL for an .npz */
} abut_poses;

/* Reads poses from a file, by the end of its name:
 *
 * - .npz: s1, s2 of shape (N, 6), or pose1, pose2 of shape (N, 7), reals or integers; optionally
 *   pair, integers from 0 to 2^32 - 1 of shape (N,)
 * - .npy: one array of shape (N, 12) or (N, 14), with the columns of a .csv, except that of pairs
 * - .csv: a header that names the columns. There are 12 columns, s1 and s2, or 14, x y z qw qx qy
 *   qz of body 1 and then of body 2; and optionally one more, pair
 * Numbers that are not finite are kept: they make only their own poses invalid. Free the poses with
 * abut_free_poses. */
ABUT_API abut_status abut_load_poses(const char *path, abut_poses *poses);
ABUT_API void abut_free_poses(abut_poses *poses);

/* A file of poses that is read by ranges, by one thread at a time. */
typedef struct abut_pose_file abut_pose_file;

typedef struct abut_pose_file_info {
  size_t count; /* number of all poses */
  abut_pose_kind kind;
  bool pairs;    /* the file contains the index of each pose's pair in a list of pairs */
  bool by_range; /* memory holds only the poses that are read; else the file is compressed or a
                    text, and memory holds all of it */
} abut_pose_file_info;

/* Opens a file of poses that abut_load_poses reads, to read it by ranges. For .npy, and for .npz
 * whose members are stored (as by numpy.savez), no poses are read yet, and files may be larger than
 * memory. Compressed .npz and .csv are read as a whole. Beyond 1e7 poses they are refused
 * (ABUT_ERROR_FORMAT), with a line of code that converts them. Close the file with
 * abut_close_poses. *file is NULL on failure. */
ABUT_API abut_status abut_open_poses(const char *path, abut_pose_file **file,
                                     abut_pose_file_info *info);

/* Reads poses first .. first + count - 1, which must exist. Free them with abut_free_poses. The
 * checksum of an .npz covers whole members, and is not checked when they are read by ranges. A file
 * that has become shorter is ABUT_ERROR_READ or ABUT_ERROR_FORMAT. */
ABUT_API abut_status abut_read_poses(abut_pose_file *file, size_t first, size_t count,
                                     abut_poses *poses);

/* Reads the shapes of a range of such poses, as abut_load_shape_rows does: `one` and `two`, of
 * shape (count,). Free them with abut_free. Both are NULL if the file has neither. */
ABUT_API abut_status abut_read_shape_rows(abut_pose_file *file, size_t first, size_t count,
                                          uint32_t **one, uint32_t **two);

/* Closes a file of poses; NULL is allowed. */
ABUT_API void abut_close_poses(abut_pose_file *file);

/* The bodies of a list of pairs, by their files. Free it with abut_free_pairs. */
typedef struct abut_pair_files {
  size_t count;
  char **bodies; /* (count, 2) paths */
  size_t *lines; /* (count) line of each pair in the list, from 1 */
} abut_pair_files;

/* Reads a list of pairs: a .csv with two body files per line, separated by a comma, without a
 * header. Blank lines, and text after a '#', are ignored. Names must not contain control
 * characters. Files are relative to the list's folder, unless their names begin with '/'. They are
 * not opened. */
ABUT_API abut_status abut_load_pairs(const char *path, abut_pair_files *pairs);
ABUT_API void abut_free_pairs(abut_pair_files *pairs);

typedef enum abut_array_type {
  ABUT_ARRAY_FLOAT32 = 0,
  ABUT_ARRAY_FLOAT64 = 1,
  ABUT_ARRAY_UINT8 = 2,
  ABUT_ARRAY_UINT32 = 3,
  ABUT_ARRAY_TEXT = 4, /* one string; data is char, shape[0] its length in bytes, dimensions 1 */
  ABUT_ARRAY_INT32 = 5,
  ABUT_ARRAY_INT64 = 6
} abut_array_type;

typedef struct abut_array {
  const char *name; /* without ".npy" */
  abut_array_type type;
  uint32_t dimensions;
  size_t shape[4];
  const void *data;
} abut_array;

/* Makes the header of a .npy for an array of this type and shape, whose data follows it in C order.
 * The array's name and data are not read. Free *bytes with abut_free. ABUT_ERROR_ARGUMENT for
 * texts, and for shapes of more bytes than a size_t can count. */
ABUT_API abut_status abut_format_npy_header(const abut_array *array, char **bytes, size_t *count);

/* Writes arrays as .npz, which numpy.load reads without pickle. A text is stored as a
 * zero-dimensional unicode string. */
ABUT_API abut_status abut_write_npz(const char *path, const abut_array *arrays, size_t count);

/* Arrays of an .npz in memory. Names and data belong to it. Free it with abut_free_npz. */
typedef struct abut_npz {
  abut_array *arrays;
  size_t count;
} abut_npz;

/* Reads the arrays of an .npz that have one of the types above, little endian, or int8, int16 or
 * uint16, which become int32. Arrays in Fortran order are converted to C order. Errors name the
 * member. */
ABUT_API abut_status abut_read_npz(const char *path, abut_npz *npz);

/* Reads those arrays of an .npz that have one of the given names, in the order of the file. Any of
 * them may be missing. Other arrays are ignored, whatever they are. */
ABUT_API abut_status abut_read_npz_arrays(const char *path, const char *const *names,
                                          size_t name_count, abut_npz *npz);
ABUT_API void abut_free_npz(abut_npz *npz);

/* A file of arrays that is read by ranges, by one thread at a time. */
typedef struct abut_array_file abut_array_file;

/* Opens an .npz, or an .npy, whose one array has the name "". Only headers are read: files may be
 * larger than memory. Close the file with abut_close_arrays. *file is NULL on failure. */
ABUT_API abut_status abut_open_arrays(const char *path, abut_array_file **file);

/* Lists the arrays of a file in its order, with names, types and shapes as from abut_read_npz, and
 * without data. A text has no length. The list belongs to the file. */
ABUT_API abut_status abut_list_arrays(const abut_array_file *file, const abut_array **arrays,
                                      size_t *count);

/* Reads elements first[k] .. first[k] + count[k] - 1 of each dimension of array `index` of the
 * list, which must exist, in C order. Free *data with abut_free. Nothing else is read, and
 * checksums are not checked. A compressed member is unpacked as a whole when it is first read, and
 * stays in memory. ABUT_ERROR_FORMAT for a text, and for a file that has become shorter. */
ABUT_API abut_status abut_read_array(abut_array_file *file, size_t index, const size_t *first,
                                     const size_t *count, void **data);

/* Closes a file of arrays; NULL is allowed. */
ABUT_API void abut_close_arrays(abut_array_file *file);

/* Writes an RGB picture as a PNG file, 8 bits per channel, rows from the top. */
ABUT_API abut_status abut_write_png(const char *path, uint32_t width, uint32_t height,
                                    const uint8_t *rgb);

/* Makes the PNG file of an RGB picture in memory, as abut_write_png. Free *bytes with abut_free. */
ABUT_API abut_status abut_format_png(uint32_t width, uint32_t height, const uint8_t *rgb,
                                     uint8_t **bytes, size_t *count);

/* Writes bytes to a file as they are. */
ABUT_API abut_status abut_write_file(const char *path, const void *bytes, size_t count);

/* Removes the unfinished output files of abut in this process. It is for the handler of a signal
 * that ends the process, and every such handler may call it at any time. On file systems that can
 * write files without a name, as most of Linux's can, there is nothing to remove, however the
 * process ends. */
ABUT_API void abut_remove_unfinished(void);

/* Frees memory that a function of the library returned, if the function's comment names abut_free.
 * NULL is allowed. */
ABUT_API void abut_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
