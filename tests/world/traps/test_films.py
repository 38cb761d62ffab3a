"""Films of traps: `test_films.py TRAPS ABUT`. traps.py makes the folder that --films names."""
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary) / "missing" / "films"
    subprocess.run([sys.executable, *sys.argv[1:3], "--only", "stack", "--films", folder], check=True)
    assert (folder / "trap-stack.png").read_bytes()[:4] == b"\x89PNG"
