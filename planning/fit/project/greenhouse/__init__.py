"""Sensors and beds of a greenhouse."""

__version__ = "0.4.1"
