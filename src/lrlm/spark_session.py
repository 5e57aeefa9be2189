"""Start Spark, on this machine or on a cluster, and say in one line why it failed."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lrlm.errors import LrlmError, MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(master: str | None, name: str) -> Iterator["SparkSession"]:
    """Start Spark, or use the session that is running; `master` is the address of a cluster."""
    try:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError(
            "the Spark engine needs pyspark; install it with: pip install 'lrlm[spark]'"
        ) from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = SparkSession.getActiveSession()
    settings = {
        "spark.app.name": name,
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # lines, of 10 kB and more each
    }
    if master is None or master.startswith("local"):
        cores = os.cpu_count() or 1
        settings |= {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": str(2 * cores)}
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    builder: Any = SparkSession.builder
    if master is not None:
        builder = builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("FATAL")
        try:
            yield spark
        finally:
            if running is None:
                spark.stop()
    except (PySparkException, Py4JJavaError) as error:
        message = _cause(str(error))
        hint = " (is Java 17 or newer installed?)" if "JAVA" in message else ""
        raise LrlmError(f"Spark failed{hint}: {message}") from None


def _cause(report: str) -> str:
    """Give the innermost cause of Java's long report, or else its beginning."""
    causes = [line for line in report.splitlines() if line.startswith("Caused by: ")]
    told = causes[-1].removeprefix("Caused by: ") if causes else " ".join(report.split())
    places = re.findall(r"file:\S+", report)
    where = f" in {places[0].rstrip('.,')}" if causes and places else ""
    return f"{told[:500]}{where}"
