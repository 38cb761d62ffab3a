/* Files: bodies, meshes, smoothing, poses, arrays and pictures.
 *
 * Everything wrong in a file gives ABUT_ERROR_FORMAT and the text "FILE:LINE: what is wrong"
 * (binary files: "FILE: ..."); a file that cannot be read ABUT_ERROR_READ. An output file appears
 * whole or not at all; a character device or a pipe is written in place: opening a pipe waits for
 * its reader, and one that goes early ends the process by SIGPIPE, unless that is ignored.
 */
#ifndef ABUT_FILES_H
#define ABUT_FILES_H

#include <abut/decompose.h>
#include <abut/field.h>
#include <abut/manifold.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads NAME.body.json, or a bare mesh of a format that abut_load_mesh reads, of which
 * abut_load_field makes the field by the default options. What is suspicious about a bare mesh is
 * in abut_get_body_info. */
ABUT_API abut_status abut_load_body(abut_context context, const char *path, abut_body *body);

/* Reads a mesh file, scales it, and makes its field, or takes it from the cache: the folder
 * `fields` of the user's one for compiled programs (ABUT_CACHE_DIR), in which fields are found by
 * the mesh's content and the options. A field from there is equal to the bit, report included but
 * for `kept`. Free it with abut_free_field. Errors: those of abut_make_field, with the file's
 * name, and of reading. */
ABUT_API abut_status abut_load_field(const char *path, const abut_field_options *options,
                                     abut_field *field);

/* Writes NAME.body.json, and beside it NAME.grid.npz, NAME.contact.obj and NAME.surface.obj, which
 * it names: what abut_load_body reads as the same body to the bit. `path` must end with .body.json.
 * The body file comes into place last; where one cannot be written, none is left that was not
 * there. */
ABUT_API abut_status abut_write_field(const char *path, const abut_field *field);

/* Reads a mesh file, scales it, and decomposes it. Free it with abut_free_decomposition. Errors:
 * those of abut_decompose, with the file's name, and of reading. */
ABUT_API abut_status abut_load_decomposition(abut_context context, const char *path,
                                             const abut_decompose_options *options,
                                             abut_decomposition *decomposition);

/* Writes NAME.body.json, with the primitives and the temperature of their union, and beside it
 * NAME.contact.obj and, where `def` has a surface, NAME.surface.obj, which it names.
 * NAME.contact.obj has the vertices, faces and edges of the decomposition's `def`, where a caller
 * may have put those of abut_make_contact_mesh. `path` must end with .body.json. The body file
 * comes into place last; where one cannot be written, none is left that was not there. */
ABUT_API abut_status abut_write_decomposition(const char *path,
                                              const abut_decomposition *decomposition);

/* Reads superquadrics of a table, text or .npy, whose rows are those of
 * abut_superquadrics_from_rows, or of a NAME.body.json that has nothing else. In text columns stand
 * between commas, or between blanks; what follows a '#' counts for nothing, and so does a first
 * line without a number, which names columns. An .npy has the shape (K, 11), or (11) for one
 * superquadric.
 *
 * scale  the file's unit of length [m], 1e-9 to 1e9; 0: 1 Errors: ABUT_ERROR_FORMAT, with the line
 * of a text; of reading. Free it with abut_free_superquadrics. */
ABUT_API abut_status abut_load_superquadrics(const char *path, double scale,
                                             abut_superquadrics *superquadrics);
ABUT_API void abut_free_superquadrics(abut_superquadrics *superquadrics);

/* Writes such a table, of (count) superquadrics that all add: .csv, .txt (between blanks) or .npy
 * (float64), by the path's end. Text has as many digits as tell the numbers to the bit, and no
 * header. */
ABUT_API abut_status abut_write_superquadrics(const char *path,
                                              const abut_superquadric *superquadrics, size_t count);

/* The file that abut_load_body takes a body's mesh from: the one that a NAME.body.json names, found
 * from that file's folder, else `path`. It is not opened. Free it with abut_free. ABUT_ERROR_FORMAT
 * where a body file names none, since its height field is its mesh. */
ABUT_API abut_status abut_find_mesh(const char *path, char **mesh_path);

/* The file of the surface that a NAME.body.json names, found from that file's folder; NULL where it
 * names none, and of mesh files. It is not opened. Free it with abut_free. */
ABUT_API abut_status abut_find_surface(const char *path, char **surface_path);

/* The vertices, faces and edges of a mesh file, as they are written; def points into `memory`. */
typedef struct abut_mesh_file {
  abut_body_def def;
  size_t trailing; /* bytes behind the mesh's end, which were left out */
  void *memory;
} abut_mesh_file;

/* Reads a mesh file of a format that docs/bodies.md lists, in metres where its unit is `scale` [m].
 * Free it with abut_free_mesh. */
ABUT_API abut_status abut_load_mesh(const char *path, double scale, abut_mesh_file *mesh);
ABUT_API void abut_free_mesh(abut_mesh_file *mesh);

/* Writes a mesh as an .obj, to `path`. */
ABUT_API abut_status abut_write_mesh(const char *path, const abut_body_def *mesh);

/* Writes NAME.body.json, and beside it NAME.contact.obj: the body file `from` with another mesh.
 * union_: the temperature that the file then tells its primitives were fitted with [m]; 0: as it
 * was. Other files that `from` names must lie in the folder that is written to. */
ABUT_API abut_status abut_write_remeshed(const char *path, const char *from,
                                         const abut_body_def *mesh, double union_);

/* Reads smoothing.json. Every key must be there but floor, which is 0 without; and no other. */
ABUT_API abut_status abut_load_smoothing(const char *path, abut_smoothing *smoothing);

/* Reads a smoothing.json that may leave keys out. What it leaves out is as abut_fit_smoothing has
 * it for two bodies, or as abut_fit_edge_pairs has it where the file says "edge_contacts": "pairs".
 * A file that has every key but floor needs no fit: floor is then 0. Errors: also those of the fit.
 */
ABUT_API abut_status abut_load_fitted_smoothing(const char *path, abut_body body1, abut_body body2,
                                                abut_smoothing *smoothing);

/* The same as abut_load_smoothing of a file's text, of `count` bytes, in memory. `name` stands for
 * the file in errors. */
ABUT_API abut_status abut_parse_smoothing(const char *name, const char *text, size_t count,
                                          abut_smoothing *smoothing);

/* The JSON text of a smoothing set, all keys. Free it with abut_free. */
ABUT_API abut_status abut_format_smoothing(const abut_smoothing *smoothing, char **text);

/* Poses of a batch, in double. Free them with abut_free_poses. */
typedef struct abut_poses {
  size_t count;
  abut_pose_kind kind;
  double *pose1, *pose2; /* (count, 6) or (count, 7) */
  uint32_t *pair;        /* (count) which of a list of pairs each pose is of; NULL where the file
                            does not tell */
  size_t *lines;         /* (count) where a .csv has each pose, from 1; NULL of an .npz */
} abut_poses;

/* Reads .npz (s1, s2 of shape (N, 6), or pose1, pose2 of shape (N, 7), reals or integers; and pair,
 * integers from 0 to 2^32 - 1 of shape (N,), if it is there), .npy (one array of shape (N, 12) or
 * (N, 14)) or .csv: a header, and 12 columns s1, s2, or 14, x y z qw qx qy qz of body 1 and then of
 * body 2, which it names so; and one more that it calls pair. Columns of .npy are as those of .csv,
 * without one of pairs. Numbers that are not finite are kept: they are the pose's own fault. */
ABUT_API abut_status abut_load_poses(const char *path, abut_poses *poses);
ABUT_API void abut_free_poses(abut_poses *poses);

/* A file of poses that is read by ranges, by one thread at a time. */
typedef struct abut_pose_file abut_pose_file;

typedef struct abut_pose_file_info {
  size_t count; /* of all poses */
  abut_pose_kind kind;
  bool pairs;    /* it tells which of a list of pairs each pose is of */
  bool by_range; /* memory holds what is read alone; else the file is compressed or a text,
                    and memory holds all of it */
} abut_pose_file_info;

/* Opens what abut_load_poses reads. Of .npy, and of .npz whose members are stored (as numpy.savez
 * has them), no poses are read yet, and files may be larger than memory. Those that are compressed,
 * and .csv, are read whole, and refused (ABUT_ERROR_FORMAT) beyond 1e7 poses, with a line that
 * converts them. Close it with abut_close_poses. *file is NULL on failure. */
ABUT_API abut_status abut_open_poses(const char *path, abut_pose_file **file,
                                     abut_pose_file_info *info);

/* Reads poses first .. first + count - 1, which must be there. Free them with abut_free_poses. The
 * checksum of an .npz is of whole members, and is not looked at where they are read by ranges. A
 * file that has become shorter is ABUT_ERROR_READ or ABUT_ERROR_FORMAT. */
ABUT_API abut_status abut_read_poses(abut_pose_file *file, size_t first, size_t count,
                                     abut_poses *poses);

/* Reads which shapes such poses are of, as abut_load_shape_rows does: `one` and `two`, of shape
 * (count,), to be freed with abut_free; both NULL where the file has neither. */
ABUT_API abut_status abut_read_shape_rows(abut_pose_file *file, size_t first, size_t count,
                                          uint32_t **one, uint32_t **two);

/* Closes it; NULL is no file. */
ABUT_API void abut_close_poses(abut_pose_file *file);

/* The bodies of a list of pairs, by their files. Free it with abut_free_pairs. */
typedef struct abut_pair_files {
  size_t count;
  char **bodies; /* (count, 2) paths */
  size_t *lines; /* (count) where the list names them, from 1 */
} abut_pair_files;

/* Reads a .csv of two body files a line, separated by a comma, without a header. Blank lines, and
 * what follows a '#', count for nothing; names hold no control characters. Files are looked for
 * beside the list, unless their names begin with '/'. They are not opened. */
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

/* The header of a .npy of an array of this type and shape, whose data, in C order, stands behind
 * it; its name and its data are not looked at. Free *bytes with abut_free. ABUT_ERROR_ARGUMENT for
 * texts, and for shapes of more bytes than there are. */
ABUT_API abut_status abut_format_npy_header(const abut_array *array, char **bytes, size_t *count);

/* Writes arrays as .npz, readable by numpy.load without pickle. A text is stored as a
 * zero-dimensional unicode string. */
ABUT_API abut_status abut_write_npz(const char *path, const abut_array *arrays, size_t count);

/* Arrays of an .npz in memory. Names and data belong to it. Free with abut_free_npz. */
typedef struct abut_npz {
  abut_array *arrays;
  size_t count;
} abut_npz;

/* Reads the arrays of an .npz that have one of the types above, little endian, or are of int8,
 * int16 or uint16, which become int32. Those in Fortran order are turned into C order. Errors name
 * the member. */
ABUT_API abut_status abut_read_npz(const char *path, abut_npz *npz);

/* Reads the arrays of an .npz that have one of these names, of which any may be missing, in the
 * order of the file. Others are not looked at, whatever they are. */
ABUT_API abut_status abut_read_npz_arrays(const char *path, const char *const *names,
                                          size_t name_count, abut_npz *npz);
ABUT_API void abut_free_npz(abut_npz *npz);

/* A file of arrays that are read by ranges, by one thread at a time. */
typedef struct abut_array_file abut_array_file;

/* Opens an .npz, or a .npy, whose one array has the name "". Headers alone are read: files may be
 * larger than memory. Close it with abut_close_arrays. *file is NULL on failure. */
ABUT_API abut_status abut_open_arrays(const char *path, abut_array_file **file);

/* Gives the arrays of a file in its order, their names, types and shapes as abut_read_npz has them,
 * and no data; of a text no length. They belong to the file. */
ABUT_API abut_status abut_list_arrays(const abut_array_file *file, const abut_array **arrays,
                                      size_t *count);

/* Reads of array `index` of the list elements first[k] .. first[k] + count[k] - 1 of each of its
 * dimensions, which must be there, in C order. Free *data with abut_free. Nothing else is read, and
 * checksums are not looked at; a compressed member is unpacked whole when it is first asked for,
 * and stays in memory. ABUT_ERROR_FORMAT of a text, and of a file that has become shorter. */
ABUT_API abut_status abut_read_array(abut_array_file *file, size_t index, const size_t *first,
                                     const size_t *count, void **data);

/* Closes it; NULL is no file. */
ABUT_API void abut_close_arrays(abut_array_file *file);

/* Writes an RGB picture, 8 bits a channel, rows from the top. */
ABUT_API abut_status abut_write_png(const char *path, uint32_t width, uint32_t height,
                                    const uint8_t *rgb);

/* Gives such a picture's file in memory. Free *bytes with abut_free. */
ABUT_API abut_status abut_format_png(uint32_t width, uint32_t height, const uint8_t *rgb,
                                     uint8_t **bytes, size_t *count);

/* Writes bytes as they are. */
ABUT_API abut_status abut_write_file(const char *path, const void *bytes, size_t count);

/* Removes what abut's writers in this process have begun and not finished: for the handler of a
 * signal that ends the process, of which each may call it at any time. Where the file system can
 * write files without a name, as most of Linux do, there is nothing to remove, whatever ends it. */
ABUT_API void abut_remove_unfinished(void);

/* Frees memory that a function of the library gave, which says so; NULL is no memory. */
ABUT_API void abut_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
