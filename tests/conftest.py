"""What all tests share: property tests take the same examples on every run and every machine."""

import os
import signal
import threading

from hypothesis import settings

# Several test processes run side by side: more threads in each would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("same examples", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples")

# A shell that runs the tests in the background lets them, and all that they start, ignore Ctrl-C;
# what is started by a process that does not ignore it does not ignore it either.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
