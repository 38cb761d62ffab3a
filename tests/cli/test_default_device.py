"""Commands without --device: no driver at all, and a device that builds nothing. See support.py."""
import os
import pathlib
import shutil

from support import *

BASE = f"contacts {POSES} --smoothing sharp.json"
DRIVER = ("abut: warning: there is no OpenCL device, so the slow host path is used: "
          "install an OpenCL driver such as PoCL (Debian's package pocl-opencl-icd)")


def test_without_a_driver():
    lacks(run(0, BASE, "-o named.npz -q --device host").err, "OpenCL driver")
    if DEVICE != "host":
        return
    run(0, BASE, "-o default.npz -q", line=DRIVER)
    same_arrays("default.npz", "named.npz", "d")
    run(0, f"render {POSES} --smoothing sharp.json -o default.png -q", line=DRIVER)
    run(0, "devices", err="",
        out=r"^There is no OpenCL device. To use the processor as one, install an OpenCL driver .*pocl-opencl-icd\)\.$")
    valid_json(run(0, "devices --json", err="").out)
    lacks(run(0, "--help").err, "OpenCL driver")


def one_warning(said, regex):
    """The only one, in one line."""
    has(said.err, "^abut: warning: device .* the kernels do not compile: CL_BUILD_PROGRAM_FAILURE: "
        f"reason 1; {regex}$")
    check(said.err.count("\n") == 1, f"not one line: {said.err}")


def test_devices_that_build_nothing():
    if DEVICE == "host":
        return
    icds = [path for folder in ("/etc/OpenCL/vendors", "/usr/share/OpenCL/vendors")
            for path in pathlib.Path(folder).glob("pocl*.icd")]
    if not FAILING or not icds:
        print("not run: devices that fail; no pocl*.icd in the folders of vendors, or nothing to preload")
        return
    command(BASE, "-o named.npz -q --device host")
    os.mkdir("pocl")
    shutil.copy(icds[0], "pocl")
    os.environ.update(OCL_ICD_VENDORS=os.path.abspath("pocl"), ABUT_TEST_BUILD="1")
    os.environ["POCL_DEVICES"] = "pthread pthread"
    lacks(run(0, "devices").err, "OpenCL driver")
    os.environ["LD_PRELOAD"] = FAILING
    said = run(0, BASE, "-o second.npz", out=" s on .*, f32$")  # the second of PoCL's
    one_warning(said, ".* computes instead")
    lacks(said.err, "host computes")
    os.environ["POCL_DEVICES"] = "pthread"
    one_warning(run(0, BASE, "-o third.npz", out=" s on host, f32$"), "host computes instead")
    # Named: the host path, and more of the log.
    run(0, BASE, "-o fourth.npz -q --device 0", line="  reason 4",
        err=r"^abut: warning: .* failed \(.*CL_BUILD_PROGRAM_FAILURE\); host has done its share$")
    # The host is not timed.
    run(1, f"bench {POSES} --batch 4", dev=True, line="reason 1")
    for name in ("second", "third", "fourth"):
        holds(f"{name}.npz", "d", read("named.npz", "d"), 1e-4)


if __name__ == "__main__":
    main()
