"""The paper, top to bottom: its experiments, figures and claims."""
