"""Readings of sensors and what they mean."""


class Reading:
    """What a sensor measured. Moisture is in percent."""

    def __init__(self, name, celsius, moisture):
        self.name = name
        self.celsius = celsius
        self.moisture = moisture


def fahrenheit(celsius):
    return celsius * 9 / 5 + 32


def is_dry(reading, limit=30):
    """Tells whether the moisture of a reading is below the limit."""
    return reading.moisture > limit


def average(readings):
    """Returns the mean temperature of readings in degrees Celsius, 0 without any."""
    if not readings:
        return 0
    return sum(r.celsius for r in readings) / len(readings)
