"""Answers requests over HTTP."""
import os

from greenhouse.sensors import average

DEFAULT_PORT = 7070


def port():
    return int(os.environ.get("GREENHOUSE_PORT", DEFAULT_PORT))


def status(readings):
    # TODO: name the dry beds
    return {"temperature": average(readings), "sensors": len(readings)}
