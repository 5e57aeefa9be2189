"""`python -m lrlm` is `lrlm`."""

from lrlm.cli import run_and_exit

if __name__ == "__main__":
    run_and_exit()
