/* What the subcommands share. They use the public API and nothing else of the library. */
#ifndef ABUT_CLI_CLI_H
#define ABUT_CLI_CLI_H

#include <abut/abut.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Functions that can fail return one of these and have said why on stderr. */
typedef enum exit_code {
  EXIT_GOOD = 0,
  EXIT_RUN = 1,  /* device, memory, writing; derivatives that part */
  EXIT_INPUT = 2 /* usage, or what was given */
} exit_code;

#define CLI_TRY(call)                   \
  do {                                  \
    const exit_code try_code_ = (call); \
    if (try_code_ != EXIT_GOOD) {       \
      return try_code_;                 \
    }                                   \
  } while (0)

/* The same in a function with one exit, labelled `done`, and a variable `code`. */
#define CLI_TRY_DONE(call)   \
  do {                       \
    code = (call);           \
    if (code != EXIT_GOOD) { \
      goto done;             \
    }                        \
  } while (0)

/* Alphabetical, as src/cli/help/options.txt. */
typedef enum option_id {
  OPTION_ALL,
  OPTION_ALSO,
  OPTION_APART,
  OPTION_AS,
  OPTION_AZIMUTH,
  OPTION_BATCH,
  OPTION_BLOCK,
  OPTION_BY,
  OPTION_CELLS,
  OPTION_CENTER1,
  OPTION_CENTER2,
  OPTION_CHUNK,
  OPTION_COMPACT,
  OPTION_CONTACTS,
  OPTION_CONTROLS,
  OPTION_COORDINATE,
  OPTION_COTANGENTS,
  OPTION_CUTOFF,
  OPTION_DEVICE,
  OPTION_DISTANCES,
  OPTION_EDGES,
  OPTION_EACH_POSE,
  OPTION_ELEVATION,
  OPTION_EPSILON,
  OPTION_ERROR,
  OPTION_EXPORT,
  OPTION_FAMILY,
  OPTION_FOLLOW,
  OPTION_FORCES,
  OPTION_FRAMES,
  OPTION_FROM,
  OPTION_FULL_HESSIAN,
  OPTION_GRADIENT,
  OPTION_HEIGHT,
  OPTION_HELP,
  OPTION_HESSIAN,
  OPTION_IMPORT,
  OPTION_INDEX,
  OPTION_ITERATIONS,
  OPTION_JACOBIAN,
  OPTION_JSON,
  OPTION_KEEP,
  OPTION_LANES,
  OPTION_LEVEL,
  OPTION_LINK_POSES,
  OPTION_LIST_PAIRS,
  OPTION_LISTEN,
  OPTION_MAX_PRIMITIVES,
  OPTION_MEAN_DISTANCE,
  OPTION_MEMORY,
  OPTION_MODELS,
  OPTION_MODULE,
  OPTION_MOTION,
  OPTION_NO_CACHE,
  OPTION_NO_CONTACTS,
  OPTION_OPEN,
  OPTION_OUTPUT,
  OPTION_PAIRS,
  OPTION_PARAMETERS,
  OPTION_PLAIN,
  OPTION_PORT,
  OPTION_POSES,
  OPTION_PRECISION,
  OPTION_PRIMITIVES,
  OPTION_QUIET,
  OPTION_RATE,
  OPTION_RECORD,
  OPTION_REDUCE,
  OPTION_RESUME,
  OPTION_SAMPLES,
  OPTION_SCALE,
  OPTION_SECONDS,
  OPTION_SEED,
  OPTION_SEPARATION,
  OPTION_SERIES,
  OPTION_SHAPES,
  OPTION_SHARD,
  OPTION_SHOW_SMOOTHING,
  OPTION_SMOOTHING,
  OPTION_SOFT,
  OPTION_START,
  OPTION_STATES,
  OPTION_STEP,
  OPTION_STEPS,
  OPTION_TANGENTS,
  OPTION_TEMPERATURE,
  OPTION_THRESHOLD,
  OPTION_TIMELINE,
  OPTION_TIMEOUT,
  OPTION_TO,
  OPTION_TOLERANCE,
  OPTION_UNION,
  OPTION_VARIANT,
  OPTION_VERBOSE,
  OPTION_VERSION,
  OPTION_VERTICES,
  OPTION_VIEW,
  OPTION_WHAT,
  OPTION_WIDTH,
  OPTION_WORLD,
  OPTION_WORLDS,
  OPTION_YES,
  OPTION_ZOOM,
  OPTION_COUNT
} option_id;

/* As bits, so that an option names all commands that take it. */
typedef enum command_bit {
  COMMAND_DEVICES = 1,
  COMMAND_CONTACTS = 2,
  COMMAND_RENDER = 4,
  COMMAND_BENCH = 8,
  COMMAND_GRADIENT = 16,
  COMMAND_JVP = 32,
  COMMAND_JACOBIAN = 64,
  COMMAND_GRADCHECK = 128,
  COMMAND_TUNE = 256,
  COMMAND_FIELD = 512,
  COMMAND_IMPORT = 1024,
  COMMAND_SIMULATE = 2048,
  COMMAND_FILM = 4096,
  COMMAND_TRANSITION = 8192,
  COMMAND_ROLLOUT_GRADIENT = 16384,
  COMMAND_COMPARE = 32768,
  COMMAND_CLOSEST = 65536,
  COMMAND_CCD = 131072,
  COMMAND_REMESH = 524288,
  COMMAND_INSPECT = 1048576,
  COMMAND_SUGGEST = 2097152,
  COMMAND_DECOMPOSE = 4194304,
  COMMAND_MERGE = 8388608,
  COMMAND_VIEW = 16777216,
  COMMAND_ALL = INT_MAX /* also of those to come */
} command_bit;

/* Commands whose results have no smoothing beside: each pair of a scene has its own, and shapes
 * have none. */
#define UNSMOOTHED_COMMANDS \
  (COMMAND_SIMULATE | COMMAND_TRANSITION | COMMAND_ROLLOUT_GRADIENT | COMMAND_CLOSEST | COMMAND_CCD)

struct options;

/* Its options and its help are in src/cli/help. */
typedef struct command {
  const char *name;
  command_bit bit;
  exit_code (*run)(const struct options *o);
} command;

/* A program of subcommands: `abut`, or `abut-dev`. */
typedef struct program {
  const char *name;
  const command *commands;
  size_t command_count;
  const char *const *of_developers;        /* commands that abut-dev has, up to NULL; or NULL */
  void (*print_readers)(const command *c); /* what reads files of other programs, behind a
                                              command's help, or, without one, behind the version;
                                              or NULL */
  void (*remove_unfinished)(void); /* what is half written and is not the library's, in a signal;
                                      or NULL */
} program;

/* The command line: words of the subcommand, and the text of every option given. */
typedef struct options {
  const program *program;
  const command *command;                 /* NULL where none was named */
  const char *value[OPTION_COUNT];        /* "" for a flag, NULL where not given */
  const char *devices[ABUT_DEVICES_MOST]; /* every --device */
  int device_count;
  const char **also; /* every --also; free it */
  int also_count;
  const char **operands; /* behind the subcommand; free it */
  int operand_count;
} options;

exit_code cmd_devices(const options *o);
exit_code cmd_contacts(const options *o);
exit_code cmd_gradient(const options *o);
exit_code cmd_merge(const options *o);
exit_code cmd_jvp(const options *o);
exit_code cmd_jacobian(const options *o);
exit_code cmd_render(const options *o);
exit_code cmd_field(const options *o);
exit_code cmd_decompose(const options *o);
exit_code cmd_import(const options *o);

/* What reads models: a version of MuJoCo, or a text that says that there is none. */
const char *reader_of_models(void);

/* The same of meshes of .glb, .gltf and .dae: a version of Assimp, or that there is none. */
const char *reader_of_meshes(void);
exit_code cmd_simulate(const options *o);
exit_code cmd_film(const options *o);
exit_code cmd_view(const options *o);
exit_code cmd_transition(const options *o);
exit_code cmd_rollout_gradient(const options *o);
exit_code cmd_compare(const options *o);
exit_code cmd_closest(const options *o);
exit_code cmd_ccd(const options *o);
exit_code cmd_remesh(const options *o);
exit_code cmd_inspect(const options *o);
exit_code cmd_suggest(const options *o);

/* ---- program.c ---- */

/* What main does; returns the exit status. */
int run_program(const program *p, int argc, char **argv);

/* ---- options.c ---- */

exit_code read_options(const program *p, int argc, char **argv, options *o);
/* "--name" */
const char *option_name(option_id id);
exit_code need_operands(const options *o, int count, const char *names);
exit_code need_option(const options *o, option_id id);

/* ---- option_values.c ---- */

/* --temperature of a soft distance, where it is given. */
exit_code option_temperature(const options *o, abut_batch *batch);
/* A finite decimal number and nothing else, no blanks either. */
bool read_real(const char *text, double *out);
/* Values, strictly read: no blanks, nothing behind. Left alone where the option is absent. */
exit_code option_real(const options *o, option_id id, double least, double most, double *out);
exit_code option_whole(const options *o, option_id id, size_t least, size_t most, size_t *out);
/* Numbers in pairs, all separated by commas; `room` pairs at most. */
exit_code option_pairs(const options *o, option_id id, size_t room, double (*out)[2],
                       size_t *count);
/* So many numbers, separated by commas. */
exit_code option_reals(const options *o, option_id id, size_t count, double *out);
exit_code option_precision(const options *o, abut_precision *out);

/* Cuts a comma-separated list into numbers or into places in `words`. `out`: room for LIST_ROOM. */
#define LIST_ROOM 64
exit_code option_whole_list(const options *o, option_id id, size_t *out, size_t *count);
exit_code option_word_list(const options *o, option_id id, const char *const *words,
                           size_t word_count, size_t *out, size_t *count);

/* One word of `words`; its place in them. */
exit_code option_word(const options *o, option_id id, const char *const *words, size_t word_count,
                      size_t *out);

/* ---- report.c ---- */

/* What is wrong with the command line, and where help is. `c` may be NULL. */
__attribute__((format(printf, 2, 3))) exit_code usage_error(const command *c, const char *format,
                                                            ...);
/* "abut: text", by the program's name; returns `code`. */
__attribute__((format(printf, 2, 3))) exit_code report(exit_code code, const char *format, ...);
/* Reports that element `index` of `count` elements of a file does not exist. */
exit_code report_beyond(const char *path, const char *element, size_t index, size_t count);
/* The same of abut_last_error(), if there is a failure. */
exit_code report_status(abut_status status);
exit_code status_exit_code(abut_status status);
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

/* Returns what a word ends with that so many are of: nothing of one, else "s". */
const char *plural(size_t count);
/* What messages begin with: "abut" until then. */
void report_as_program(const char *name);
const char *program_name(void);
/* Of one of several ranks: errors are kept from here on, and warnings are the first rank's. */
void report_as_rank(int rank);
/* Says errors that were kept. */
void report_kept(void);
/* Whether warnings are of this rank alone, which says them then, whichever it is. */
void warn_of_rank(bool own);

/* A line that says what takes long. On a terminal the next one rewrites it; elsewhere there is a
 * whole line every ten seconds, of the first rank. */
typedef struct progress {
  bool enabled; /* stderr is a terminal, and not --quiet */
  double lines; /* how often there is a whole line, elsewhere [s]; 0: never */
  double start; /* [s] */
  double last;  /* when the line was written */
  const char *what;
  char step[128];         /* of what, last said */
  size_t contacts;        /* a pose; 0 where that does not matter */
  double bytes;           /* that will be written; 0: few */
  double measured;        /* since when steps are measured; those before it prepared, too */
  size_t before;          /* how many there were */
  size_t of_all, earlier; /* of calls of blocks: how many steps all have, and those before this
                             one; 0: one call */
  bool foreseen;
} progress;

progress progress_begin(const options *o, const char *what);
/* Says what is being done, of steps that cannot tell how far they are; silent in the first second
 * after progress_begin, then shown by an alarm. */
__attribute__((format(printf, 2, 3))) void progress_say(progress *p, const char *format, ...);
/* Warns once where steps that are done at a speed that is known by now take more than a minute. */
void progress_foresee(progress *p, size_t done, size_t total);
/* abut_progress; user is a progress. Silent in the first second but for the above. */
bool progress_step(size_t done, size_t total, void *user);
/* The same of shares of `what`, for abut_field_options and abut_scene_options. */
bool progress_share(void *user, const char *what, double share);
/* Of abut_context_def: shows that kernels are built, after a second. user is the options. */
void progress_building(void *user, const char *what, bool done);
void progress_end(progress *p);

/* Monotonic time [s]. */
double now(void);
const char *precision_name(abut_precision precision); /* "f32" */
const char *device_type_name(abut_device_type type);

/* ---- session.c ---- */

/* A device, two bodies and their smoothing. */
typedef struct session {
  abut_context context;
  bool open;
  bool named;              /* by --device: else the library passes over what fails */
  abut_device_info device; /* the first one */
  char devices[512];       /* all that were chosen, by name */
  abut_precision precision;
  abut_body bodies[2];
  abut_smoothing smoothing;
  abut_pair pair;
  abut_pair derivatives;         /* of --soft; else ABUT_SAME_PAIR */
  abut_smoothing soft_smoothing; /* where --soft was given */
  abut_layout layout;            /* of --pairs, the widest */
  const char *smoothing_text;    /* what is stored as such; NULL: `smoothing` */
} session;

/* What is missing where the host path is all there is. */
#define OPENCL_DRIVER "an OpenCL driver such as PoCL (Debian's package pocl-opencl-icd)"
/* The devices of every --device, or the default one. choices: room for ABUT_DEVICES_MOST. */
exit_code find_devices(const options *o, abut_device_choice *choices, size_t *count);
/* Opens every --device, or what the library prefers, at a precision with --lanes and --chunk. Close
 * it after a failure, too. */
exit_code session_open(session *s, const options *o, abut_precision precision);
/* The next two, and the pair. */
exit_code session_load(session *s, const options *o);
/* The bodies of the operands. */
exit_code session_bodies(session *s, const options *o);
/* --smoothing, or values that follow the bodies; with `tell`, says so unless --quiet, and prints
 * them with --show-smoothing. */
exit_code session_smoothing(session *s, const options *o, bool tell);
/* Says that coefficients were fitted, and where to see them, or shows them; `how` ends the line. */
void tell_fitted(const options *o, const char *how, const char *text);
/* --edges as a number, 0 for auto and where it is absent. */
exit_code option_edges(const options *o, size_t *edges);
/* The pair of --soft, if it was given. */
exit_code session_soft(session *s, const options *o);
/* The devices that did what was computed, by name: of batches those that had a share, else the
 * first one that works. */
typedef struct workers_text {
  char text[512];
} workers_text;

workers_text session_workers(const session *s);
/* Says, too, which devices failed on the way, and why. */
void session_close(session *s);

/* The poses of a batch and their status, which it points to. */
typedef struct pose_arrays {
  void *pose1, *pose2;
  uint8_t *status;
} pose_arrays;

exit_code pose_arrays_open(pose_arrays *a, abut_batch *batch, const session *s,
                           const abut_poses *poses);
void pose_arrays_close(pose_arrays *a);
/* Says that poses' pairs are left aside. */
void warn_pairs(void);
/* Rows of which something is said: those whose status has these bits of the mask. Lists end without
 * `what`. */
typedef struct status_note {
  uint32_t mask, bits;
  const char *what;   /* the rows, in the plural */
  const char *effect; /* what became of them; NULL: as the caller says */
} status_note;

#define NOTES_MOST 12

/* How many rows a list's notes are of. */
typedef struct noted {
  size_t rows, counts[NOTES_MOST], first[NOTES_MOST];
} noted;

/* Poses that were refused, by why. */
extern const status_note pose_notes[];

/* Adds the statuses of further rows, uint8 or uint32, of which the first has this index. */
void noted_add(noted *n, const status_note *of, const abut_array *status, size_t index);
/* One line a note that is of any. */
void noted_warn(const noted *n, const status_note *of, const char *effect);
/* Both of one batch, and of one batch of poses. */
void warn_noted(const status_note *of, const uint8_t *status, size_t count, const char *effect);
void warn_rejected(const abut_batch *batch, const char *effect);

/* Poses of --poses as the context wants them. Numbers beyond float's range saturate, so that a
 * finite pose stays one. Free with free(). */
exit_code poses_to_reals(const double *poses, size_t count, abut_precision precision, void **out);
size_t pose_width(abut_pose_kind kind);
size_t real_bytes(abut_precision precision);
double real_at(const void *reals, abut_precision precision, size_t i);
/* Zeros: `width` reals for each of `count` of `what`, such as "poses", for what is said where there
 * is no memory. Free with free(). */
exit_code reals_of(const char *what, size_t count, size_t width, abut_precision precision,
                   void **out);

/* Says that a file of so many poses holds none. */
void warn_empty(const char *path, size_t poses);
/* Of p, d, n and activity of all contacts. */
double dense_bytes(const session *s, size_t poses);
/* Says before it is computed that a call has very many contacts a pose, or gigabytes to write. */
void warn_large(const session *s, size_t poses, double bytes);

/* a * b * c in bytes, false where that is beyond SIZE_MAX. */
bool multiply(size_t a, size_t b, size_t c, size_t *out);

/* ---- paths.c ---- */

/* Missing files, and folders that cannot take the output, are found before anything is built. */
exit_code check_readable(const char *path);
exit_code check_output(const char *path);
/* The same of -o, which must also end as what the command writes does, unless it is a device. */
exit_code check_own_output(const options *o);
/* Whether a path is more than this ending, whatever its case. */
bool ends_with(const char *path, const char *ending);
/* What a path names, without its folder. */
const char *base_name(const char *path);
/* -o NAME.body.json: NAME and another ending, which is written beside it, must be writable, and
 * nothing that is read. */
exit_code check_beside(const options *o, const char *ending);
/* The same of --series. */
exit_code check_series(const options *o);
/* Whether a command sums up on stdout: not with --quiet, nor where its output goes there. */
bool sums_up(const options *o);
/* That nothing that a command writes goes to stdout. */
bool keeps_stdout(const options *o);
/* The inputs of a command: its operands, and the files that options name. */
exit_code check_inputs(const options *o);
/* Refuses an output that is one of those inputs. */
exit_code check_not_input(const options *o, const char *path);
/* The same for an input that no option names. */
exit_code check_not_body(const char *output, const char *body);

/* Finds a file of abut's own: beside the command, as in a build folder; in `folder`/abut, seen from
 * above the command's folder; in `whole`/abut, as it was configured. */
bool find_own_file(const char *name, const char *folder, const char *whole, char *path,
                   size_t room);

/* ---- timeline.c ---- */

/* Around the calls that --timeline asks to record: what each device did with each chunk goes to
 * NAME.json, a trace, and NAME.png. Nothing without the option. */
exit_code timeline_check(const options *o);
/* A file of --timeline, by its ending; to be freed. NULL without memory. */
char *timeline_file(const char *name, const char *ending);
exit_code timeline_start(const session *s, const options *o);
exit_code timeline_write(const session *s, const options *o);

#endif
