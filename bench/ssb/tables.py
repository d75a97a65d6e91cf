"""The tables as files, which stay in the benchmark's folder."""

import hashlib
import os
import subprocess
import sys

import suite
from kept_database import is_kept, keep


def make_files(folder, scale, generator, threads):
    """customer.tbl and the others, by ssb_data; at scale factor 1 compared with the reference generator's."""
    marker = os.path.join(folder, "made")
    if is_kept(marker, f"scale {scale:g}\n"):
        return
    print(f"making {folder}", file=sys.stderr)
    subprocess.run([generator, "--scale", f"{scale:g}", "--out", folder, "--threads", str(threads)], check=True)
    for name, md5 in suite.known_md5s(scale).items():
        with open(os.path.join(folder, name), "rb") as file:
            if hashlib.file_digest(file, "md5").hexdigest() != md5:
                raise SystemExit(f"{folder}/{name} is not what the reference generator writes")
    keep(marker, f"scale {scale:g}\n")
