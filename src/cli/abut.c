/* The command `abut`: its subcommands, and what reads other programs' files. */
#include "world/film/video.h"
#include "base/mesh_formats.h"

#include <stdio.h>

static const command commands[] = {
  {"devices", COMMAND_DEVICES, "", "", "list the devices that can compute",
   "Lists every OpenCL device and the host path, which is always there and slow.", NULL,
   "abut devices", cmd_devices},
  {"field", COMMAND_FIELD, " MESH", " -o NAME.body.json", "make a body of a mesh file",
   "Makes a body of a mesh (" MESH_FORMATS_LIST "; by Assimp " ASSIMP_FORMATS_LIST
   "): a signed distance\n"
   "field of its surface and a contact mesh. Holes are closed and faces turned where they must "
   "be;\n"
   "what is suspicious is warned about. Writes NAME.body.json, which names the others: the field\n"
   "NAME.grid.npz, the contact mesh NAME.contact.obj and the mesh itself, NAME.surface.obj, with\n"
   "which the body collides in time. Prints what was done and how far the field is off. Commands\n"
   "that are given bare meshes do the same by themselves; fields are kept on disk and made once.",
   "NAME.body.json, with NAME.grid.npz, NAME.contact.obj and NAME.surface.obj beside it",
   "abut field assets/ring.obj -o ring.body.json", cmd_field},
  {"remesh", COMMAND_REMESH, " BODY", " -o NAME.body.json|NAME.obj",
   "give a body of primitives another contact mesh",
   "Makes a contact mesh of the surface of a body's field: closed, of even triangles, of as many\n"
   "vertices as wanted, each on the surface. Prints how even the triangles are and how far the "
   "mesh is\n"
   "off. Writes the body with this mesh, as NAME.body.json and NAME.contact.obj, or the mesh "
   "alone.",
   "NAME.body.json, with NAME.contact.obj beside it; or .obj, the mesh alone",
   "abut remesh assets/figure.body.json --vertices 200 -o figure.body.json", cmd_remesh},
  {"inspect", COMMAND_INSPECT, " BODY [MESH]", " -o REPORT.html",
   "tell how well a body stands for its mesh",
   "Compares a body's field with a mesh, the body's own if none is named: shared volume, "
   "distances\n"
   "between the surfaces, the largest part that is uncovered; looks at the mesh that makes "
   "contacts:\n"
   "how even its triangles are, how far it is off the field, how many edges leave it; and times a\n"
   "contact query. Prints it, and draws it on a page that stands by itself. With --json the page "
   "may\n"
   "be left out.",
   ".html: a page with pictures", "abut inspect assets/figure.body.json -o figure.html",
   cmd_inspect},
  {"decompose", COMMAND_DECOMPOSE, " [MESH]", " -o NAME.body.json",
   "make a body of few superquadrics of a mesh file",
   "Fits superquadrics to a mesh (" MESH_FORMATS_LIST "; by Assimp " ASSIMP_FORMATS_LIST
   "): as many as\n"
   "--primitives says, or as few as keep to --error. Their union lies on the mesh, and stays "
   "smooth\n"
   "and small where a field's grid takes megabytes. Writes NAME.body.json, NAME.contact.obj, a\n"
   "contact mesh on the body's surface, and NAME.surface.obj, the mesh, but with --import. Prints\n"
   "how well the body stands for the mesh, and the contact mesh for the body. With --import the "
   "superquadrics are those of a table of another\n"
   "program, and MESH is what they are compared with, or none; -o may then be left out.",
   "NAME.body.json, with NAME.contact.obj and NAME.surface.obj beside it",
   "abut decompose assets/ring.obj --primitives 12 -o ring.body.json", cmd_decompose},
  {"import", COMMAND_IMPORT, " MODEL", " -o NAME.scene.json",
   "make a scene of a MuJoCo or URDF model",
   "Makes a scene of a model that MuJoCo reads, MJCF or URDF: links, joints, actuators, and which\n"
   "bodies may touch. Shapes become bodies by a word; meshes are written beside the scene as\n"
   "NAME.MESH.obj. What a scene has no word for is warned about, element by element. It needs\n"
   "Python with the package `mujoco`; ABUT_PYTHON names one other than python3.",
   "NAME.scene.json", "abut import model.xml -o model.scene.json", cmd_import},
  {"simulate", COMMAND_SIMULATE, " SCENE", " -o OUT.npz", "step worlds of a scene",
   "Steps N worlds of a scene (.scene.json) T times, from states and with controls of .npz files,\n"
   "and keeps the start, every K-th state and the last one: q (R, N, nq), v (R, N, nv), time (R),\n"
   "energy (R, N, 2), w (N, nv) and status (N).\n"
   "A world that diverges or is not finite stops alone, keeps its last state, and is warned\n"
   "about. S.npz may also hold mass_scale (N, links), friction and stiffness (N, pairs), gravity\n"
   "(N, 3) and, where contacts are springs, springs (N, pairs, 6) of each world.",
   ".npz: states; or a folder of .npy, FOLDER/",
   "abut simulate assets/drop.scene.json --steps 500 --record 5 -o drop.npz", cmd_simulate},
  {"transition", COMMAND_TRANSITION, " SCENE", " -o AB.npz",
   "compute the linear model of a step of worlds",
   "Computes of a step of each world its derivatives: A (N, 2 nv, 2 nv) of the next state by the\n"
   "state and B (N, 2 nv, nu) by the controls, in the tangent space of q, then v; with "
   "--parameters\n"
   "also P_mass_scale, P_friction, P_stiffness and P_gravity; and status (N). Matrices of a world\n"
   "that stops are 0.",
   ".npz: matrices; or a folder of .npy, FOLDER/",
   "abut transition assets/drop.scene.json -o ab.npz", cmd_transition},
  {"rollout-gradient", COMMAND_ROLLOUT, " SCENE", " --cotangents C.npz -o G.npz",
   "compute gradients of a rollout of worlds",
   "Computes the gradient of cotangents . states of T steps with respect to what they begin with:\n"
   "q, v (N, nv) in the tangent space, u as the controls are, mass_scale, friction, stiffness,\n"
   "gravity and those of springs; and status (N). With --record K the start and every K-th state "
   "have cotangents, too.\n"
   "Gradients of a world that stops are 0. It is one call of the library: how far it is is not\n"
   "shown.",
   ".npz: gradients; or a folder of .npy, FOLDER/",
   "abut rollout-gradient assets/drop.scene.json --steps 100 --cotangents c.npz -o g.npz",
   cmd_rollout_gradient},
  {"compare", COMMAND_COMPARE, " SCENE", " --steps T", "show contact laws beside each other",
   "Steps one world of a scene by each contact law that there is, from the same state, with the "
   "same\n"
   "controls and steps: time of a step, energy at the end, deepest penetration, largest force of "
   "the\n"
   "contacts, and the gradient of a coordinate of the end by the velocities at the start. With\n"
   "-o OUT.png all of it is drawn over time. A law that a scene has no meaning for is left out, "
   "and\n"
   "warned about.",
   ".png: curves over time", "abut compare assets/drop.scene.json --steps 500 -o laws.png",
   cmd_compare},
  {"film", COMMAND_FILM, " SCENE OUT.npz", " -o FILM.mp4|FRAMES/|SHEET.png",
   "show what was simulated",
   "Draws a world of what `simulate` wrote: a film, for which ffmpeg must be installed; a folder\n"
   "of pictures, which must be empty or not there; or a sheet of pictures, evenly spaced in time.\n"
   "All are drawn by one camera, which holds the whole way of what moves in view, or by one that\n"
   "follows. Of several files, up to 4 with the same times, the worlds are shown side by side.",
   ".mp4, by ffmpeg; .png, a sheet of pictures; or a new folder of pictures",
   "abut film assets/drop.scene.json drop.npz -o drop.png", cmd_film},
  {"contacts", COMMAND_CONTACTS, " A B", " --poses P -o OUT.npz",
   "compute contact manifolds of a batch of poses",
   "Computes the contacts of bodies A and B at every pose: points p, signed distances d (negative\n"
   "inside), normals n out of the opposing body, activity and weight in [0, 1], and how far apart\n"
   "or how deep both bodies are (distance). A and B are body files\n"
   "(.body.json) or meshes (" MESH_FORMATS_LIST "; by Assimp " ASSIMP_FORMATS_LIST
   "). A pose that is not\n"
   "finite gets NaN and its `status`; the others are computed. With --pairs FILE.csv instead of A "
   "and B, poses of many\n"
   "pairs are computed at once: each tells its own by an array or a last column `pair`.",
   ".npz: arrays, a row a pose; or a folder of .npy, FOLDER/",
   "abut contacts assets/figure.body.json assets/part.body.json --poses assets/poses.npz -o "
   "contacts.npz",
   cmd_contacts},
  {"suggest", COMMAND_SUGGEST, " A B", "", "tell how many edges and vertices contacts need",
   "Brings bodies A and B together in random poses, up to 3 % of the smaller one's diagonal deep, "
   "and\n"
   "counts at each the pairs of edges that cross and are each other's nearest, and the vertices "
   "that\n"
   "are deeper than their neighbours. Prints how many edges and vertices to keep so that 95 % are\n"
   "served, and what that costs beside the smoothing as it is; with -o OUT.png it draws "
   "histograms.",
   ".png: histograms", "abut suggest assets/figure.body.json assets/part.body.json -o suggest.png",
   cmd_suggest},
  {"gradient", COMMAND_GRADIENT, " A B", " --poses P --reduce NAME -o OUT.npz",
   "compute gradients with respect to poses or shapes",
   "Computes at every pose the gradient of one number with respect to both bodies' poses: of a\n"
   "reduction of the contacts (--reduce), or of all outputs times cotangents (--cotangents C.npz\n"
   "with p_bar and so on, of which any may be missing). One of --reduce, --mean-distance and\n"
   "--cotangents is needed.\n"
   "With --by shape it is with respect to what describes both bodies instead, vertices and "
   "primitives,\n"
   "summed over all poses.",
   ".npz: arrays, a row a pose; or a folder of .npy, FOLDER/",
   "abut gradient assets/figure.body.json assets/part.body.json --poses assets/poses.npz --reduce "
   "distance -o g.npz",
   cmd_gradient},
  {"jvp", COMMAND_JVP, " A B", " --poses P --tangents T.npz -o OUT.npz",
   "compute how contacts move along tangents of the poses",
   "Computes the contacts' derivatives along tangents of the poses. T.npz holds tangent1 and\n"
   "tangent2, of shape (N, P) or, the same for all poses, (P), where P is 6 or 7 as the poses\n"
   "are; or tangent of shape (2, P). With --by shape it holds a direction of what describes both\n"
   "bodies, by the names that gradient --by shape writes, and may hold tangents of the poses "
   "beside.",
   ".npz: arrays, a row a pose; or a folder of .npy, FOLDER/",
   "abut jvp assets/figure.body.json assets/part.body.json --poses assets/poses.npz --tangents "
   "t.npz -o jvp.npz",
   cmd_jvp},
  {"jacobian", COMMAND_JACOBIAN, " A B", " --poses P -o OUT.npz",
   "compute Jacobian blocks of the active contacts",
   "Computes a list of the contacts of at least --threshold activity, as contacts --compact does,\n"
   "and of each its Jacobian: p, d, n and activity by both bodies' pose parameters.",
   ".npz: arrays, a row a contact; or a folder of .npy, FOLDER/",
   "abut jacobian assets/figure.body.json assets/part.body.json --poses assets/poses.npz -o "
   "jacobian.npz",
   cmd_jacobian},
  {"merge", COMMAND_MERGE, " FOLDER/", "", "check and join the parts of a folder of results",
   "Checks that the parts that --shard computed into a folder are whole, of the same inputs and by "
   "the same\n"
   "version, and that the arrays are in place; joins lists; and marks the folder complete. What is "
   "missing,\n"
   "twice there or of something else is named, and nothing is joined. A folder that is complete "
   "stays as it is.",
   NULL, "abut merge gradients/", cmd_merge},
  {"closest", COMMAND_CLOSEST, " A B|--shapes S.json", " --poses P -o OUT.npz",
   "compute closest points of convex shapes",
   "Computes at every pose the signed distance d of two convex shapes (negative where they "
   "overlap),\n"
   "the unit normal n from the first to the second, the witness points p1 and p2, and what is\n"
   "certain of d (gap). A and B are body files or meshes, as of contacts; their shapes are the "
   "hulls\n"
   "of their meshes, or their superquadrics or polyhedra, of which the two that are nearest to "
   "each\n"
   "other answer. With --shapes they are those of a file, of which one and two of shape (N) "
   "beside\n"
   "the poses say which. With --jacobian also how p1, p2, n and d change with world twists of "
   "both\n"
   "bodies, by a method that smooths flat faces and corners or not. A pose that is not finite gets "
   "NaN\n"
   "and its `status`.",
   ".npz: arrays, a row a pose; or a folder of .npy, FOLDER/",
   "abut closest assets/figure.body.json assets/part.body.json --poses assets/poses.npz -o "
   "closest.npz",
   cmd_closest},
  {"ccd", COMMAND_CCD, " A B", " --from P0 --to P1 -o OUT.npz",
   "find how far two meshes may move before they touch",
   "Finds for every row of poses the largest time, from 0 to 1, up to which the meshes A and B "
   "stay\n"
   "farther apart than --separation while they move from the poses of P0 to those of P1: toi and\n"
   "status (N). All rounding is taken off, so that nothing is called free that touches. Beside "
   "them\n"
   "kind, feature_a and feature_b (N), which features touch first; p_a, p_b and n (N, 3), where "
   "and\n"
   "along which normal, out of B; and candidates (N), how many pairs of features came near. A and "
   "B\n"
   "are mesh files, taken as they are, or body files (.body.json), whose meshes are meant. A row "
   "whose\n"
   "poses are not finite gets its `status`; the others are computed.",
   ".npz: arrays, a row a pose; or a folder of .npy, FOLDER/",
   "abut ccd assets/figure.body.json assets/part.body.json --from assets/poses.npz --to "
   "assets/poses.npz -o toi.npz",
   cmd_ccd},
  {"render", COMMAND_RENDER, " A B", " --poses P -o OUT.png", "draw one pose with its contacts",
   "Draws both bodies at one pose, shaded, with contact points coloured by activity and their\n"
   "normals as arrows; and further bodies where --also says, without contacts.",
   ".png: the picture",
   "abut render assets/figure.body.json assets/part.body.json --poses assets/poses.npz --index 3 "
   "-o picture.png",
   cmd_render},
  {"view", COMMAND_VIEW, " A B|SCENE OUT.npz", " [-o PAGE.html]",
   "look at contacts in a browser, live or on a page",
   "Makes a page of two bodies at all poses of --poses, or of a world of a scene that simulate "
   "wrote, with\n"
   "the contacts of every frame. It turns, zooms and plays; a contact that is clicked on tells its "
   "slot,\n"
   "features, position, distance, normal and activity, and their course. It needs a browser with "
   "WebGL 2.\n"
   "With -o the page is a file that stands by itself and asks no host for anything. Without, it "
   "is\n"
   "served on 127.0.0.1 until Ctrl+C: its address is printed, frames are computed as they are "
   "looked at,\n"
   "and the page has sliders for the smoothing; that of two bodies moves body 2, too, and shows "
   "how a\n"
   "reduction changes with that. --poses may be left out then.",
   ".html: the page",
   "abut view assets/figure.body.json assets/part.body.json --poses assets/poses.npz -o view.html",
   cmd_view},
};

/* Of the commands that read such files, and of --version. */
static void print_readers(const command *c)
{
  if (!c) {
    printf(
      "models are imported by MuJoCo: %s\nmeshes of .glb, .gltf and .dae are read by Assimp: %s\n",
      reader_of_models(), reader_of_meshes());
  } else if (c->bit == COMMAND_IMPORT) {
    printf("\nMuJoCo that reads models here: %s\n", reader_of_models());
  } else if (c->bit == COMMAND_FIELD) {
    printf("\nAssimp that reads .glb, .gltf and .dae here: %s\n", reader_of_meshes());
  }
}

int main(int argc, char **argv)
{
  static const char *const of_developers[] = {"gradcheck", "bench", "tune", NULL};
  const program p = {.name = "abut",
                     .about =
                       "contact manifolds of two rigid bodies over batches of poses, by OpenCL",
                     .commands = commands,
                     .command_count = sizeof commands / sizeof *commands,
                     .of_developers = of_developers,
                     .print_readers = print_readers,
                     .remove_unfinished = video_remove_unfinished};
  return run_program(&p, argc, argv);
}
