"""The words that users may write, for lists, completion and help: nothing here takes time to load.

What the words mean is in :mod:`shoal.workflows.features` and :mod:`shoal.workflows.words`.
"""

FEATURES = {
    "local": "mean heading of the neighbours minus own; options bins, radius, nearest, others, "
    "absolute",
    "target": "direction to --target minus own heading; bins, absolute",
    "neighbour-bearing": "direction to the nearest neighbour minus own heading; bins, absolute",
    "centroid-bearing": "direction to the centroid of the others minus own heading; bins, absolute",
    "neighbour-distance": "distance to the nearest neighbour; bins, max, edges, walls",
    "centroid-distance": "distance to the centroid of the others; bins, max, edges, walls",
    "target-distance": "distance to --target; bins, max, edges, walls",
    "wall-distance": "distance to the wall of the --arena; bins, max, edges, walls",
    "speed": "displacement over time; bins, max, edges, walls, frames",
    "relative-speed": "last step over the mean of the others'; bins, max, edges, walls",
    "turning": "turn since the frame before; bins, absolute",
    "neighbours": "number of others within radius; radius, most",
}
"""Words for features, with their options."""

PASSIVE = {
    "auto": "scored on held-out tracks",
    "turn-coupled": "one turn moves every angle",
    "walk-mixture": "a walk of two learned sds",
    "random-walk": "normal steps; random-walk:SD, random-walk:90:centre as in the paper",
    "turning-mixture": "turns of the flock; turning-mixture:SD",
    "uniform": "every place alike; uniform:area for distances to a point",
}
BASES = {
    "smooth": "a Gaussian process; smooth:ORDER",
    "identity": "every state by itself",
    "bisquare": "multiresolution; bisquare:RESOLUTIONS",
    "gaussian": "gaussian:EVERY",
    "fourier": "fourier:ORDER",
    "von-mises": "von-mises:NUMBER",
    "flat": "no costs",
    "bisquare-planar": "as in the paper",
    "gaussian-planar": "as in the paper",
}
READ_AS = {
    "auto": "decisions, unless dynamics of states are named",
    "decisions": "what each animal chose",
    "transitions": "how observed states changed, as in the paper",
}
MOVES = {
    "auto": "turns for angles, steps where there are distances, walls or speeds",
    "turns": "a choice of heading; turns:normals, turns:von-mises",
    "steps": "a choice of heading and length; steps:log-normal",
}
COMPARED_MOVES = {
    "auto": "turns for angles, else steps",
    "turns": "a choice of heading",
    "steps": "a choice of heading and length",
    "steps:ahead": "the same, while the others go straight on",
}
PERSISTENCES = {
    "auto": "from a quick fit, where it shows that turns go on as they were",
    "learned": "how much of a turn is repeated in the next is learned",
    "none": "a turn says nothing about the next",
}
OTHERS = {
    "auto": "what scores better on held-out decisions",
    "still": "others as they are",
    "ahead": "where going straight on leads them",
}
PARTS = {"time": "parts of one recording", "groups": "a group in each file"}
METHODS = {
    "nuts": "draws from the posterior itself",
    "laplace": "seconds instead of minutes",
    "advi": "what the paper used",
    "map": "the most probable costs alone",
}
FIT_METHODS = {"auto": "laplace for decisions, nuts for transitions", **METHODS}
RULES = {
    "stochastic": "turns drawn by the policy",
    "least-cost": "always the cheapest turn",
    "passive": "as if nothing was wanted",
}
SPLITS = {
    "time:2/3": "learn from the first two thirds of the frames",
    "group:2/3": "learn from two thirds of the groups",
    "individual:2/3": "learn from two thirds of the animals",
    "5-fold": "five blocks of time",
    "5-fold:group": "five parts of the groups",
    "5-fold:individual": "five parts of the animals",
    "leave-one-group-out": "each group in turn",
}
SPEEDS = {
    "observed": "each animal's own, replayed in runs",
    "constant": "their mean",
    "gamma": "a gamma law fitted to them",
}
WALLS = {"reflect": "turn back from walls", "slide": "go along walls"}
STOPS = {"one": "when one is at the target", "all": "when all are"}
PANELS = {
    "observed": "the tracks themselves",
    "stochastic": "turns drawn by the policy",
    "least-cost": "always the cheapest turn",
    "passive": "as if nothing was wanted",
}
STUDIES = {
    "vicsek": "the flock of section 3",
    "guppies": "the fish of section 4",
    "all": "both",
}
TRUTHS = {"prior": "each data set has its own", "fit": "the mean costs of the fit"}
DRAWS = {"mean": "all live by the posterior mean", "each": "by a posterior draw of their own"}
FORMATS = (
    *("idtrackerai-npy", "idtrackerai-h5", "idtrackerai-csv", "idtracker-txt", "idtracker-mat"),
    *("trex-npz", "trex-csv", "deeplabcut-csv", "deeplabcut-h5", "lightningpose"),
    *("sleap-analysis", "sleap-labels", "via-tracks", "robofish", "robotracker", "ctrax"),
    *("sheep-drives", "flight-mat", "movement", "animalta", "bonsai", "movebank", "parquet", "csv"),
)
"""Names of the formats that can be read."""
