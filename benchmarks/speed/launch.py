"""Run one command alone and tell its times and its peak memory as JSON. A script, so that it is small itself.

    python launch.py OUTPUT COMMAND ...          its standard output goes to OUTPUT

The peak of a child counts from the memory of the process that made it: a large parent would be counted as well.
"""

import json
import os
import subprocess
import sys
import time


def main() -> None:
    output, command = sys.argv[1], sys.argv[2:]
    first = None
    began = time.perf_counter()
    with open(output, "wb") as out, open(output + ".errors", "wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        while piece := os.read(process.stdout.fileno(), 1 << 16):
            first = first or time.perf_counter() - began
            out.write(piece)
        _, status, usage = os.wait4(process.pid, 0)
    told = {
        "seconds": time.perf_counter() - began,
        "first": first,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mib": usage.ru_maxrss / 1024,
        "status": os.waitstatus_to_exitcode(status),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
