"""Runs jobs in forked child processes that report line by line: a crash or a hang ends one child alone."""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import sys
import time
import traceback


class Emitter:
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def __call__(self, event, **fields):
        data = (json.dumps({"event": event, **fields}, default=str) + "\n").encode()
        while data:
            data = data[os.write(self.descriptor, data) :]


def _child(job, descriptor, log):
    """Never returns."""
    null = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(null, 1)
    os.dup2(null, 2)
    emit = Emitter(descriptor)
    faulthandler.enable()
    code = 0
    try:
        job(emit)
        emit("end")
    except BaseException as error:  # noqa: BLE001
        emit("broken", kind=type(error).__name__, error=str(error)[:500], trace=traceback.format_exc()[-3000:])
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Result:
    """What a child said. `death` tells how it ended where it did not end by itself."""

    def __init__(self):
        self.events, self.death, self.output = [], None, ""

    @property
    def last_place(self):
        return next((e for e in reversed(self.events) if e["event"] == "at"), None)


def run(job, limit, log, handle=None):
    """Runs `job(emit)` in a child that must say something at least each `limit` seconds."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _child(job, write, log)
    os.close(write)
    result, buffer, last = Result(), b"", time.monotonic()
    while True:
        ready, _, _ = select.select([read], [], [], 1.0)
        if ready:
            data = os.read(read, 1 << 16)
            if not data:
                break
            buffer += data
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                event = json.loads(line)
                result.events.append(event)
                if handle:
                    handle(event)
            last = time.monotonic()
        elif time.monotonic() - last > limit:
            os.kill(pid, signal.SIGKILL)
            result.death = f"no answer within {limit} s"
            break
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if result.death is None and os.WIFSIGNALED(status):
        result.death = f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    with open(log, errors="replace") as file:
        result.output = file.read()[-4000:]
    return result
