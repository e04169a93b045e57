"""Budgets: the GPUs that graphs use before, during and after a change, compared with limits, and their cost."""
