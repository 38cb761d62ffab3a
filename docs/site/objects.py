"""Which object each header and each module of Python's package is of, and what C and Python call the same thing.

build.py refuses a header, a name of abut.__all__ or a row that is not here, so that nothing is left out of the site.
"""

# Page: (title, what it is, headers, modules that abut imports names from, names that it defines itself, rows)
# A row: what is done, what C calls it, what Python calls it.
OBJECTS = {
    "context": (
        "Context", "A context holds devices, a precision and what is compiled for them. Everything else is made in one.",
        ["device", "status", "tuning", "state", "mpi", "abut"], ["_context", "_batches", "_native"], ["NO_FEATURE"], [
            ("list devices", ["abut_list_devices", "abut_find_device"], ["devices"]),
            ("create", ["abut_default_context_def", "abut_create_context"], ["Context", "default_context"]),
            ("destroy", ["abut_destroy_context"], ["Context.close"]),
            ("its devices", ["abut_context_device", "abut_context_devices"], ["Context.device", "Context.devices"]),
            ("counters", ["abut_get_counters"], ["Context.counters"]),
            ("errors", ["abut_last_error", "abut_status_name"], ["Error"]),
            ("arrays that stay on a device", ["abut_create_state"], []),
            ("a share of a batch", ["abut_mpi_share"], ["shard"]),
        ]),
    "body": (
        "Body", "A body has a mesh, whose vertices and edges make contacts, and a signed distance field.",
        ["body", "field", "decompose", "inspect", "contact_mesh", "suggest"], ["_body", "_decompose", "_inspect", "_shape_numbers"],
        ["body", "load"], [
            ("make from numbers", ["abut_default_body_def", "abut_create_body"], ["body", "Context.body"]),
            ("load a file", ["abut_load_body"], ["load", "Context.load"]),
            ("destroy", ["abut_destroy_body"], ["Body.close"]),
            ("its mesh", ["abut_get_body_mesh"], ["Body.mesh"]),
            ("its numbers", ["abut_get_body_info", "abut_copy_body"], ["Body.shape"]),
            ("distance and normal of its field", ["abut_evaluate_body"], ["Body.evaluate", "Body.project"]),
            ("fit primitives to a mesh", ["abut_decompose"], ["decompose"]),
            ("how well a body fits its mesh", ["abut_measure_fit"], ["measure_fit"]),
            ("a mesh for contacts", ["abut_make_contact_mesh"], ["contact_mesh"]),
            ("how many edges to keep", ["abut_suggest_kept"], ["suggest"]),
        ]),
    "pair": (
        "Pair", "A pair is two bodies with a smoothing. Contacts, reductions and their derivatives are computed for pairs.",
        ["manifold", "derivatives", "shape", "render", "page"], ["_pair", "_calls", "_shapes", "_gradcheck", "_view"], [], [
            ("fit a smoothing", ["abut_fit_smoothing"], ["fit_smoothing"]),
            ("create", ["abut_create_pair"], ["Pair"]),
            ("destroy", ["abut_destroy_pair"], ["Pair.close"]),
            ("all contacts", ["abut_contacts"], ["contacts"]),
            ("a list of active contacts", ["abut_contacts", "abut_compact"], ["active"]),
            ("one number per pose", ["abut_gradient", "abut_reductions"], ["reduce"]),
            ("reverse mode", ["abut_vjp", "abut_list_vjp"], ["vjp", "ActiveContacts"]),
            ("forward mode", ["abut_jvp", "abut_list_jvp"], ["jvp"]),
            ("Jacobian blocks", ["abut_jacobian"], ["jacobian"]),
            ("Hessians", ["abut_hessian_product", "abut_hessian"], ["hvp", "hessian"]),
            ("derivatives by shapes", ["abut_shape_vjp", "abut_shape_gradient", "abut_shape_jvp"],
             ["shape_vjp", "shape_gradient", "shape_jvp"]),
            ("a page that shows it", ["abut_format_pair_page"], ["view"]),
        ]),
    "scene": (
        "Scene", "A scene is bodies on links and joints that move, in many worlds at once.",
        ["world", "kinematics", "spring", "lcp"], ["_worlds", "_spring", "_lcp"], ["from_mujoco"], [
            ("load", ["abut_load_scene", "abut_load_scene_with"], ["Scene", "from_mujoco"]),
            ("destroy", ["abut_destroy_scene"], ["Scene.close"]),
            ("its start", ["abut_get_scene_start", "abut_get_named_start"], ["Scene.start", "Scene.starts"]),
            ("step", ["abut_step_worlds"], ["Scene.step"]),
            ("reverse mode", ["abut_vjp_worlds"], ["Scene.vjp"]),
            ("forward mode", ["abut_jvp_worlds"], ["Scene.jvp"]),
            ("the matrices A and B of a step", ["abut_transition_worlds"], ["Scene.transition"]),
            ("contacts", ["abut_find_contacts"], ["Scene.find_contacts"]),
            ("contact forces", ["abut_find_contact_forces"], ["Scene.contact_forces"]),
            ("poses of links", ["abut_find_poses"], ["Scene.poses"]),
            ("distances of pairs", ["abut_find_distances"], ["Scene.distances"]),
            ("add and subtract positions", ["abut_add_positions", "abut_subtract_positions"], ["Scene.add", "Scene.subtract"]),
            ("springs between clouds of points", ["abut_spring_forces", "abut_spring_vjp"], ["springs", "springs_vjp"]),
            ("boxed linear complementarity problems", ["abut_solve_lcp"], ["solve_lcp"]),
            ("a page that shows it", ["abut_format_scene_page"], ["view"]),
        ]),
    "shape": (
        "Shape", "A shape is convex: a hull, a sphere, a box and so on. Closest points are computed for pairs of shapes.",
        ["closest"], ["_closest"], [], [
            ("create", ["abut_default_shape_def", "abut_create_shape"], ["Shape"]),
            ("destroy", ["abut_destroy_shape"], ["Shape.close"]),
            ("of a body", ["abut_create_body_shapes"], ["Shape.of"]),
            ("of a file", ["abut_load_hull", "abut_load_shapes"], ["load_hull", "load_shapes"]),
            ("a hull's vertices", ["abut_get_shape_vertices"], ["Shape.vertices"]),
            ("closest points", ["abut_closest"], ["closest"]),
            ("Jacobians", ["abut_closest_jacobian"], ["closest_jacobian"]),
            ("reverse mode", ["abut_closest_vjp"], ["closest_vjp"]),
            ("forward mode", ["abut_closest_jvp"], ["closest_jvp"]),
        ]),
    "mesh-in-time": (
        "Mesh in time", "A mesh in time is a mesh whose vertices, edges and triangles are tested for collision while it moves.",
        ["ccd"], ["_ccd", "_ccd_mesh"], [], [
            ("create", ["abut_default_ccd_mesh_def", "abut_create_ccd_mesh"], ["CcdMesh"]),
            ("destroy", ["abut_destroy_ccd_mesh"], ["CcdMesh.close"]),
            ("of a body", ["abut_create_body_ccd_mesh"], ["CcdMesh.of_body", "Pair.ccd_meshes"]),
            ("of a file", ["abut_load_ccd_mesh"], ["CcdMesh.load"]),
            ("its features", ["abut_get_ccd_mesh_features"], ["CcdMesh.vertices", "CcdMesh.triangles", "CcdMesh.edges"]),
            ("time of impact of meshes", ["abut_ccd"], ["ccd"]),
            ("its gradients", ["abut_ccd_gradient"], ["ccd_gradient"]),
            ("rows of points and triangles, or of edges", ["abut_run_ccd_queries"], ["ccd_queries"]),
            ("their gradients", ["abut_ccd_queries_gradient"], ["ccd_queries_gradient"]),
            ("the longest step without collision", ["abut_step_filter"], ["step_filter"]),
        ]),
    "poses-and-files": (
        "Poses and files", "Poses as numbers, and files of bodies, meshes, poses and arrays.",
        ["pose", "files"], ["pose"], [], [
            ("exponential and logarithm", ["abut_pose_exp", "abut_pose_log"], ["pose.exp", "pose.log"]),
            ("composition and inverse", ["abut_pose_compose", "abut_pose_invert"], ["pose.compose", "pose.invert"]),
            ("a step", ["abut_pose_step"], ["pose.step"]),
            ("gradients in a frame", ["abut_gradient_to_frame", "abut_gradient_from_frame"],
             ["pose.gradient_to_frame", "pose.gradient_from_frame"]),
            ("matrices", [], ["pose.to_matrix", "pose.from_matrix"]),
            ("a smoothing of a file", ["abut_load_smoothing", "abut_load_fitted_smoothing"], ["load_smoothing"]),
        ]),
}
