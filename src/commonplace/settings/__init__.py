"""Every setting, frozen when the process starts; the only reader of the environment."""

from commonplace.settings.checks import SHORTEST_KEY
from commonplace.settings.fields import EMBEDDERS, Settings
from commonplace.settings.layers import misnamed, new_encryption_key, settings_from, variable

__all__ = ["EMBEDDERS", "SHORTEST_KEY", "Settings", "misnamed", "new_encryption_key", "settings_from", "variable"]
