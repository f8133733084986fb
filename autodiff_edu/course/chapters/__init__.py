"""The checks of the exercises, one file per chapter."""
