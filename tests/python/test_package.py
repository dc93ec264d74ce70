# SPDX-License-Identifier: GPL-2.0-only
"""The package on a host without GPU: errors, fork, the end."""
import ctypes
import errno
import os
import subprocess
import sys
import threading
import unittest

import gpreempt
from gpreempt import _abi, errors


def run(program):
    """A Python of its own."""
    return subprocess.run([sys.executable, "-c", program], timeout=60,
                          capture_output=True, text=True, check=False)


class Errors(unittest.TestCase):
    def raised(self, reason, code=-errno.EPERM):
        err = _abi.ErrorStruct(code=code, reason=reason, pid=7)
        with self.assertRaises(gpreempt.Error) as caught:
            errors.check(code, err, "testing")
        return caught.exception

    def test_ended_is_its_own_class(self):
        error = self.raised(_abi.REASON_ENDED, -errno.ESRCH)
        self.assertIsInstance(error, gpreempt.EndedError)
        self.assertIsInstance(error, gpreempt.NoTargetError)
        self.assertEqual(error.kind, errors.NO_TARGET)
        self.assertIn("7", str(error))

    def test_each_reason_has_a_sentence(self):
        for reason in range(1, _abi.REASON_EXECED + 1):
            error = self.raised(reason)
            self.assertEqual(error.reason, reason)
            self.assertGreater(len(str(error)), 8)

    def test_without_reason(self):
        with self.assertRaises(gpreempt.PermissionDeniedError) as caught:
            errors.check(-errno.EACCES, None, "connecting to the guard")
        self.assertEqual(str(caught.exception),
                         "connecting to the guard: Permission denied")
        with self.assertRaises(MemoryError):
            errors.check(-errno.ENOMEM, None, "testing")
        self.assertEqual(errors.check(3, None, "testing"), 3)


class NoGpu(unittest.TestCase):
    """What this host says. It has no GPU, or this test is no GPU process."""

    def test_own_process_is_refused(self):
        with self.assertRaises(gpreempt.Error):
            gpreempt.check(os.getpid())

    def test_session_on_nothing(self):
        with self.assertRaises(gpreempt.Error) as caught:
            gpreempt.Session(os.getpid())
        self.assertTrue(str(caught.exception))

    def test_hold_on_nothing(self):
        with self.assertRaises(gpreempt.Error) as caught:
            gpreempt.Hold(os.getpid())
        self.assertTrue(str(caught.exception))

    def test_hold_arguments(self):
        for bad in ({"lease": 0}, {"lease": -1}, {"lease": 1e12},
                    {"timeout": 0}, {"ids": []}, {"gpu_ids": []}):
            with self.assertRaises(ValueError):
                gpreempt.Hold(os.getpid(), **bad)

    def test_gang_after_close(self):
        gang = gpreempt.Gang()
        gang.close()
        gang.close()
        with self.assertRaises(ValueError):
            gang.members()

    def test_empty_list_is_not_all(self):
        with gpreempt.Gang() as gang:
            with self.assertRaises(ValueError):
                gang.suspend(ids=[])

    def test_gang_does_not_choose(self):
        with gpreempt.Gang() as gang:
            with self.assertRaises(ValueError):
                gang.add(os.getpid(), how=gpreempt.How.AUTO)
            with self.assertRaises(gpreempt.Error):
                gang.add(os.getpid(), how=gpreempt.How.PAUSE)

    def test_child_of_fork_leaves_the_gang(self):
        gang = gpreempt.Gang()
        child = os.fork()
        if not child:
            try:
                gang.members()
            except ValueError:
                os._exit(42)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 42)
        self.assertEqual(gang.members(), [])
        gang.close()

    def test_bad_target(self):
        with self.assertRaises(gpreempt.Error):
            gpreempt.select(["nonsense:x"])


class Library(unittest.TestCase):
    def test_another_version_is_refused(self):
        done = run("import sys, types\n"
                   "version = types.ModuleType('gpreempt._version')\n"
                   "version.VERSION = '9.9.9'\n"
                   "sys.modules['gpreempt._version'] = version\n"
                   "import gpreempt\n")
        self.assertIn("ImportError", done.stderr)
        self.assertIn("this package is for 9.9.9", done.stderr)

    def test_calls_release_the_gil(self):
        # ctypes.PyDLL, which is derived from it, keeps the GIL.
        self.assertIs(type(_abi.lib), ctypes.CDLL)
        counted = []
        with gpreempt.Gang() as gang:
            other = threading.Thread(target=lambda: counted.append(1))
            other.start()
            gang.wait(0.1)
            other.join(5)
        self.assertEqual(counted, [1])


if __name__ == "__main__":
    unittest.main()
