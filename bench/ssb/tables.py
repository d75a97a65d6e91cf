"""The tables as files and as databases. Both stay in the benchmark's folder until what they were made from changes."""

import hashlib
import os
import subprocess
import sys

import contestants
import schema
import side_by_side
import suite


def is_kept(marker, made_from):
    return os.path.exists(marker) and open(marker).read() == made_from


def keep(marker, made_from):
    with open(marker, "w") as file:
        file.write(made_from)


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


def load(path, name, files, keys, library, threads):
    """A database file with the five tables, and what is known of loading it, or None where the file is kept."""
    worker = side_by_side.WorkerProcess(name, contestants.arguments(name, library))
    statements = schema.statements(files, keys)
    made_from = "\n".join([worker.ask("version")["version"], *statements])
    loaded = None
    if not is_kept(path + ".loaded", made_from):
        print(f"loading {path}", file=sys.stderr)
        for leftover in (path, path + ".wal", path + ".loaded"):
            if os.path.exists(leftover):
                os.remove(leftover)
        settings = [f"set threads = {threads}"]
        seconds = worker.ask("load", path=path, settings=settings, statements=statements)["seconds"]
        keep(path + ".loaded", made_from)
        loaded = {"seconds": seconds, "file_bytes": os.path.getsize(path)}
    worker.stop()
    return loaded
