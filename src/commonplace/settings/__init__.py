"""Every setting, frozen when the process starts; the only reader of the environment."""

from commonplace.settings.fields import EMBEDDERS, Settings
from commonplace.settings.layers import new_encryption_key, settings_from, variable

__all__ = ["EMBEDDERS", "Settings", "new_encryption_key", "settings_from", "variable"]
