"""The beds and their valves."""
from greenhouse.sensors import is_dry

MAX_BEDS = 12


class Bed:
    """A bed with a valve that lets water in."""

    def __init__(self, name):
        self.name = name
        self.watered = 0

    def water(self, seconds):
        """Opens the valve for so many seconds."""
        if seconds > 90:
            raise ValueError("a bed is flooded after 90 seconds")
        self.watered += seconds


def dry_beds(beds, readings):
    """Returns the beds whose reading is dry."""
    return [b for b, r in zip(beds, readings) if is_dry(r)]


def legacy_label(bed):
    return "bed-" + bed.name.replace(" ", "_")
