#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libgpreempt in Python, as small as it can be, and a scheduler on top of it.

    gpreempt.py [--slice SECONDS] OFFLINE-PID REQUESTS COMMAND...

runs COMMAND so many times, each time with the queues of the offline process off
the GPU: until the command is done, or the slice is over.
"""
import ctypes
import os
import queue
import subprocess
import sys
import threading
import time

ENDED = 1 << 5      # GPREEMPT_EVENT_ENDED

lib = ctypes.CDLL("libgpreempt.so.0")
lib.gpreempt_session_error.restype = ctypes.c_void_p
lib.gpreempt_session_wait.argtypes = (
    ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_int))


class Outcome(ctypes.Structure):
    """struct gpreempt_outcome"""
    _fields_ = [("ioctl_ns", ctypes.c_uint64), ("requested", ctypes.c_size_t),
                ("done", ctypes.c_size_t), ("refused", ctypes.c_size_t),
                ("failed", ctypes.c_size_t), ("slots_ns", ctypes.c_int64),
                ("resolution_ns", ctypes.c_int64)]


class Error(Exception):
    """What the library says about a failure, in words."""
    def __init__(self, err):
        text = ctypes.create_string_buffer(512)
        lib.gpreempt_error_text(ctypes.c_void_p(err), text, ctypes.c_size_t(512))
        super().__init__(text.value.decode())


class Session:
    """The right to suspend the queues of a process. One thread opens and uses it."""
    def __init__(self, pid):
        self.lib, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        err = (ctypes.c_uint64 * 64)()      # room for a struct gpreempt_error
        if lib.gpreempt_new(None, ctypes.byref(self.lib)) < 0:
            raise MemoryError
        if lib.gpreempt_session_open(self.lib, pid, ctypes.byref(self.session), err) < 0:
            lib.gpreempt_free(self.lib)
            raise Error(ctypes.addressof(err))

    def _check(self, ret):
        if ret < 0:
            raise Error(lib.gpreempt_session_error(self.session))
        return ret

    def suspend(self):
        out = Outcome()
        self._check(lib.gpreempt_session_suspend(self.session, None, ctypes.byref(out)))
        return out

    def resume(self):
        out = Outcome()
        self._check(lib.gpreempt_session_resume(self.session, None, ctypes.byref(out)))
        return out

    def wait(self, seconds, fd):
        """Serve the process for some time, or until fd is readable. True: it has ended."""
        ret = lib.gpreempt_session_wait(self.session, int(seconds * 1e9), ctypes.c_int(fd))
        return ret >= 0 and bool(ret & ENDED)

    def close(self):
        lib.gpreempt_session_close(self.session)
        lib.gpreempt_free(self.lib)


class GPreemptScheduler(threading.Thread):
    """Online work goes first: while there is some, the offline process is off the GPU.

    An arrival suspends it. It runs again when the work is done, or after
    slice_seconds: so it does not starve.
    """
    def __init__(self, offline_pid, slice_seconds=1.0):
        super().__init__(daemon=True)
        self.pid, self.slice = offline_pid, slice_seconds
        self.orders, self.wake = os.pipe()
        os.set_blocking(self.orders, False)
        self.answers = queue.SimpleQueue()
        self.start()
        self._answer()

    def _answer(self):
        answer = self.answers.get()
        if isinstance(answer, Exception):
            self.answers.put(answer)        # for later calls as well
            raise answer
        return answer

    def handle_online_request(self, work):
        """Do work() with the offline process off the GPU. Gives what the suspend did."""
        os.write(self.wake, b"+")
        outcome = self._answer()
        try:
            work()
        finally:
            os.write(self.wake, b"-")
            self._answer()
        return outcome

    def stop(self):
        os.write(self.wake, b".")
        self.join()

    def run(self):
        try:
            session = Session(self.pid)
        except Exception as error:
            self.answers.put(error)
            return
        try:
            self.answers.put(None)
            self._serve(session)
        except Exception as error:
            self.answers.put(error)
        finally:
            session.close()

    def _order(self):
        try:
            return os.read(self.orders, 1)
        except BlockingIOError:
            return b""

    def _serve(self, session):
        until = None        # when the slice is over; None: the process runs
        while True:
            left = max(0, until - time.monotonic()) if until else 3600
            if session.wait(left, self.orders):
                raise ProcessLookupError(f"process {self.pid} has ended")
            order = self._order()
            if until and (order == b"-" or time.monotonic() >= until):
                session.resume()
                until = None
            if order == b"+":
                self.answers.put(session.suspend())
                until = time.monotonic() + self.slice
            elif order == b"-":
                self.answers.put(None)
            elif order == b".":
                return


def main(argv):
    seconds = 1.0
    if argv[:1] == ["--slice"]:
        seconds, argv = float(argv[1]), argv[2:]
    if len(argv) < 3:
        sys.exit(__doc__)
    scheduler = GPreemptScheduler(int(argv[0]), seconds)
    for n in range(int(argv[1])):
        outcome = scheduler.handle_online_request(lambda: subprocess.run(argv[2:]))
        print(f"request {n + 1}: {outcome.done} of {outcome.requested} queues suspended "
              f"in {outcome.ioctl_ns / 1e3:.1f} us", flush=True)
    scheduler.stop()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Error, ProcessLookupError) as error:
        sys.exit(f"gpreempt.py: {error}")
