"""The paper, top to bottom."""
