#include "core/option_table.h"
#include "core/reductions.h"

/* Commands that write arrays; that take --chunk and --lanes; that take two bodies. */
#define ARRAY_COMMANDS (COMMAND_CONTACTS | COMMAND_GRADIENT | COMMAND_JVP | COMMAND_JACOBIAN)
#define KERNEL_COMMANDS (ARRAY_COMMANDS | COMMAND_BENCH | COMMAND_GRADCHECK)
#define PAIR_COMMANDS (KERNEL_COMMANDS | COMMAND_RENDER | COMMAND_TUNE | COMMAND_VIEW)
/* Commands that make fields of bare meshes. */
#define MESH_COMMANDS (PAIR_COMMANDS | COMMAND_FIELD | COMMAND_INSPECT | COMMAND_SUGGEST)
/* Commands that look at bodies without poses. */
#define BODY_COMMANDS (COMMAND_REMESH | COMMAND_INSPECT | COMMAND_SUGGEST)
/* Commands that step many worlds; that begin where --states says; that take a scene of links and
 * compute on devices. */
#define BATCH_COMMANDS (COMMAND_SIMULATE | COMMAND_TRANSITION | COMMAND_ROLLOUT)
#define WORLD_COMMANDS (BATCH_COMMANDS | COMMAND_COMPARE)
#define SCENE_COMMANDS (WORLD_COMMANDS | COMMAND_FILM)
/* Of these, commands that look at contacts. */
#define CONTACT_COMMANDS (COMMAND_SIMULATE | COMMAND_FILM)
#define SOFT_COMMANDS (COMMAND_GRADIENT | COMMAND_JVP | COMMAND_JACOBIAN)
/* Commands that ask queries of many small rows. */
#define QUERY_COMMANDS (COMMAND_CLOSEST | COMMAND_CCD)

const option_entry option_table[OPTION_COUNT] = {
  [OPTION_ALL] = {"all", NULL, 0, COMMAND_GRADCHECK,
                  "check all poses, or states, not the first 16 alone", NULL, 0},
  [OPTION_ALSO] = {"also", "BODY[:POSE]", 0, COMMAND_RENDER,
                   "draw a body beside the two, without contacts: a file, and behind its last\n"
                   "                             colon x,y,z or x,y,z,qw,qx,qy,qz (at the origin); "
                   "repeatable",
                   NULL, 0},
  [OPTION_APART] = {"apart", "X", 0, COMMAND_BENCH,
                    "bodies X of the smaller's diagonal apart, or in each other where\n"
                    "                             negative (up to 0.05 either way)",
                    NULL, 0},
  [OPTION_AS] = {"as", "WHAT", 0, COMMAND_CLOSEST,
                 "what of the bodies is taken as shapes: hull, of the mesh, superquadrics or\n"
                 "                             polyhedra (hull)",
                 NULL, 0},
  [OPTION_AZIMUTH] = {"azimuth", "DEG", 0, COMMAND_RENDER | COMMAND_INSPECT,
                      "camera's angle around the vertical axis [degrees] (34.4)", NULL, 0},
  [OPTION_BATCH] = {"batch", "N,N,...", 0, COMMAND_BENCH, "batch sizes (1,64,1024)", NULL, 0},
  [OPTION_BLOCK] =
    {"block", "N", 0, SHARD_COMMANDS,
     "of a folder: poses, or worlds, that are computed, and written, at once (what 64 MB\n"
     "                             hold)",
     NULL, 0},
  [OPTION_BY] = {"by", "poses|shape", 0, COMMAND_GRADIENT | COMMAND_JVP,
                 "what it is by: both poses, or the numbers that describe both bodies (poses)",
                 NULL, 0},
  [OPTION_CELLS] = {"cells", "N", 0, MESH_COMMANDS,
                    "of a bare mesh: cells of its field along the longest side, 8 to 128\n"
                    "                             (32 or 64, as its shape needs)",
                    NULL, 0},
  [OPTION_CENTER1] = {"center1", "X,Y,Z", 0, COMMAND_CCD,
                      "of --motion arc: the point of A, in its own frame, that goes straight [m]\n"
                      "                             (0,0,0)",
                      NULL, 0},
  [OPTION_CENTER2] = {"center2", "X,Y,Z", 0, COMMAND_CCD, "the same of B (0,0,0)", NULL, 0},
  [OPTION_CHUNK] = {"chunk", "N", 0, KERNEL_COMMANDS | QUERY_COMMANDS,
                    "most poses in one chunk (what fits the device's scratch memory)", NULL, 0},
  [OPTION_COMPACT] = {"compact", "T", 0, COMMAND_CONTACTS,
                      "store contacts of activity >= T alone, as a list", NULL, 0},
  [OPTION_CONTACTS] =
    {"contacts", NULL, 0, CONTACT_COMMANDS,
     "also the contacts: of every kept state in the file, or drawn; simulate: not where\n"
     "                             controls move a link",
     NULL, 0},
  [OPTION_CONTROLS] = {"controls", "U.npz", 0, WORLD_COMMANDS | COMMAND_GRADCHECK | COMMAND_VIEW,
                       "u of shape (N, nu), held, or (T, N, nu), one row a step (0)", NULL, 0},
  [OPTION_COORDINATE] = {"coordinate", "I", 0, COMMAND_COMPARE,
                         "which of the nv coordinates of the end has its gradient shown, from 0\n"
                         "                             (the first of the last joint)",
                         NULL, 0},
  [OPTION_COTANGENTS] =
    {"cotangents", "C.npz", 0, COMMAND_GRADIENT | COMMAND_ROLLOUT,
     "gradient of the sum of p_bar p + d_bar d + ...; of a rollout: state\n"
     "                             (N, 2 nv) at its end, or q, v (N, nv); record "
     "(R, N, 2 nv)",
     NULL, 0},
  [OPTION_CUTOFF] = {"cutoff", "M", 0, COMMAND_CLOSEST,
                     "end a pose as soon as its distance is certainly above M [m] (never)", NULL,
                     0},
  [OPTION_DEVICE] = {"device", "D", 0,
                     PAIR_COMMANDS | SCENE_COMMANDS | QUERY_COMMANDS | BODY_COMMANDS |
                       COMMAND_DECOMPOSE,
                     "index, cpu, gpu, host, all, or part of a name (a GPU, else PoCL); /U for\n"
                     "                             parts of U compute units, /U.I for one of them; "
                     "repeatable",
                     NULL, 0},
  [OPTION_EACH_POSE] =
    {"each-pose", NULL, 0, COMMAND_GRADIENT | COMMAND_JVP,
     "of --by shape: each pose's instead of the sum over all, or of one direction for\n"
     "                             all",
     NULL, 0},
  [OPTION_DISTANCES] =
    {"distances", NULL, 0, COMMAND_SIMULATE,
     "also the distance of each pair in every kept state; not where controls move a link", NULL, 0},
  [OPTION_EDGES] =
    {"edges", "K|auto", 0, COMMAND_CONTACTS,
     "edges that are kept of each body, 1 to 65536; auto: as many as `suggest` finds\n"
     "                             (the smoothing's)",
     NULL, 0},
  [OPTION_ELEVATION] = {"elevation", "DEG", 0, COMMAND_RENDER | COMMAND_INSPECT,
                        "camera's angle above the horizon [degrees] (20.1)", NULL, 0},
  [OPTION_EPSILON] =
    {"epsilon", "E", 0, COMMAND_CLOSEST,
     "of --jacobian gaussian (0.3), of zeroth (0.02) and finite (1e-6) the steps: rad,\n"
     "                             and shares of both shapes' size",
     NULL, 0},
  [OPTION_ERROR] = {"error", "E", 0, COMMAND_DECOMPOSE,
                    "as few primitives as keep 1 - IoU at most at E, 0.001 to 0.9 (0.05, unless\n"
                    "                             --primitives is given)",
                    NULL, 0},
  [OPTION_EXPORT] = {"export", "TABLE", 0, COMMAND_DECOMPOSE,
                     "also write the superquadrics as a table: .csv, .txt or .npy, a row each of\n"
                     "                             e1 e2, half axes, angles about z y x, centre",
                     NULL, 0},
  [OPTION_FAMILY] =
    {"family", "sq|auto", 0, COMMAND_DECOMPOSE,
     "superquadrics that all add (sq), or as many of which some are taken away, as with\n"
     "                             bores, or are polyhedra, where that is clearly nearer",
     NULL, 0},
  [OPTION_FOLLOW] =
    {"follow", NULL, 0, COMMAND_FILM | COMMAND_GRADIENT | COMMAND_JVP,
     "hold in view what each picture shows, not the whole way; of --by shape: meshes\n"
     "                             move along with their fields",
     NULL, 0},
  [OPTION_FORCES] = {"forces", NULL, 0, COMMAND_SIMULATE,
                     "also what contacts push links with in every kept state", NULL, 0},
  [OPTION_FRAMES] = {"frames", "N", 0, COMMAND_FILM, "pictures on a sheet (12)", NULL, 0},
  [OPTION_FROM] = {"from", "P0", 0, COMMAND_CCD,
                   "poses of both bodies at time 0, as --poses of contacts", NULL, 0},
  [OPTION_FULL_HESSIAN] = {"full-hessian", "1|2|both", 0, COMMAND_GRADIENT,
                           "also the Hessian by the numbers of body 1's or 2's poses, or both",
                           NULL, 0},
  [OPTION_GRADIENT] = {"gradient", NULL, 0, COMMAND_CCD,
                       "also dtoi_a and dtoi_b: how the time changes with twists of both poses of\n"
                       "                             each body",
                       NULL, 0},
  [OPTION_HEIGHT] = {"height", "PIXELS", 0, COMMAND_RENDER | COMMAND_FILM,
                     "picture's height (render 700, film 480, on a sheet 240)", NULL, 0},
  [OPTION_HELP] = {"help", NULL, 'h', COMMAND_ALL, "print this help", NULL, 0},
  [OPTION_HESSIAN] = {"hessian", "T.npz", 0, COMMAND_GRADIENT,
                      "also the Hessian times these tangents of the poses", NULL, 0},
  [OPTION_IMPORT] = {"import", "TABLE", 0, COMMAND_DECOMPOSE,
                     "fit nothing, and take the superquadrics of such a table, or of a .body.json",
                     NULL, 0},
  [OPTION_INDEX] = {"index", "I", 0, COMMAND_RENDER | COMMAND_VIEW,
                    "which pose to draw, or to show first, from 0 (0)", NULL, 0},
  [OPTION_ITERATIONS] = {"iterations", "N", 0, COMMAND_CCD,
                         "most iterations of each stage of a query, up to 1000000 (32)", NULL, 0},
  [OPTION_JACOBIAN] =
    {"jacobian", "METHOD", 0, COMMAND_CLOSEST,
     "also Jacobians by twists of both bodies: exact, gumbel, gaussian, zeroth, or\n"
     "                             finite in f64",
     NULL, 0},
  [OPTION_JSON] = {"json", NULL, 0,
                   COMMAND_DEVICES | COMMAND_BENCH | COMMAND_COMPARE | BODY_COMMANDS |
                     COMMAND_DECOMPOSE,
                   "print JSON", NULL, 0},
  [OPTION_KEEP] =
    {"keep", "S", 0, COMMAND_CCD,
     "share of the distance at time 0, above the separation, that is to be kept; 0.1\n"
     "                             is a line search's (0)",
     NULL, 0},
  [OPTION_LANES] = {"lanes", "N", 0, KERNEL_COMMANDS | QUERY_COMMANDS,
                    "lane width of the kernels: 1, 4, 8 or 16 (measured for the device)", NULL, 0},
  [OPTION_LEVEL] = {"level", "L", 0, COMMAND_CLOSEST,
                    "of --jacobian gumbel: how often neighbouring vertices are added (1)", NULL, 0},
  [OPTION_LINK_POSES] =
    {"link-poses", NULL, 0, COMMAND_SIMULATE,
     "also the pose of each link in every kept state; not where controls move a link", NULL, 0},
  [OPTION_LIST_PAIRS] = {"list-pairs", NULL, 0, COMMAND_IMPORT,
                         "list all pairs, rather than have the scene find them by itself", NULL, 0},
  [OPTION_LISTEN] =
    {"listen", "ADDRESS", 0, COMMAND_VIEW,
     "without -o: the IPv4 address to serve the page on, 0.0.0.0 for all of this\n"
     "                             machine's (127.0.0.1, which others cannot reach)",
     NULL, 0},
  [OPTION_MAX_PRIMITIVES] = {"max-primitives", "N", 0, COMMAND_DECOMPOSE,
                             "of --error: most primitives that are tried, 1 to 64 (64; 32 by the\n"
                             "                             default error)",
                             NULL, 0},
  [OPTION_MEAN_DISTANCE] = {"mean-distance", NULL, 0, COMMAND_GRADIENT,
                            "the same as --reduce mean-distance", NULL, 0},
  [OPTION_MEMORY] = {"memory", "MIB", 0, COMMAND_FIELD, "most memory of the field [MiB] (256)",
                     NULL, 0},
  [OPTION_NO_CACHE] = {"no-cache", NULL, 0, COMMAND_FIELD,
                       "make the field anew, and keep nothing of it", NULL, 0},
  [OPTION_NO_CONTACTS] = {"no-contacts", NULL, 0, COMMAND_RENDER, "draw the bodies alone", NULL, 0},
  [OPTION_OPEN] = {"open", NULL, 0, COMMAND_VIEW,
                   "without -o: open the page's address in the browser", NULL, 0},
  [OPTION_OUTPUT] = {"output", "FILE", 'o',
                     ARRAY_COMMANDS | COMMAND_RENDER | COMMAND_VIEW | COMMAND_TUNE | COMMAND_FIELD |
                       COMMAND_IMPORT | SCENE_COMMANDS | QUERY_COMMANDS | BODY_COMMANDS |
                       COMMAND_DECOMPOSE,
                     "file to write: ", NULL, 0},
  [OPTION_PAIRS] = {"pairs", "FILE.csv", 0, COMMAND_CONTACTS,
                    "many pairs, two body files a line; poses tell theirs by `pair`", NULL, 0},
  [OPTION_PARAMETERS] = {"parameters", NULL, 0, COMMAND_TRANSITION,
                         "also the matrices by mass_scale, friction, stiffness and gravity", NULL,
                         0},
  [OPTION_PORT] = {"port", "N", 0, COMMAND_VIEW,
                   "without -o: the port to serve the page on, or the next one that is free (8420)",
                   NULL, 0},
  [OPTION_POSES] = {"poses", "P", 0, PAIR_COMMANDS | COMMAND_CLOSEST,
                    "poses: .npz with s1, s2 or pose1, pose2; .npy (N, 12) or (N, 14); or .csv,\n"
                    "                             a header and 12 columns (twists) or 14 (x y z qw "
                    "qx qy qz, twice)",
                    NULL, 0},
  [OPTION_PRECISION] = {"precision", "f32|f64", 0,
                        ARRAY_COMMANDS | COMMAND_BENCH | COMMAND_TUNE | WORLD_COMMANDS |
                          COMMAND_DECOMPOSE | QUERY_COMMANDS,
                        "floating-point numbers to compute with (f32)", NULL, 0},
  [OPTION_PRIMITIVES] = {"primitives", "N", 0, COMMAND_DECOMPOSE, "take N primitives, 1 to 64",
                         NULL, 0},
  [OPTION_QUIET] = {"quiet", NULL, 'q', COMMAND_ALL,
                    "print errors, warnings and results that were asked for alone", NULL, 0},
  [OPTION_RATE] = {"rate", "R", 0, COMMAND_FILM, "pictures of a second of the worlds' time (30)",
                   NULL, 0},
  [OPTION_RECORD] = {"record", "K", 0, COMMAND_SIMULATE | COMMAND_ROLLOUT | COMMAND_COMPARE,
                     "keep every K-th state, the first and the last (1); of gradients: every\n"
                     "                             K-th has a cotangent",
                     NULL, 0},
  [OPTION_REDUCE] = {"reduce", "NAME", 0, COMMAND_GRADIENT, "gradient of", reduction_names,
                     REDUCTIONS_SLOPED},
  [OPTION_RESUME] = {"resume", NULL, 0, SHARD_COMMANDS,
                     "of a folder: compute what an earlier run has not finished, alone", NULL, 0},
  [OPTION_SAMPLES] =
    {"samples", "M", 0, COMMAND_CLOSEST | COMMAND_SUGGEST,
     "of --jacobian gaussian and zeroth: random samples of a pose (20); of suggest:\n"
     "                             random poses, 1 to 65536 (256)",
     NULL, 0},
  [OPTION_SCALE] = {"scale", "S", 0,
                    MESH_COMMANDS | COMMAND_CLOSEST | COMMAND_CCD | COMMAND_DECOMPOSE,
                    "of a bare mesh, and of --import: the file's unit of length [m], 0.001 for\n"
                    "                             millimetres (1)",
                    NULL, 0},
  [OPTION_MODELS] = {"models", "M,M,...", 0, COMMAND_COMPARE,
                     "contact laws: cone, lcp, spring (all that there are)", NULL, 0},
  [OPTION_MODULE] = {"module", "NAME", 0, COMMAND_TUNE,
                     "write what is found for this module of kernels alone: manifold (for all)",
                     NULL, 0},
  [OPTION_MOTION] =
    {"motion", "HOW", 0, COMMAND_CCD,
     "linear, every vertex straight; or arc, turning evenly about a center that goes\n"
     "                             straight (linear)",
     NULL, 0},
  [OPTION_SECONDS] = {"seconds", "S", 0, COMMAND_TUNE,
                      "about how long to measure each device [s] (120)", NULL, 0},
  [OPTION_SEED] = {"seed", "S", 0, COMMAND_CLOSEST | COMMAND_SUGGEST | COMMAND_DECOMPOSE,
                   "of the random numbers (0); of closest those of --jacobian gaussian and\n"
                   "                             zeroth",
                   NULL, 0},
  [OPTION_SEPARATION] = {"separation", "XI", 0, COMMAND_CCD,
                         "distance that counts as a touch [m] (0)", NULL, 0},
  [OPTION_SERIES] = {"series", "S.npz", 0, COMMAND_COMPARE,
                     "also write what is drawn, and states and whole gradients", NULL, 0},
  [OPTION_SHAPES] = {"shapes", "S.json", 0, COMMAND_CLOSEST,
                     "shapes in place of A and B; arrays one and two beside the poses say which\n"
                     "                             are meant (the file's two)",
                     NULL, 0},
  [OPTION_SHARD] =
    {"shard", "I/N", 0, SHARD_COMMANDS,
     "of a folder: part I of the N parts 0 to N - 1 of the poses, or worlds, alone; `merge`\n"
     "                             checks and joins them",
     NULL, 0},
  [OPTION_SHOW_SMOOTHING] = {"show-smoothing", NULL, 0,
                             KERNEL_COMMANDS | COMMAND_RENDER | COMMAND_VIEW,
                             "print the smoothing coefficients on standard error, as JSON", NULL,
                             0},
  [OPTION_SMOOTHING] = {"smoothing", "S.json", 0, PAIR_COMMANDS | BODY_COMMANDS,
                        "smoothing coefficients (fitted to the bodies' size)", NULL, 0},
  [OPTION_SOFT] = {"soft", "S.json", 0, SOFT_COMMANDS, "another smoothing, for derivatives alone",
                   NULL, 0},
  [OPTION_START] = {"start", "NAME", 0, WORLD_COMMANDS,
                    "without --states: begin at a start that the scene names", NULL, 0},
  [OPTION_STATES] = {"states", "S.npz", 0, WORLD_COMMANDS | COMMAND_BENCH | COMMAND_GRADCHECK,
                     "where worlds begin: q (N, nq), v (N, nv), perhaps w and parameters; or\n"
                     "                             an earlier output, whose end is meant (the "
                     "scene's own start)",
                     NULL, 0},
  [OPTION_STEPS] = {"steps", "T", 0,
                    COMMAND_SIMULATE | COMMAND_ROLLOUT | COMMAND_BENCH | COMMAND_GRADCHECK |
                      COMMAND_COMPARE,
                    "how many steps to make (as many as u of shape (T, N, nu) has rows)", NULL, 0},
  [OPTION_STEP] = {"step", "H", 0, COMMAND_GRADCHECK,
                   "largest step of the differences [m] (follows the smoothing; of scenes\n"
                   "                             1e-4)",
                   NULL, 0},
  [OPTION_TANGENTS] = {"tangents", "T.npz", 0, COMMAND_JVP,
                       "tangents of the poses: tangent1, tangent2, or tangent; with --by shape a\n"
                       "                             direction: what gradient --by shape writes",
                       NULL, 0},
  [OPTION_TEMPERATURE] =
    {"temperature", "T", 0, COMMAND_CONTACTS | COMMAND_GRADIENT | COMMAND_CLOSEST,
     "temperature of the soft distance [m] (a 16th of penetration); of closest\n"
     "                             --jacobian gumbel, as a share of a shape's "
     "size (0.05)",
     NULL, 0},
  [OPTION_THRESHOLD] = {"threshold", "T", 0,
                        COMMAND_RENDER | COMMAND_VIEW | COMMAND_JACOBIAN | CONTACT_COMMANDS,
                        "take contacts of activity >= T alone (jacobian 0.1, others 0.05)", NULL,
                        0},
  [OPTION_TIMELINE] = {"timeline", "NAME", 0, ARRAY_COMMANDS | COMMAND_CLOSEST | COMMAND_CCD,
                       "write what each device did when: NAME.json (a trace), NAME.png;\n"
                       "                             an ending .json or .png of NAME is left out. "
                       "Of a folder of results what\n"
                       "                             each rank did when, NAME.json alone",
                       NULL, 0},
  [OPTION_TIMEOUT] =
    {"timeout", "S", 0,
     PAIR_COMMANDS | SCENE_COMMANDS | QUERY_COMMANDS | BODY_COMMANDS | COMMAND_DECOMPOSE,
     "a device that takes longer for one chunk, or a part of it, has failed [s] (300)", NULL, 0},
  [OPTION_TO] = {"to", "P1", 0, COMMAND_CCD,
                 "the same poses at time 1, as many and of the same kind", NULL, 0},
  [OPTION_TOLERANCE] =
    {"tolerance", "T", 0, COMMAND_FIELD | COMMAND_CCD,
     "field: error, as a share of the diagonal, beyond which cells are made finer\n"
     "                             (0.0015); ccd: how much farther apart than asked a "
     "hit may end [m]\n"
     "                             (1e-9 of both sizes in f64, 1e-6 in f32)",
     NULL, 0},
  [OPTION_UNION] =
    {"union", "TAU", 0, COMMAND_DECOMPOSE,
     "temperature of the union that is fitted, as a share of the diagonal (0.008; of\n"
     "                             --import 0.004, or what a .body.json tells)",
     NULL, 0},
  [OPTION_VARIANT] = {"variant", "V,V,...", 0, COMMAND_BENCH,
                      "full, vertices-only, one-sided (full)", NULL, 0},
  [OPTION_VERBOSE] = {"verbose", NULL, 0, COMMAND_IMPORT,
                      "name all that is left out or changed, a line each", NULL, 0},
  [OPTION_VERSION] = {"version", NULL, 0, COMMAND_ALL, "print the version", NULL, 0},
  [OPTION_VERTICES] =
    {"vertices", "N", 0, MESH_COMMANDS | COMMAND_REMESH | COMMAND_DECOMPOSE,
     "of a bare mesh: vertices that make contacts, about, or `all` of its own\n"
     "                             (1000); of decompose and remesh, 8 to 65536, on the body's\n"
     "                             surface (300)",
     NULL, 0},
  [OPTION_VIEW] = {"view", "AZ,EL,...", 0, COMMAND_FILM,
                   "camera's azimuth and elevation [degrees]; of several such pairs all are\n"
                   "                             shown side by side (34.4,20.1)",
                   NULL, 0},
  [OPTION_WHAT] =
    {"what", "W,W,...", 0, COMMAND_BENCH,
     "forward, mean-gradient, vjp, jvp, hessian, list, list-vjp,\n"
     "                             jacobian, full-hessian (forward); of scenes step,\n"
     "                             step-vjp, transition, contacts, list (step)",
     NULL, 0},
  [OPTION_WIDTH] = {"width", "PIXELS", 0, COMMAND_RENDER | COMMAND_FILM,
                    "picture's width (render 900, film 640, on a sheet 320)", NULL, 0},
  [OPTION_WORLD] = {"world", "I", 0, COMMAND_FILM | COMMAND_VIEW | COMMAND_COMPARE,
                    "which world to show, from 0 (0)", NULL, 0},
  [OPTION_WORLDS] =
    {"worlds", "N", 0, BATCH_COMMANDS | COMMAND_GRADCHECK,
     "without --states: how many worlds begin alike (1), or, where derivatives are\n"
     "                             checked, near the start (4)",
     NULL, 0},
  [OPTION_YES] = {"yes", NULL, 0, SHARD_COMMANDS,
                  "of a folder: take more than a tenth of the disk that is free", NULL, 0},
  [OPTION_ZOOM] = {"zoom", "Z", 0, COMMAND_RENDER | COMMAND_FILM, "1 shows all bodies whole (1)",
                   NULL, 0},
};
