"""Runs bench_commits, the C++ program with the loads (commits_driver.cc)."""

import json
import os
import subprocess


def add_arguments(parser, root):
    release = os.path.join(root, "build", "release")
    parser.add_argument("--library", default=os.path.join(release, "libdiptych.so"))
    parser.add_argument("--driver", default=os.path.join(release, "bench_commits"), help="the program that makes the load")


def documents(options, load, **arguments):
    """Starts a load and gives its documents of JSON as they come. An argument that is True has no value; one that is a list is given
    several times. RuntimeError when the program fails."""
    command = [options.driver, load]
    for name, value in arguments.items():
        for one in value if isinstance(value, list) else [value]:
            command += [f"--{name.replace('_', '-')}"] + ([] if one is True else [str(one)])
    # The same library as the checks have, wherever the program was built.
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(options.library))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        for line in process.stdout:
            yield json.loads(line)
        message = process.stderr.read()
        if process.wait() != 0:
            raise RuntimeError(f"{load}: {message.strip() or f'the program ended with status {process.returncode}'}")
    finally:
        process.kill()  # when nobody wants the rest


def document(options, load, **arguments):
    """The only document of a load."""
    (only,) = documents(options, load, **arguments)
    return only
