"""A tiny fit through Python, for an environment that holds the wheel and its dependencies only."""

import numpy as np

import shoal

space = shoal.StateSpace.discrete(3)
counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1]], space)
model = shoal.Model(space, passive=np.full((3, 3), 1 / 3))
fit = model.fit(counts, chains=2, draws=200, seed=1)
best = int(fit.summary()["mean"].idxmin())
assert best == 1, f"state 1 was entered most and must cost least; got {best}"
print(f"shoal {shoal.__version__} from {shoal.__file__}: state {best} costs least")
