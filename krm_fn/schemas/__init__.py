"""The models of all kinds, the files that are generated from them, and the texts of findings. A render imports nothing of it."""
